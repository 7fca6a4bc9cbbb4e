package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// View says how much of an action is drawn. Its zero value draws everything.
type View struct {
	Width int // of a line, in columns; 0 cuts none
	Head  int // lines of a result that are shown from its beginning
	Tail  int // and from its end; with Head 0 too, all of them are
	Bytes int // of the result, where it was cut before it came here; 0: it was not
}

// shortDiff is how many lines a difference has that is shown whole in any View.
const shortDiff = 40

// Call is a call on a line: its tool, and what it is about.
func Call(a *sdk.Action, width int) Spans {
	return call(Span{Dim, "• "}, a, width)
}

func call(mark Span, a *sdk.Action, width int) Spans {
	tool := Line(a.Tool)
	about := Arguments(a.Arguments)
	if a.Asks {
		about = Asked(a)
	}
	if about == "{}" {
		about = ""
	}
	if width > 0 {
		tool = Cut(tool, width-Width(mark.Text))
		if room := width - Width(mark.Text) - Width(tool) - 1; room > 0 {
			about = Cut(about, room)
		} else {
			about = ""
		}
	}
	line := Spans{mark, {Name, tool}}
	if about != "" {
		line = append(line, Span{Plain, " " + about})
	}
	return line
}

// ActionName is the name by which explain, diff and undo know an action: the end of its
// path, such as turn_2/bash/go_test.
func ActionName(path string) string { return Line(strings.TrimPrefix(path, "log://")) }

// Action is an action with what came of it: the call, its result behind marks, how it
// ended where that was not well, and its name. What is no call but a failure is that, and what the engine
// tells the model a note.
func Action(a *sdk.Action, v View) []Spans {
	switch path, is := sdk.ParseActionPath(a.Path); {
	case is && path.IsCorrection():
		return Note(a.Body, v.Width)
	case is && path.IsError():
		return Failure(a.Body, v.Width)
	}
	return append([]Spans{call(mark(a), a, v.Width)}, result(Spans{{Plain, "  "}}, a, v)...)
}

// mark says in a character what became of an action.
func mark(a *sdk.Action) Span {
	switch {
	case a.State == sdk.StateFailed, a.State == sdk.StateCancelled:
		return Span{Bad, "✗ "}
	case a.State == sdk.StateProposed:
		return Span{Ask, "? "}
	case !a.State.Ended():
		return Span{Dim, "• "}
	}
	return Span{Good, "✓ "}
}

// Result is what came of an action whose call stands above already.
func Result(a *sdk.Action, v View) []Spans { return result(Spans{{Plain, "  "}, mark(a)}, a, v) }

// result is what came of an action; lead stands before the line that says how it ended.
func result(lead Spans, a *sdk.Action, v View) []Spans {
	body := a.Body
	if body == a.Error || a.Asks {
		body = "" // the ending says it
	}
	lines := Body(body, v)
	ended := a.State != sdk.StateResolved || a.Answer != nil
	if ended {
		text := Ending(a)
		if answered := Answered(a.Answer); answered != "" && !a.Rejected() && !a.Asks {
			text = strings.TrimPrefix(text+"; "+answered, "ok; ")
		}
		s := Dim
		if a.State == sdk.StateFailed || a.State == sdk.StateCancelled {
			s = Bad
		}
		lines = append(lines, wrap(lead, text, "    ", v.Width, s)...)
	}
	name := ActionName(a.Path)
	if took := a.Took(); took > 0 {
		name = Brief(took) + ", " + name
	}
	if n := len(lines); ended && (v.Width == 0 || Width(lines[n-1].String())+2+Width(name) <= v.Width) {
		lines[n-1] = append(lines[n-1], Span{Dim, ", " + name})
		return lines
	}
	if ended {
		lead = Spans{{Plain, "  "}}
	}
	if v.Width > 0 {
		name = Cut(name, v.Width-Width(lead.String()))
	}
	return append(lines, append(slices.Clip(lead), Span{Dim, name}))
}

