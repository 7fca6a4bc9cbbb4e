package show

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// asked is a question at its shortest: what the plugin says, exactly, what is wanted, and who
// asks.
func asked(p sdk.Proposal, width, most int) (lines []Spans, whole bool) {
	what := askedLines(p, width)
	if whole = len(what) <= most; !whole {
		what = append(what[:most-1:most-1], Spans{{Ask, "  … " + Plural(len(what)-most+1, "more line") + ": d shows all of it"}})
	}
	return append(what, Spans{{Plain, "  "}, {Dim, cutTo(reason(p), width)}}), whole && BeyondASCII(p.Question.URL) == 0
}

func cutTo(text string, width int) string {
	if width > 0 {
		return Cut(text, max(width-2, 20))
	}
	return text
}

func askedLines(p sdk.Proposal, width int) (what []Spans) {
	q := p.Question
	lead := Span{Ask, "? "}
	for line := range strings.SplitSeq(strings.TrimRight(q.Message, "\n"), "\n") {
		what = append(what, Flow(Spans{lead}, line, "", width, Bold)...)
		lead = Span{Dim, lineMark}
	}
	if q.URL != "" {
		what = append(what, Flow(Spans{{Plain, "  asks you to open "}}, q.URL+beyond(q.URL), "  ", width, Bold)...)
	}
	fields, _ := q.Fields()
	if names := fieldNames(fields); names != "" {
		what = append(what, Flow(Spans{{Plain, "  wants to know: "}}, names, "  ", width, Plain)...)
	}
	return what
}

// fieldNames are the names of fields on a line; those that may be left out say so.
func fieldNames(fields []sdk.Field) string {
	var names []string
	for _, f := range fields {
		name := FieldName(f)
		if !f.Required {
			name += " (if you like)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// FieldName is what a person knows a field of a question by.
func FieldName(f sdk.Field) string {
	if f.Title != "" {
		return OneLine(ExactLine(f.Title))
	}
	return ExactLine(f.Name)
}

// Field is what is said of a field before its value is typed: what it is about, what fits, and what
// there is to choose from.
func Field(f sdk.Field, width int) (lines []Spans) {
	about := FieldName(f)
	if f.Description != "" {
		about += ": " + OneLine(f.Description)
	}
	var hints []string
	if hint := f.Hint(); hint != "" {
		hints = append(hints, hint)
	}
	switch {
	case f.Default != nil:
		hints = append(hints, "nothing typed is "+string(f.Default))
	case !f.Required:
		hints = append(hints, "nothing typed leaves it out")
	}
	lines = Flow(Spans{{Plain, "  "}}, about, "    ", width, Bold)
	for i, c := range f.Choices {
		text := c.Value
		if c.Title != "" && c.Title != c.Value {
			text = c.Title + " (" + c.Value + ")"
		}
		lines = append(lines, Flow(Spans{{Ask, fmt.Sprintf("    %d  ", i+1)}}, text, "       ", width, Plain)...)
	}
	if len(hints) > 0 {
		lines = append(lines, Flow(Spans{{Plain, "    "}}, strings.Join(hints, "; "), "    ", width, Dim)...)
	}
	return lines
}

// ownPlugin is the plugin that the daemon's own tools are said to be of: by such a one a model asks.
const ownPlugin = "bothy"

// askedDetails is all of a question: who asks, what, and each field.
func (d *details) asked(p sdk.Proposal) {
	q := p.Question
	who := "the plugin " + ExactLine(p.Plugin) + " asks, and what you answer goes to it alone"
	if p.Plugin == ownPlugin {
		who = "the model asks, and reads what you answer"
	}
	d.row(Spans{{Bold, "run " + Asker(p) + ": " + who}})
	d.row(Spans{{Plain, "  what it says (its own words: nobody checked them):"}})
	d.quote(strings.TrimRight(q.Message, "\n"), func(string) Style { return Bold })
	if q.URL != "" {
		d.row(Spans{{Plain, "  it asks you to open this address, and is told only whether you will:"}})
		d.quote(q.URL, func(string) Style { return Bold })
		if n := BeyondASCII(q.URL); n > 0 {
			d.row(Spans{{Plain, "  "}, {Bad, strings.TrimSpace(beyond(q.URL))}})
		}
	}
	fields, _ := q.Fields()
	for _, f := range fields {
		d.lines = append(d.lines, Field(f, d.width)...)
	}
	id := fmt.Sprintf("%s, hash %s", p.ID, d.hash(p.Hash))
	if !p.Expires.IsZero() {
		id += ", until " + When(p.Expires)
	}
	d.fact("project", p.Project)
	d.fact("proposal", id)
	if d.whole {
		d.fact("entry", fmt.Sprintf("%s of run %d, since %s", p.Path, p.Run, When(p.Created)))
	}
}

// Asked is what a call of ask_user asks, on a line; empty where it is none that can be read.
func Asked(a *sdk.Action) string {
	q, err := sdk.QuestionOf(a.ExactArguments())
	if err != nil {
		return ""
	}
	text := OneLine(q.Message)
	if q.URL != "" {
		text += " " + q.URL
	}
	return Shorten(Line(text), argumentsWidth)
}

// askedEnding is how a question ended.
func askedEnding(a *sdk.Action) string {
	if a.Answer == nil {
		return Line(a.Body)
	}
	word := map[sdk.Answer]string{sdk.Accept: "answered", sdk.Reject: "declined", sdk.Cancel: "left without an answer"}[a.Answer.Answer]
	if a.Answer.By != "" && word != "" {
		word += " by " + Line(a.Answer.By)
	}
	return word
}

// QuestionState says what became of a question, in a word; empty where it waits.
func QuestionState(p sdk.Proposal) string {
	switch {
	case p.State == sdk.StateProposed:
		return ""
	case p.State == sdk.StateResolved:
		return "answered"
	}
	return "withdrawn"
}
