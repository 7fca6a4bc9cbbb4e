package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// shortHash is how much of a hash people compare.
const shortHash = 12

// question writes a proposal for a person, from what the daemon keeps of it:
// nothing of it is shortened, and every character shows as what it is. The
// model's own words come first and apart; what would run stands last, next to
// where the answer is typed.
type question struct {
	c     *console
	width int // 0: lines are not folded
	whole bool
	b     strings.Builder
}

// show is a proposal as text. Whole adds what an answer is bound to but nobody
// needs for most of them.
func (c *console) show(p sdk.Proposal, width int, whole bool) string {
	q := question{c: c, width: width, whole: whole}
	fmt.Fprintf(&q.b, "%s\n", c.paint(bold, "run "+c.visibleLine(p.Alias)+" asks before it goes on"))
	q.said(p.Said)
	q.facts(p)
	q.commands(p.Decision.Commands)
	q.arguments(p)
	q.diff(p)
	q.command(p, "what would run")
	if why := unfit(p); why != "" {
		fmt.Fprintf(&q.b, "  %s\n", c.paint(red, why))
	}
	return q.b.String()
}

// said quotes the model. Every line of it has a mark, so that none can be taken
// for one of ours.
func (q *question) said(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	q.b.WriteString("  what the model says about it (its own words: nobody checked them, and they decide nothing):\n")
	q.c.quote(&q.b, text, "    ", q.width, func(string) style { return dim })
}

// fact is one line; its value is made visible.
func (q *question) fact(name, value string) {
	if value != "" {
		lead := fmt.Sprintf("  %-9s ", name)
		q.b.WriteString(lead)
		q.c.flow(&q.b, value, "    ", len(lead), q.width, plainStyle)
	}
}

func (q *question) facts(p sdk.Proposal) {
	tool := p.Tool
	if p.Plugin != "" {
		tool += " of the plugin " + p.Plugin
	}
	if p.Digest != "" {
		tool += ", binary " + q.hash(p.Digest)
	}
	q.fact("tool", tool)
	q.fact("directory", p.Dir)
	if p.Dir != p.Project {
		q.fact("project", p.Project)
	}
	q.fact("mode", strings.TrimSuffix(sdk.AskOrAct(p.ReadOnly).String()+", "+string(p.Mode), ", "))
	for _, m := range p.Mounts {
		q.fact("can touch", m)
	}
	if p.Network {
		fmt.Fprintf(&q.b, "  %-9s %s\n", "network", q.c.paint(red, "open"))
	} else {
		q.fact("network", "none")
	}
	rule := p.Decision.Rule
	if p.Decision.Source != "" {
		rule += ", " + p.Decision.Source
	}
	q.fact("asked", fmt.Sprintf("%s (rule %s)", p.Decision.Reason, rule))
	id := fmt.Sprintf("%s, hash %s", p.ID, q.hash(p.Hash))
	if !p.Expires.IsZero() {
		id += ", until " + when(p.Expires)
	}
	q.fact("proposal", id)
	if q.whole {
		q.fact("entry", fmt.Sprintf("%s of run %d, since %s", p.Path, p.Run, when(p.Created)))
	}
}

func (q *question) hash(hash string) string {
	if q.whole || len(hash) <= shortHash {
		return hash
	}
	return hash[:shortHash]
}

// commands lists what policy saw in a command line.
func (q *question) commands(seen []sdk.SeenCommand) {
	if len(seen) == 0 {
		return
	}
	fmt.Fprintf(&q.b, "  %s:\n", plural(len(seen), "command"))
	for _, s := range seen {
		q.seen(s)
	}
}

// seen is one command with what it would be by itself, and why.
func (q *question) seen(s sdk.SeenCommand) {
	color := red
	if s.Verdict == sdk.Allow {
		color = green
	}
	verdict := fmt.Sprintf("%-7s ", q.c.visibleLine(string(s.Verdict)))
	q.b.WriteString("    " + q.c.paint(color, verdict))
	q.c.flow(&q.b, s.Text, "      ", 4+len(verdict), q.width, bold)
	why := strings.TrimPrefix(strings.TrimSuffix(s.Rule+": "+s.Reason, ": "), ": ")
	if len(s.Via) > 0 {
		why = strings.TrimSuffix("via "+strings.Join(s.Via, ", ")+"; "+why, "; ")
	}
	if why != "" {
		q.b.WriteString("            ")
		q.c.flow(&q.b, why, "            ", 12, q.width, dim)
	}
}

// arguments shows what a call was given besides its command. A text that stands
// in the difference line by line is not shown twice.
func (q *question) arguments(p sdk.Proposal) {
	names, values, ok := membersOf(p.Arguments)
	if !ok {
		if len(p.Arguments) > 0 {
			q.block("arguments", string(p.Arguments))
		}
		return
	}
	for i, name := range names {
		var text string
		isText := json.Unmarshal(values[i], &text) == nil && values[i][0] == '"'
		switch {
		case isText && text == p.Command && p.Command != "":
		case isText && !q.whole && strings.Contains(text, "\n") && within(text, p.Diff):
			q.fact("argument", fmt.Sprintf("%s: %d bytes, all of them in the difference", name, len(text)))
		case isText:
			q.block("argument "+name, text)
		default:
			q.fact("argument", name+" = "+string(values[i]))
		}
	}
}

// within reports whether every line of a text is a line of a difference.
func within(text, diff string) bool {
	lines := map[string]bool{}
	for line := range strings.Lines(diff) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && strings.ContainsRune("+- ", rune(line[0])) {
			lines[line[1:]] = true
		}
	}
	for line := range strings.Lines(text) {
		if !lines[strings.TrimSuffix(line, "\n")] {
			return false
		}
	}
	return diff != ""
}

func (q *question) block(name, text string) {
	q.b.WriteString("  ")
	q.c.flow(&q.b, name+", "+sizeOf(text)+":", "    ", 2, q.width, plainStyle)
	q.c.quote(&q.b, text, "    ", q.width, nil)
}

func (q *question) diff(p sdk.Proposal) {
	if p.Diff == "" {
		return
	}
	q.b.WriteString("  what it would change:\n")
	q.c.quote(&q.b, strings.TrimSuffix(p.Diff, "\n"), "    ", q.width, func(line string) style {
		switch {
		case strings.HasPrefix(line, "+"):
			return green
		case strings.HasPrefix(line, "-"):
			return red
		}
		return ""
	})
}

func (q *question) command(p sdk.Proposal, name string) {
	if p.Command == "" {
		return
	}
	fmt.Fprintf(&q.b, "  %s, %s:\n", name, sizeOf(p.Command))
	q.c.quote(&q.b, p.Command, "    ", q.width, func(string) style { return bold })
}

// sizeOf says how long a text is, and what in it may look like something else.
func sizeOf(text string) string {
	size := plural(len(text), "byte")
	if n := beyondASCII(text); n > 0 {
		size += fmt.Sprintf(" (%s beyond ASCII: letters of other alphabets can look the same)", plural(n, "character"))
	}
	return size
}

// unfit says why a proposal cannot be accepted by who sees it here.
func unfit(p sdk.Proposal) string {
	if p.Command != "" && p.Bytes != len(p.Command) {
		return fmt.Sprintf("The daemon counts %s and %d came here: what is shown is not what would run. Reject it.", plural(p.Bytes, "byte"), len(p.Command))
	}
	return ""
}