// Body is what a call gave, as a terminal shows it, behind marks. Of a long one the
// middle is left out, for what matters of a test run stands at its end; of a short
// difference nothing is.
func Body(text string, v View) (all []Spans) {
	text = strings.TrimRight(Output(text), "\n")
	if text == "" && v.Bytes == 0 {
		return nil
	}
	hue := func(string) Style { return Dim }
	lines := strings.Split(text, "\n")
	most := v.Head + v.Tail
	if IsDiff(text) {
		hue = DiffStyle
		if most > 0 && len(lines) <= shortDiff {
			most = 0
		}
	}
	gap := -1
	if most > 0 && len(lines) > most+1 {
		left := len(lines) - most
		lines = slices.Concat(lines[:v.Head], []string{fmt.Sprintf("… %d more lines", left)}, lines[len(lines)-v.Tail:])
		gap = v.Head
	}
	for i, line := range lines {
		s := hue(line)
		if i == gap {
			s = Dim
		}
		all = append(all, bodyLine(line, s, v))
	}
	if v.Bytes > len(text) {
		all = append(all, bodyLine(fmt.Sprintf("… and more, %d bytes in all", v.Bytes), Dim, v))
	}
	return all
}

// BodyLine is one line of what a call gives, as Body draws it, while more may come: an
// empty one is a line too.
func BodyLine(line string, v View) Spans { return bodyLine(Output(line), Dim, v) }

func bodyLine(line string, s Style, v View) Spans {
	if v.Width > 0 {
		line = Cut(line, v.Width-4)
	}
	return Spans{{Dim, "  │ "}, {s, line}}
}

// IsDiff reports whether a text is a unified difference.
func IsDiff(text string) bool {
	return strings.Contains(text, "\n@@ ") || strings.HasPrefix(text, "@@ ")
}

// Failure is what went wrong where no call did.
func Failure(text string, width int) []Spans {
	return wrap(Spans{{Bad, "! "}}, Text(strings.TrimSpace(text)), "  ", width, Plain)
}

// Note is what the engine says of its own work.
func Note(text string, width int) []Spans {
	return wrap(Spans{{Dim, "~ "}}, Text(strings.TrimSpace(text)), "  ", width, Dim)
}

// Prompt is what a person asked, with its number among the prompts of the run, by which
// diff and undo know it.
func Prompt(text string, number int, readOnly bool, width int) []Spans {
	lead := Spans{}
	if number > 0 {
		lead = append(lead, Span{Dim, fmt.Sprintf("%d ", number)})
	}
	if readOnly {
		lead = append(lead, Span{Dim, "ask "})
	}
	return wrap(append(lead, Span{Ask, "> "}), Text(strings.TrimSpace(text)), "  ", width, Plain)
}

// Media are the images that go with a prompt, a line each.
func Media(media []sdk.Medium, width int) (all []Spans) {
	for _, m := range media {
		all = append(all, wrap(Spans{{Dim, "  + "}}, Line(m.String()), "    ", width, Dim)...)
	}
	return all
}

// wrap is a harmless text behind a lead, its further lines behind an indent, broken so
// that none is wider than width, at blanks where there are any; 0 breaks none, and leaves
// tabs as they are.
func wrap(lead Spans, text, indent string, width int, s Style) (all []Spans) {
	if width > 0 {
		text = Tabs(text, tabWidth)
	}
	used := Width(lead.String())
	for _, line := range strings.Split(text, "\n") {
		room := 0
		if width > 0 {
			room = max(width-max(used, len(indent)), 20)
		}
		for _, piece := range Fold(line, room) {
			if room > 0 {
				for _, part := range broken(piece, room) {
					all, lead = append(all, append(slices.Clip(lead), Span{s, part})), Spans{{Plain, indent}}
				}
				continue
			}
			all, lead = append(all, append(slices.Clip(lead), Span{s, piece})), Spans{{Plain, indent}}
		}
	}
	return all
}
