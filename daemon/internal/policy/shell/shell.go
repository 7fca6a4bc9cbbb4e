// Package shell says what a command line would do before anybody runs it. It
// parses the line as bash does and judges every command in the tree; what it
// does not know is never proven. It reads no file and runs nothing.
//
// A line that is proven is one whose commands, options and paths are all known
// to be harmless. That is a help for people, not a wall: the container is the
// wall.
package shell

import (
	"slices"

	"github.com/bothyd/bothy/sdk/protect"
)

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
	// Own is another path of the workspace, absolute and clean: where the project lies on
	// the host. Empty when there is none. What lies there lies in the workspace.
	Own string

	// ReadOnly are folders outside of the workspace, absolute and clean, that may
	// be read as it may. Nothing can write there.
	ReadOnly []string

	// Rules say what of the workspace is protected; nil are those of names alone. Open
	// says that nothing is: it is a folder of the run's own.
	Rules *protect.Rules
	Open  bool
	// Links say where paths below the workspace lead that have a symbolic link on
	// the way, as the line names them: to a path below it, or an absolute one. For a
	// pattern they have a name in its folder that begins with a dash, if there is one.
	Links map[string]string

	refused *string   // why nothing may make the first change of what is refused
	secrets *string   // why nobody should read the first credentials unasked
	named   *[]string // the paths below the workspace that were looked at, as they are named
}

// Report is what was seen in a line.
type Report struct {
	Grade  Grade
	Rule   string // of the part that decided, such as "shell.substitution"; empty when Proven
	Reason string // for a person: what is wrong with the line; empty when Proven
	// Instead is for a model: what to do instead, beginning with the verb. A line that is
	// proven or contained mostly has none.
	Instead string

	// Commands are all commands of the line in the order in which they stand,
	// those inside wrappers and substitutions included.
	Commands []Command

	// Structure is the grade of what belongs to no command: redirections,
	// control flow, assignments, substitutions as such. A rule of the operator's
	// can allow commands, never structure.
	Structure Grade

	// Refused is why nobody can allow the line: it would change what is protected,
	// and nothing may. Empty when it would not, as far as can be seen.
	Refused string

	// Secret is why a person should agree to the line in every mode that asks: it
	// names credentials. Empty when it does not, as far as can be seen.
	Secret string

	// Argv is set when the line is one simple command whose words are all
	// static: it can run without a shell.
	Argv []string
}

// Command is one command of a line.
type Command struct {
	Text    string   // as it stands in the line
	Argv    []string // its words, decoded; nil when they are not all static
	Grade   Grade
	Rule    string
	Reason  string
	Instead string
	Via     []string // the wrappers that lead to it, outermost first: "env", "sh -c"

	Dir   string // where it starts, absolute and clean; empty when nobody can say, or it may be one of several
	Loose bool   // what it does is not in its words alone: it is given input, or a wrapper gives it words or variables
}

// plainWrappers run a command as it stands.
var plainWrappers = []string{"timeout", "nice", "time", "nohup", "command", "sh -c", "bash -c"}

// stands notes where a command starts, and what beside its words it goes by.
func (j *judge) stands(c *Command) {
	if len(j.dirs) == 1 {
		c.Dir = j.dirs[0]
	}
	c.Loose = j.stdin.kind != inputNone || slices.ContainsFunc(j.via, func(w string) bool { return !slices.Contains(plainWrappers, w) })
}
