// Package shell says what a command line would do before anybody runs it. It
// parses the line as bash does and judges every command in the tree; what it
// does not know is never proven. It reads no file and runs nothing.
//
// A line that is proven is one whose commands, options and paths are all known
// to be harmless. That is a help for people, not a wall: the container is the
// wall.
package shell

// Grade is how far a line, or a part of it, can be trusted. Grades are ordered:
// the grade of a whole is the highest one of its parts.
type Grade int

// The grades, and what each means in the modes interactive, restricted and
// full.
const (
	Proven    Grade = iota // allow, allow, allow: it only reads, below the workspace or what else may be read
	Contained              // propose, allow, allow: it writes, provably below the workspace only
	Unproven               // propose, deny, allow: nothing says that it is harmless
	Unsafe                 // propose, deny, deny: what a mode that never asks must not run
	Denied                 // deny in every mode: the deny-list, and bytes that no shell reads as people do
)

// Place is where a line would run. Paths are those inside the container.
type Place struct {
	Workspace string // absolute and clean: "/workspace"
	Dir       string // absolute and clean: where the command starts
	Home      string // HOME of the command

	// ReadOnly are folders outside of the workspace, absolute and clean, that may
	// be read as it may. Nothing can write there.
	ReadOnly []string
}

// Report is what was seen in a line.
type Report struct {
	Grade  Grade
	Rule   string // of the part that decided, such as "shell.substitution"; empty when Proven
	Reason string // one sentence that a model can act on; empty when Proven

	// Commands are all commands of the line in the order in which they stand,
	// those inside wrappers and substitutions included.
	Commands []Command

	// Structure is the grade of what belongs to no command: redirections,
	// control flow, assignments, substitutions as such. A rule of the operator's
	// can allow commands, never structure.
	Structure Grade

	// Argv is set when the line is one simple command whose words are all
	// static: it can run without a shell.
	Argv []string
}

// Command is one command of a line.
type Command struct {
	Text   string   // as it stands in the line
	Argv   []string // its words, decoded; nil when they are not all static
	Grade  Grade
	Rule   string
	Reason string
	Via    []string // the wrappers that lead to it, outermost first: "env", "sh -c"
}
