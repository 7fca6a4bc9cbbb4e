package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/sdk/client/show"
)

// completeVerb is what the shells' scripts call. It is no verb of people's, and
// so kong does not know it.
const completeVerb = "__complete"

// candidate is a word that may stand where the cursor is.
type candidate struct{ word, help string }

// Where the shell completes paths by itself.
var (
	files = candidate{word: ":files"}
	dirs  = candidate{word: ":dirs"}
)

// line is a command line up to the cursor.
type line struct {
	node  *kong.Node  // the verb that was named
	args  int         // how many of its arguments
	flag  *kong.Value // the flag whose value the cursor is in, or nil
	words bool        // -- was there: only arguments follow
	cur   string      // what stands in front of the cursor
	keep  string      // how much of cur is no part of what is looked for, as --flag=
	dir   string      // the value of -C
	named string      // the value of --project
}

// completeWord prints the candidates for the last of words. Whatever is wrong, it
// prints nothing rather than an error: it stands in the middle of somebody's
// typing.
func (c *console) completeWord(ctx context.Context, app *kong.Application, args []string) int {
	if len(args) < 2 {
		return exitOK
	}
	shell, words := args[0], args[1:]
	if shell == "bash" {
		words = rejoin(words)
	}
	l := readLine(app.Node, append(ours(words[:len(words)-1]), words[len(words)-1]))
	typed := strings.TrimPrefix(l.cur, l.keep)
	for _, x := range c.candidates(ctx, l) {
		if x != files && x != dirs {
			if !strings.HasPrefix(x.word, typed) || !typeable.MatchString(x.word) {
				continue
			}
			x.word = l.keep + x.word
			if shell == "bash" { // which replaces only what is behind the last = or :
				x.word = x.word[strings.LastIndexAny(l.cur, "=:")+1:]
			}
		}
		fmt.Fprintf(c.out, "%s\t%s\n", show.Line(x.word), show.Line(x.help))
	}
	return exitOK
}

// typeable is a word that means itself to every shell. Names that do not, a
// provider's or a plugin's, are no candidates: what a completion puts on the line
// must not be a command.
var typeable = regexp.MustCompile(`\A[A-Za-z0-9_./:@+,%-]+\z`)

// rejoin undoes what bash does to a line: = and : are words of their own to it.
func rejoin(words []string) []string {
	var out []string
	join := false
	for i, w := range words {
		apart := strings.Trim(w, "=:") == "" && w != ""
		if i > 0 && (apart || join) {
			out[len(out)-1] += w
		} else {
			out = append(out, w)
		}
		join = apart
	}
	return out
}

func readLine(root *kong.Node, words []string) *line {
	l := &line{node: root, cur: words[len(words)-1]}
	for _, w := range words[:len(words)-1] {
		switch {
		case l.flag != nil:
			l.value(w)
			l.flag = nil
		case l.words || !strings.HasPrefix(w, "-") || w == "-":
			l.word(w)
		case w == "--":
			l.words = true
		default:
			l.option(w)
		}
	}
	if name, value, ok := strings.Cut(l.cur, "="); ok && l.flag == nil && !l.words && strings.HasPrefix(name, "--") {
		l.flag, l.keep = l.find(name), strings.TrimSuffix(l.cur, value)
	}
	return l
}

// word is a verb, or an argument of one.
func (l *line) word(w string) {
	for _, n := range l.node.Children {
		if l.args == 0 && !l.words && (n.Name == w || slices.Contains(n.Aliases, w)) {
			l.node = n
			return
		}
	}
	l.args++
}

// option is a word with flags in it; the last one's value may be the next word.
func (l *line) option(w string) {
	name, value, has := strings.Cut(w, "=")
	if strings.HasPrefix(name, "--") {
		f := l.find(name)
		if f == nil || f.IsBool() {
			return
		}
		if l.flag = f; has {
			l.value(value)
			l.flag = nil
		}
		return
	}
	for i, short := range name[1:] {
		f := l.find("-" + string(short))
		if f != nil && !f.IsBool() {
			if rest := w[1+i+len(string(short)):]; rest == "" {
				l.flag = f
			}
			return
		}
	}
}

// value notes what decides where to look for names.
func (l *line) value(w string) {
	switch l.flag.Name {
	case "dir":
		l.dir = w
	case "project":
		l.named = w
	}
}

// flags are those that the verb takes, its parents' among them.
func (l *line) flags() []*kong.Flag {
	var all []*kong.Flag
	for n := l.node; n != nil; n = n.Parent {
		all = append(all, n.Flags...)
	}
	if l.node.DefaultCmd != nil {
		all = append(all, l.node.DefaultCmd.Flags...)
	}
	return slices.DeleteFunc(all, func(f *kong.Flag) bool { return f.Hidden })
}

func (l *line) find(name string) *kong.Value {
	for _, f := range l.flags() {
		if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) {
			return f.Value
		}
	}
	return nil
}

// candidates are all words that may stand at the cursor, whatever was typed of
// them already.
func (c *console) candidates(ctx context.Context, l *line) []candidate {
	switch {
	case l.flag != nil:
		return c.values(ctx, l, l.flag)
	case l.keep != "":
		return nil // the value of no flag of ours
	case strings.HasPrefix(l.cur, "-") && !l.words:
		var found []candidate
		for _, f := range l.flags() {
			found = append(found, candidate{"--" + f.Name, f.Help})
		}
		return found
	}
	var found []candidate
	if l.args == 0 && !l.words {
		for _, n := range l.node.Children {
			if !n.Hidden {
				found = append(found, candidate{n.Name, n.Help})
			}
		}
	}
	node := l.node
	if len(node.Positional) == 0 && node.DefaultCmd != nil {
		node = node.DefaultCmd
	}
	if p := node.Positional; len(p) > 0 {
		last := p[len(p)-1]
		switch {
		case l.args < len(p):
			found = append(found, c.values(ctx, l, p[l.args])...)
		case last.IsSlice():
			found = append(found, c.values(ctx, l, last)...)
		}
	}
	return found
}

// values are those that a flag or an argument can have. The tag `complete` of
// its field says what it names.
func (c *console) values(ctx context.Context, l *line, v *kong.Value) []candidate {
	if v.Enum != "" {
		var found []candidate
		for _, x := range v.EnumSlice() {
			found = append(found, candidate{word: x})
		}
		return found
	}
	switch what := v.Tag.Get("complete"); what {
	case "":
		return nil
	case "file":
		return []candidate{files}
	case "dir":
		return []candidate{dirs}
	default:
		return c.names(ctx, l, what)
	}
}
