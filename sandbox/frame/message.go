package frame

// Hello is the runner's first frame after it dialled.
type Hello struct {
	Version int `json:"version"`
	// Places are the mount points, but for those of the kernel's own file systems.
	Places []Place `json:"places,omitempty"`
	// Filters is how many filters of system calls hold for the runner: see [Filters].
	Filters int `json:"filters"`
}

// Where the host's directories are inside a container.
const (
	Workspace = "/workspace"
	Home      = "/home/bothy"
	Skills    = "/skills"
)

// Place is what is mounted at a path inside the container. A bind mount has the
// device and inode of what it was made of, so the manager can tell whether that
// is what it looked at.
type Place struct {
	Path   string `json:"path"`
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// Welcome is the manager's answer to [Hello]; only now may it send commands.
type Welcome struct {
	Version int `json:"version"`
	// Mounts are the mount points inside the container that must be there
	// before and after every command; see [Exit.Missing].
	Mounts []string `json:"mounts,omitempty"`
}

// Exec asks for one command. A second Exec before the first one's [Exit] is
// answered with an Exit that carries an error.
type Exec struct {
	ID uint64 `json:"id"`
	// Call names the command for a later [Settle], which may come from another
	// manager; without one nothing is held.
	Call string   `json:"call,omitempty"`
	Argv []string `json:"argv"`
	// Dir is an absolute path inside the container.
	Dir string `json:"dir"`
	// Env is the whole environment, KEY=value; nothing is inherited.
	Env []string `json:"env"`
	// TimeoutMS ends the command after so many milliseconds; it must be
	// above zero.
	TimeoutMS int64 `json:"timeout_ms"`
	// StdoutCap and StderrCap are the bytes sent per channel; what a command
	// prints beyond is read and counted, never sent.
	StdoutCap int64 `json:"stdout_cap"`
	StderrCap int64 `json:"stderr_cap"`
	// View says that a view of the project must be mounted on [Workspace]: the
	// command does not start when there is none. See [Exit.NoView].
	View bool `json:"view,omitempty"`
}

// Cancel ends the command with this id; its [Exit] follows as usual.
type Cancel struct {
	ID uint64 `json:"id"`
}

// Exit is the last frame of a command. When it is sent, every process the
// command made is dead.
type Exit struct {
	ID uint64 `json:"id"`
	// Started is false when no process was made: Error or Missing says why.
	Started bool `json:"started"`
	// Code is the exit status, or 128 plus the signal.
	Code int `json:"code"`
	// Signal is the number of the signal that ended the command, or 0.
	Signal    int  `json:"signal,omitempty"`
	TimedOut  bool `json:"timed_out,omitempty"`
	Cancelled bool `json:"cancelled,omitempty"`
	// OOM says that the kernel killed a process for the memory limit while
	// the command ran.
	OOM bool `json:"oom,omitempty"`
	// DurationUS is from before the fork until the main process was reaped.
	DurationUS int64 `json:"duration_us"`
	// StdoutDropped and StderrDropped are the bytes beyond the caps.
	StdoutDropped int64 `json:"stdout_dropped,omitempty"`
	StderrDropped int64 `json:"stderr_dropped,omitempty"`
	// Leftovers is how many processes were still alive when the command
	// returned, and were killed.
	Leftovers int `json:"leftovers,omitempty"`
	// Survivors says that something could not be killed in time: the
	// container must be made anew.
	Survivors bool `json:"survivors,omitempty"`
	// Missing are the mounts of [Welcome] that are gone. With Started they
	// went while the command ran.
	Missing []string `json:"missing,omitempty"`
	// NoView says that the command was not started, since the container does not
	// see the view that it was to work on.
	NoView bool   `json:"no_view,omitempty"`
	Error  string `json:"error,omitempty"`
	// Unusable says that Error is about the program: it is not there, or it
	// cannot be executed.
	Unusable bool `json:"unusable,omitempty"`
}

// Settle asks how the command of a call ended. The runner answers with the
// output that it holds, as chunks with this id, and then a [Settled].
type Settle struct {
	ID   uint64 `json:"id"`
	Call string `json:"call"`
}

// Settled is how a command ended that an earlier manager may have begun. It is
// held until another command begins, however often it is asked for.
type Settled struct {
	ID uint64 `json:"id"`
	// Known is false when the runner holds nothing of the call.
	Known bool `json:"known"`
	// TimeoutMS is the command's own.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
	// Exit is what was sent, or would have been. Cancelled says that the
	// command was killed, by its manager or for another one; output that is
	// no longer held counts as dropped.
	Exit Exit `json:"exit,omitzero"`
}
