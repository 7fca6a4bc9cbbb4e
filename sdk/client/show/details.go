package show

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Details are a proposal with all that its answer is bound to, from what the daemon
// keeps of it: nothing of it is shortened, and every character shows as what it is. The
// model's own words come first and apart; what would run stands last, next to where the
// answer is typed. Whole adds what nobody needs for most of them: whole hashes, the entry.
func Details(p sdk.Proposal, width int, whole bool) []Spans {
	d := details{width: width, whole: whole}
	if p.Question != nil {
		d.asked(p)
		return d.lines
	}
	d.row(Spans{{Bold, "run " + Asker(p) + " asks before it goes on"}})
	d.said(p.Said)
	d.facts(p)
	d.commands(p.Decision.Commands)
	d.arguments(p)
	d.diff(p)
	d.command(p.Command, "what would run")
	if why := Unfit(p); why != "" {
		d.lines = append(d.lines, wrap(Spans{{Plain, "  "}}, why, "  ", width, Bad)...)
	}
	return d.lines
}

// ShortHash is how much of a hash people compare, in characters.
const ShortHash = 12

// details are drawn line by line.
type details struct {
	width int // 0: lines are not folded
	whole bool
	lines []Spans
}

func (d *details) row(line Spans) { d.lines = append(d.lines, line) }

// flow is a line behind a lead, exactly.
func (d *details) flow(lead Spans, line, indent string, s Style) {
	d.lines = append(d.lines, Flow(lead, line, indent, d.width, s)...)
}

func (d *details) quote(text string, hue func(line string) Style) {
	d.lines = append(d.lines, Quote(text, "    ", d.width, hue)...)
}

// said quotes the model. Every line of it has a mark, so that none can be taken
// for one of ours.
func (d *details) said(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	d.row(Spans{{Plain, "  what the model says about it (its own words: nobody checked them, and they decide nothing):"}})
	d.quote(text, func(string) Style { return Dim })
}

// fact is a name with its value.
func (d *details) fact(name, value string) {
	if value != "" {
		d.flow(Spans{{Plain, fmt.Sprintf("  %-9s ", name)}}, value, "    ", Plain)
	}
}

func (d *details) facts(p sdk.Proposal) {
	tool := p.Tool
	if p.Plugin != "" {
		tool += " of the plugin " + p.Plugin
	}
	if p.Digest != "" {
		tool += ", binary " + d.hash(p.Digest)
	}
	d.fact("tool", tool)
	d.fact("directory", p.Dir+beyond(p.Dir))
	if p.Dir != p.Project {
		d.fact("project", p.Project)
	}
	d.fact("mode", strings.TrimSuffix(sdk.AskOrAct(p.ReadOnly).String()+", "+string(p.Mode), ", "))
	for _, m := range p.Mounts {
		d.fact("can touch", m)
	}
	if p.Network {
		d.row(Spans{{Plain, fmt.Sprintf("  %-9s ", "network")}, {Bad, "open"}})
	} else {
		d.fact("network", "none")
	}
	rule := p.Decision.Rule
	if p.Decision.Source != "" {
		rule += ", " + p.Decision.Source
	}
	d.fact("asked", fmt.Sprintf("%s (rule %s)", p.Decision.Reason, rule))
	id := fmt.Sprintf("%s, hash %s", p.ID, d.hash(p.Hash))
	if !p.Expires.IsZero() {
		id += ", until " + When(p.Expires)
	}
	d.fact("proposal", id)
	if d.whole {
		d.fact("entry", fmt.Sprintf("%s of run %d, since %s", p.Path, p.Run, When(p.Created)))
	}
}

func (d *details) hash(hash string) string {
	if d.whole || len(hash) <= ShortHash {
		return hash
	}
	return hash[:ShortHash]
}

// commands lists what policy saw in a command line.
func (d *details) commands(seen []sdk.SeenCommand) {
	if len(seen) == 0 {
		return
	}
	d.row(Spans{{Plain, "  " + Plural(len(seen), "command") + ":"}})
	for _, s := range seen {
		d.seen(s)
	}
}

// seen is one command with what it would be by itself, and why.
func (d *details) seen(s sdk.SeenCommand) {
	color := Bad
	if s.Verdict == sdk.Allow {
		color = Good
	}
	d.flow(Spans{{Plain, "    "}, {color, fmt.Sprintf("%-7s ", ExactLine(string(s.Verdict)))}}, s.Text, "      ", Bold)
	why := strings.TrimPrefix(strings.TrimSuffix(s.Rule+": "+s.Reason, ": "), ": ")
	if len(s.Via) > 0 {
		why = strings.TrimSuffix("via "+strings.Join(s.Via, ", ")+"; "+why, "; ")
	}
	if why != "" {
		d.flow(Spans{{Plain, "            "}}, why, "            ", Dim)
	}
}

// arguments shows what a call was given besides its command. A text that stands
// in the difference line by line is not shown twice.
func (d *details) arguments(p sdk.Proposal) {
	names, values, ok := Members(p.Arguments)
	if !ok {
		if len(p.Arguments) > 0 {
			d.block("arguments", Readable(p.Arguments))
		}
		return
	}
	command := commandArgument(p)
	every := func(string) bool { return true }
	diff := differenceOf(p.Diff, every, every)
	for i, name := range names {
		text, isText := textOf(values[i])
		name += beyond(name)
		switch {
		case isText && names[i] == command && text == p.Command:
		case isText && !d.whole && strings.Contains(text, "\n") && (holds(diff.after, text) || holds(diff.before, text)):
			d.fact("argument", fmt.Sprintf("%s: %d bytes, all of them in the difference", name, len(text)))
		case isText:
			d.block("argument "+name, text)
		default:
			d.fact("argument", name+" = "+string(values[i])+beyond(string(values[i])))
		}
	}
}

func (d *details) block(name, text string) {
	d.flow(Spans{{Plain, "  "}}, name+", "+sizeOf(text)+":", "    ", Plain)
	d.quote(text, nil)
}

func (d *details) diff(p sdk.Proposal) {
	if p.Diff == "" {
		return
	}
	d.row(Spans{{Plain, "  what it would change:"}})
	d.quote(strings.TrimSuffix(p.Diff, "\n"), DiffStyle)
}

func (d *details) command(command, name string) {
	if command == "" {
		return
	}
	d.row(Spans{{Plain, fmt.Sprintf("  %s, %s:", name, sizeOf(command))}})
	d.quote(command, func(string) Style { return Bold })
}

// sizeOf says how long a text is, and what in it may look like something else.
func sizeOf(text string) string { return Plural(len(text), "byte") + beyond(text) }

// beyond says how much of a text may look like something else; nothing where none does.
func beyond(text string) string {
	if n := BeyondASCII(text); n > 0 {
		return fmt.Sprintf(" (%s beyond ASCII: letters of other alphabets can look the same)", Plural(n, "character"))
	}
	return ""
}
