package rpc

import "path/filepath"

// Plugin is one plugin instance as the supervisor sees it.
type Plugin struct {
	Instance string   `json:"instance"` // the label of its block
	Plugin   string   `json:"plugin"`   // bothy-plugin-NAME
	Path     string   `json:"path,omitempty"`
	Version  string   `json:"version,omitempty"`
	Kinds    []string `json:"kinds"`
	State    string   `json:"state"` // starting, ready, draining, stopped, crashed, backoff, broken
	PID      int      `json:"pid,omitempty"`
	Restarts int      `json:"restarts"`
	Error    string   `json:"error,omitempty"` // why it is not ready, or not as it is asked for, and what to do
	Tools    []string `json:"tools"`
	RSS      int64    `json:"rss,omitempty"` // resident memory in bytes

	MemoryLimit int64 `json:"memory_limit,omitempty"` // bytes of data that its process may allocate; 0 is none
	FileLimit   int64 `json:"file_limit,omitempty"`   // files that its process may have open

	Digest   string   `json:"digest,omitempty"`    // hex SHA-256 of what runs
	Origin   string   `json:"origin,omitempty"`    // "bundled", "store", "path" or "dev"
	Script   bool     `json:"script,omitempty"`    // the digest covers neither the script's interpreter nor what it imports
	PinnedBy string   `json:"pinned_by,omitempty"` // "block", "lock" or "bundled"; empty: nothing
	Pinned   bool     `json:"pinned,omitempty"`    // bundled, or its digest is pinned by its block or by bothy.lock
	Confined string   `json:"confined,omitempty"`  // what the kernel holds it to, in words; empty: nothing
	Grants   []string `json:"grants,omitempty"`
	Detail   string   `json:"detail,omitempty"` // what it says of itself, such as a channel's status
}

// PluginReload asks for a plugin to be loaded anew from its file and block.
type PluginReload struct {
	Instance string `json:"instance" access:"free"`        // the label of its block
	Force    bool   `json:"force,omitempty" access:"free"` // also when neither its file nor its block changed
}

// PluginReloaded says what a reload came to.
type PluginReloaded struct {
	Instance    string       `json:"instance"`
	How         string       `json:"how"` // "unchanged", "reconfigured", "swapped", "started" or "kept": the new one cannot be had, and the old one goes on
	Digest      string       `json:"digest,omitempty"`
	Generation  int          `json:"generation"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// PluginAttached says that a process which its author runs is in use. It is sent
// while plugins/dev is under way.
type PluginAttached struct {
	Instance string   `json:"instance"`
	Added    bool     `json:"added"` // no block has the name: the instance is there for the time
	Kinds    []string `json:"kinds"`
	Tools    []string `json:"tools"`
	Notes    []string `json:"notes"` // what people should know, such as grants that its block lacks
}

// PluginDetached is the answer of plugins/dev: the process is not in use any more,
// and the instance is again what it was.
type PluginDetached struct {
	Instance string `json:"instance"`
	Reason   string `json:"reason"`
}

// DevProcess is what a plugin that its author runs writes about itself, for
// `bothy plugins dev` to find.
type DevProcess struct {
	Plugin   string `json:"plugin"` // the NAME of bothy-plugin-NAME
	Path     string `json:"path"`   // of its binary, absolute
	Address  string `json:"address"`
	PID      int    `json:"pid"`
	Protocol int    `json:"protocol"` // of plugins
}

// DevPath is the file of a plugin's DevProcess: mode 0600, and gone when the
// process ends in order. getenv is os.Getenv; tests give their own.
func DevPath(getenv func(string) string, plugin string) (string, error) {
	socket, err := SocketPath(getenv)
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(socket), "dev", plugin+".json"), nil
}

// PluginDev asks the daemon to use a process that a plugin's author started, in
// the place of the instance's own. It lasts as long as the connection that asked.
type PluginDev struct {
	Instance string `json:"instance" access:"free"` // of a block; a name without one is added for the time
	Path     string `json:"path" access:"free"`     // the binary, absolute
	Address  string `json:"address" access:"free"`  // the Unix socket that it serves, absolute
	PID      int    `json:"pid" access:"free"`
}
