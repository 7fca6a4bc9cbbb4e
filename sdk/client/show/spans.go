package show

import "strings"

// Style says what a piece of a drawing is; a front end chooses how it looks.
type Style int

// The styles. A drawing must be understood without any of them.
const (
	Plain Style = iota
	Dim         // of less weight than what stands around it
	Bold        // what to look at first
	Name        // of a tool that is called
	Good        // went well; a line that was added
	Bad         // went wrong; a line that was taken away
	Ask         // wants an answer
	Code        // a place in a file
	Odd         // does not show as itself: what stands there is its name
)

// Span is a piece of a line in one style.
type Span struct {
	Style Style
	Text  string // harmless: what a Span holds goes to a terminal as it is
}

// Spans are a line.
type Spans []Span

// Paint puts a text in a style. The text is harmless already.
type Paint func(s Style, text string) string

// Draw is the line as a terminal gets it; without paint it has no colours.
func (l Spans) Draw(paint Paint) string {
	if paint == nil {
		return l.String()
	}
	var b strings.Builder
	for _, s := range l {
		if s.Text != "" {
			b.WriteString(paint(s.Style, s.Text))
		}
	}
	return b.String()
}

// String is the line without styles.
func (l Spans) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// writer makes a line of pieces; neighbours in one style become one span.
type writer struct {
	spans Spans
	style Style
	text  strings.Builder // of the last span, which is not in spans yet
}

func (w *writer) add(s Style, text string) {
	if s != w.style {
		w.line()
		w.style = s
	}
	w.text.WriteString(text)
}

func (w *writer) piece(p piece, s Style) {
	if p.style != Plain {
		s = p.style
	}
	w.add(s, p.text)
}

// line is what was written so far.
func (w *writer) line() Spans {
	if w.text.Len() > 0 {
		w.spans = append(w.spans, Span{w.style, w.text.String()})
		w.text.Reset()
	}
	return w.spans
}

// Draw is lines as a terminal gets them, each with its end.
func Draw(lines []Spans, paint Paint) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Draw(paint))
		b.WriteByte('\n')
	}
	return b.String()
}
