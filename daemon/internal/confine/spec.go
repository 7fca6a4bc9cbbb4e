// Package confine is how a plugin's process is held to what its block allows:
// the daemon says what that is, bothy-shim applies it to itself between fork
// and exec and becomes the plugin. Both share these few types.
package confine

// The descriptors that bothy-shim inherits. Neither argument nor environment
// says what holds: the plugin's own are in the Spec.
const (
	BinaryFD = 3 // the plugin's file, opened and verified
	SpecFD   = 4 // the Spec, as JSON
)

// Spec is what one process may do, and what it becomes. The zero value allows
// nothing but to run.
type Spec struct {
	Path string   `json:"path"` // what is executed; mostly the descriptor, by its name in /proc
	Args []string `json:"args"` // argv, with the name of the program
	Env  []string `json:"env"`

	Write   []string `json:"write,omitempty"` // folders and files to read, change and make
	Read    []string `json:"read,omitempty"`  // to read, and to execute what lies in them
	Network bool     `json:"network"`         // whether it may open anything but Unix sockets

	Apart bool `json:"apart"` // it was started in namespaces of its own, and gets a root of its own

	Memory int64 `json:"memory,omitempty"` // bytes of data; 0 is no limit
	Files  int64 `json:"files,omitempty"`  // open files; 0 is no limit
	Parent int   `json:"parent"`           // the process that it ends with

	// BestEffort goes on where the kernel cannot hold something. Otherwise the
	// process ends before it has become the plugin.
	BestEffort bool `json:"best_effort"`
}
