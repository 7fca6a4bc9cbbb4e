package show

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Question is what waits for an answer, at its shortest: what would run, exactly and in
// at most `most` lines, and a line that says why it is asked. Whole reports that nothing
// of what would run was left out; else an answer that lets it run has to wait until
// Details were shown. Width is that of a terminal; 0 folds nothing.
func Question(p sdk.Proposal, width, most int) (lines []Spans, whole bool) {
	var what []Spans
	lead := Span{Ask, "? "}
	if p.Command != "" {
		for _, line := range strings.Split(p.Command, "\n") {
			what = append(what, Flow(Spans{lead}, line, "", width, Bold)...)
			lead = Span{Dim, lineMark}
		}
	} else {
		what = Flow(Spans{lead}, strings.TrimSpace(p.Tool+" "+argumentsBeside(p.Arguments, p.Diff)), "", width, Bold)
		what = append(what, changedLines(p.Diff, width)...)
	}
	whole = len(what) <= most && Unfit(p) == ""
	if len(what) > most {
		left := Plural(len(what)-most+1, "more line")
		what = append(what[:most-1:most-1], Spans{{Ask, "  … " + left + ": d shows all of it"}})
	}
	why := Spans{{Plain, "  "}, {Dim, Shorten(ExactLine(p.Decision.Reason), max(width-2, 20))}}
	if width == 0 {
		why = Spans{{Plain, "  "}, {Dim, ExactLine(p.Decision.Reason)}}
	}
	if bad := Unfit(p); bad != "" {
		why = Spans{{Bad, "  " + bad}}
	}
	return append(what, why), whole
}

// argumentsBeside are the arguments of a call on one line, without the texts that stand
// in the difference line by line.
func argumentsBeside(raw json.RawMessage, diff string) string {
	names, values, ok := Members(raw)
	if !ok {
		return string(raw)
	}
	var parts []string
	for i, name := range names {
		var text string
		switch isText := json.Unmarshal(values[i], &text) == nil && values[i][0] == '"'; {
		case isText && within(text, diff):
		case isText && name == "path":
			parts = append(parts, text)
		case isText:
			parts = append(parts, name+"="+text)
		default:
			parts = append(parts, name+"="+string(values[i]))
		}
	}
	return strings.Join(parts, " ")
}

// changedLines are the lines that a difference adds and takes away, exactly.
func changedLines(diff string, width int) (all []Spans) {
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		if s := DiffStyle(line); (s == Good || s == Bad) && !strings.HasPrefix(line, "+++ ") && !strings.HasPrefix(line, "--- ") {
			all = append(all, Flow(Spans{{Dim, "  " + lineMark}}, line, "  ", width, s)...)
		}
	}
	return all
}

// DiffStyle is the style of a line of a unified difference.
func DiffStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return Good
	case strings.HasPrefix(line, "-"):
		return Bad
	case strings.HasPrefix(line, "@@"):
		return Code
	}
	return Plain
}

// Unfit says why a proposal cannot be accepted by who sees it here; empty when it can.
func Unfit(p sdk.Proposal) string {
	if p.Command != "" && p.Bytes != len(p.Command) {
		return fmt.Sprintf("The daemon counts %s and %d came here: what is shown is not what would run. Reject it.", Plural(p.Bytes, "byte"), len(p.Command))
	}
	return ""
}

// Details are a proposal with all that its answer is bound to, from what the daemon
// keeps of it: nothing of it is shortened, and every character shows as what it is. The
// model's own words come first and apart; what would run stands last, next to where the
// answer is typed. Whole adds what nobody needs for most of them: whole hashes, the entry.
func Details(p sdk.Proposal, width int, whole bool) []Spans {
	d := details{width: width, whole: whole}
	d.row(Spans{{Bold, "run " + ExactLine(p.Alias) + " asks before it goes on"}})
	d.said(p.Said)
	d.facts(p)
	d.commands(p.Decision.Commands)
	d.arguments(p)
	d.diff(p)
	d.command(p.Command, "what would run")
	if why := Unfit(p); why != "" {
		d.row(Spans{{Bad, "  " + why}})
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
	d.fact("directory", p.Dir)
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
			d.block("arguments", string(p.Arguments))
		}
		return
	}
	for i, name := range names {
		var text string
		isText := json.Unmarshal(values[i], &text) == nil && values[i][0] == '"'
		switch {
		case isText && text == p.Command && p.Command != "":
		case isText && !d.whole && strings.Contains(text, "\n") && within(text, p.Diff):
			d.fact("argument", fmt.Sprintf("%s: %d bytes, all of them in the difference", name, len(text)))
		case isText:
			d.block("argument "+name, text)
		default:
			d.fact("argument", name+" = "+string(values[i]))
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
func sizeOf(text string) string {
	size := Plural(len(text), "byte")
	if n := BeyondASCII(text); n > 0 {
		size += fmt.Sprintf(" (%s beyond ASCII: letters of other alphabets can look the same)", Plural(n, "character"))
	}
	return size
}
