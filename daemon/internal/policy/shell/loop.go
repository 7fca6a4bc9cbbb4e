package shell

import (
	"regexp"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// bound is what the variable of a for is while its body runs.
type bound struct {
	name string
	text string
	glob bool // text is a pattern, and the value a name that it expands to
}

// is reports whether an expansion is the variable and nothing else.
func (b *bound) is(p *syntax.ParamExp) bool {
	return b != nil && plainParam(p) && p.Param.Value == b.name
}

// plainName is a variable that nothing but the line itself looks at.
var plainName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// loopName is the finding about the variable of a for, which its words are assigned to.
func loopName(name string) finding {
	if plainName.MatchString(name) && !isRisky(name) {
		return finding{}
	}
	return assigned(name, word{known: true, why: finding{Unproven, "shell.assignment", says("nobody can say what %s does to a command; name the variable in small letters", brief(name))}})
}

// itemCap is how many words a for may have of which each is looked at.
const itemCap = 16

// plainItem is a word that bash leaves alone when it is put in, with quotes or
// without.
var plainItem = regexp.MustCompile(`^[A-Za-z0-9_./@%+,:=^-]+$`)

// each judges the body of a for once for each of its words, where the body can be
// seen to leave its variable alone; the commands are listed once.
func (j *judge) each(l *syntax.WordIter, body []*syntax.Stmt) {
	items, ok := j.items(l)
	if !ok || j.value != nil || !leavesAlone(body) {
		inner := *j
		inner.value = nil
		inner.loop(body)
		j.dirs = inner.dirs
		return
	}
	first, start, moved := *j, len(j.out.commands), false
	round := func(dirs []string, item *bound) {
		other := *j
		other.dirs, other.value, other.out = dirs, item, &tally{calls: map[string][]string{}}
		other.loop(body)
		j.merge(start, other.out)
		moved = moved || !slices.Equal(dirs, other.dirs)
	}
	first.value = &items[0]
	first.loop(body)
	moved = !slices.Equal(j.dirs, first.dirs)
	for n := range items[1:] {
		round(j.dirs, &items[n+1])
	}
	if !moved {
		return
	}
	for n := range items { // each may be the one behind a round that moved
		round(nil, &items[n])
	}
	j.dirs = nil
}

// merge adds what was found in another round of a loop to the commands that are
// listed from start on.
func (j *judge) merge(start int, round *tally) {
	if len(round.commands) != len(j.out.commands)-start {
		j.structure(round.worst)
		return
	}
	for n, c := range round.commands {
		if into := &j.out.commands[start+n]; into.Dir != c.Dir {
			into.Dir = ""
		}
		j.found(start+n, finding{c.Grade, c.Rule, why{c.Reason, c.Instead}})
	}
	if round.structure > j.out.structure {
		worst := round.worst
		worst.grade = round.structure
		j.structure(worst)
	}
}

// items are the words of a for, false when one of them is not known or could
// become more than one.
func (j *judge) items(l *syntax.WordIter) ([]bound, bool) {
	if len(l.Items) == 0 || len(l.Items) > itemCap {
		return nil, false
	}
	items := make([]bound, len(l.Items))
	for n, w := range l.Items {
		d := j.peek(w)
		plain := plainItem.MatchString(d.text)
		if d.glob {
			plain = d.text[0] != '-'
		}
		if !d.known || d.why.grade > Proven || d.tilde || !plain {
			return nil, false
		}
		items[n] = bound{l.Name.Value, d.text, d.glob}
	}
	return items, true
}

// leavesAlone reports whether nothing in the body of a loop can change a variable.
// It knows few kinds of commands, and only names that are written out.
func leavesAlone(body []*syntax.Stmt) bool {
	alone := true
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch x := n.(type) {
			case nil, *syntax.Stmt, *syntax.BinaryCmd, *syntax.IfClause, *syntax.Redirect, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.Comment:
			case *syntax.ParamExp:
				alone = alone && plainParam(x)
			case *syntax.CallExpr:
				alone = alone && len(x.Assigns) == 0 && len(x.Args) > 0 && setsNothing(x.Args[0].Lit())
			default:
				alone = false
			}
			return alone
		})
	}
	return alone
}

// setsNothing reports whether a command sets no variable of the shell.
func setsNothing(name string) bool {
	if slices.Contains([]string{"echo", "test", "[", "true", "false", "pwd", "cd"}, name) {
		return true
	}
	return name != "" && !isBuiltin(name) && wrappers[name] == nil
}
