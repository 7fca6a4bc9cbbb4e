package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judge walks a tree and knows what holds at the point where it stands. A copy
// of it is what holds inside a subshell; all copies share one tally.
type judge struct {
	src       string // the text that positions refer to
	at        Place
	dirs      []string // where a command may start; empty when nobody can say
	succeeded []string // where the next one starts if the last one succeeded; nil: as dirs
	stdin     input
	via       []string // the wrappers around it
	depth     int      // of texts in texts
	functions []string // the functions in whose bodies it is
	value     *bound   // what the variable of the loop around it is; nil: nobody knows any
	again     bool     // it judges a round of a loop for where the last one went: loops in it were judged so already
	out       *tally
}

// input is what the standard input of a command is.
type input struct {
	kind  inputKind
	text  string // of inputText
	names bool   // of inputPipe: names of files below where they were looked for, and nothing else
	whole bool   // of inputPipe: each of the names ends with a NUL, and none is of credentials
}

type inputKind int

const (
	inputNone    inputKind = iota // nothing
	inputFile                     // a file
	inputText                     // a text of the line itself, known to the byte
	inputDynamic                  // a text that is made when the line runs
	inputProc                     // what is written to >(...), by a command that has no pipe as its input
	inputPipe                     // another command's output
)

// tally is what the judges of one line have found.
type tally struct {
	commands  []Command
	structure Grade
	worst     finding
	calls     map[string][]string // function to the commands in its body
	over      bool                // there were too many commands
}

func newJudge(line string, at Place) *judge {
	at.refused, at.secrets = new(string), new(string)
	return &judge{src: line, at: at, dirs: []string{at.Dir}, out: &tally{calls: map[string][]string{}}}
}

// worse is the finding that decides.
func worse(a, b finding) finding {
	if b.grade > a.grade {
		return b
	}
	return a
}

// structure notes what belongs to no command.
func (j *judge) structure(f finding) {
	j.out.structure = max(j.out.structure, f.grade)
	j.out.worst = worse(j.out.worst, f)
}

// command notes a command before it is judged, so that commands are listed in
// the order in which they stand. The result is its place in the list, or -1
// when there are too many.
func (j *judge) command(text string) int {
	if len(j.out.commands) == commandCap {
		if !j.out.over {
			j.out.over = true
			j.structure(finding{Denied, "shell.size", says("the line has too many commands to show them to anybody; write them to a script file")})
		}
		return -1
	}
	c := Command{Text: text, Via: slices.Clone(j.via)}
	j.stands(&c)
	j.out.commands = append(j.out.commands, c)
	return len(j.out.commands) - 1
}

// found notes what was found about a command.
func (j *judge) found(i int, f finding) {
	j.out.worst = worse(j.out.worst, f)
	if i < 0 || f.grade <= j.out.commands[i].Grade {
		return
	}
	c := &j.out.commands[i]
	c.Grade, c.Rule, c.Reason, c.Instead = f.grade, f.rule, f.reason, f.instead
}

// inside is a judge for what a wrapper runs.
func (j *judge) inside(wrapper string) *judge {
	inner := *j
	inner.via = append(slices.Clip(slices.Clone(j.via)), wrapper)
	inner.depth++
	return &inner
}

// places are where a command may start. When that is not known the root stands
// for it: nothing relative is below the workspace then.
func (j *judge) places() []Place {
	if len(j.dirs) == 0 {
		return []Place{j.at.in("/")}
	}
	list := make([]Place, 0, len(j.dirs))
	for _, dir := range j.dirs {
		list = append(list, j.at.in(dir))
	}
	return list
}

// dirCap is how many directories a command may start in before it is said that
// nobody knows.
const dirCap = 8

// union is where a command starts that follows either of two. Not knowing wins.
func union(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	list := slices.Clone(a)
	for _, dir := range b {
		if !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	if len(list) > dirCap {
		return nil
	}
	return list
}

// slice is a part of the text, for showing. Positions come from the parser and
// are not trusted to be in order.
func (j *judge) slice(from, to uint) string {
	end := min(int(to), len(j.src))
	start := min(int(from), end)
	return strings.TrimRight(j.src[start:end], " \t\n;&")
}

// briefCap is how much of a line a reason repeats.
const briefCap = 60

// brief is the beginning of a text, for a reason.
func brief(text string) string {
	if len(text) <= briefCap {
		return text
	}
	return strings.ToValidUTF8(text[:briefCap], "") + "..."
}

// brief is how a part of the tree is named in a reason.
func (j *judge) brief(n syntax.Node) string {
	return brief(j.slice(n.Pos().Offset(), n.End().Offset()))
}

// recursive names a function that calls itself, over others or not.
func (t *tally) recursive() (string, bool) {
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(name string) bool
	visit = func(name string) bool {
		if state[name] != 0 {
			return state[name] == open
		}
		state[name] = open
		if slices.ContainsFunc(t.calls[name], func(callee string) bool { return t.calls[callee] != nil && visit(callee) }) {
			return true
		}
		state[name] = done
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(t.calls)) { // the same line gives the same reason
		if visit(name) {
			return name, true
		}
	}
	return "", false
}
