package frontmatter

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Fields are those between the fences. What is read of one that is not of the kind that is
// asked for costs that field alone, and is noted in the document.
type Fields struct {
	Twice []string // names that stand twice, of which the last one counts

	fields   map[string]field
	document *Document
}

// field is the name and the value of a field, with their places; aliases of the
// value are followed.
type field struct{ key, value *yaml.Node }

// Value is the value of a field with its place; nil when it is not there.
func (f *Fields) Value(name string) *yaml.Node { return f.fields[name].value }

// Names are the names of all fields, in no order.
func (f *Fields) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range f.fields {
			if !yield(name) {
				return
			}
		}
	}
}

// Key is the name of a field with its place; nil when it is not there.
func (f *Fields) Key(name string) *yaml.Node { return f.fields[name].key }

// Warn and Fail note a diagnostic at a value or a key; without one it stands at the fence.
func (f *Fields) Warn(code string, at *yaml.Node, message, help string) {
	line, column := f.Place(at)
	f.document.Note(Warning(code, line, column, message, help))
}

// Fail is Warn with an error, which keeps the file from being used.
func (f *Fields) Fail(code string, at *yaml.Node, message, help string) {
	line, column := f.Place(at)
	f.document.Note(Wrong(code, line, column, message, help))
}

// Place is where in its file a value or a key stands; without one it is the fence.
func (f *Fields) Place(at *yaml.Node) (line, column int) {
	if at == nil {
		return f.document.Line, 1
	}
	return f.document.Line + at.Line, at.Column
}

// Text is a field that is a text, on one line.
func (f *Fields) Text(name string) string {
	n := f.Value(name)
	if n != nil && n.Kind != yaml.ScalarNode {
		f.Mistyped(name, "a text")
	}
	return ScalarText(n)
}

// Element is one text of a field that is a list, with its place.
type Element struct {
	Text string
	At   *yaml.Node
}

// Elements are those of a field that is a list, or of a text to be split. Of equal ones the
// first counts.
func (f *Fields) Elements(name string, split func(string) []string) (out []Element) {
	add := func(text string, at *yaml.Node) {
		if text = Visible(text); text != "" && !slices.ContainsFunc(out, func(e Element) bool { return e.Text == text }) {
			out = append(out, Element{text, at})
		}
	}
	switch n := f.Value(name); {
	case n != nil && n.Kind == yaml.MappingNode:
		f.Mistyped(name, "a list")
	case n != nil && n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			if c = Follow(c); c.Kind != yaml.ScalarNode {
				f.Warn("field-type", c, fmt.Sprintf("an element of %s is no text; it is left out", name), "Write it as text.")
			}
			add(ScalarText(c), c)
		}
	default:
		for _, text := range split(f.Text(name)) {
			add(text, n)
		}
	}
	return out
}

// List is Elements without their places.
func (f *Fields) List(name string, split func(string) []string) (out []string) {
	for _, e := range f.Elements(name, split) {
		out = append(out, e.Text)
	}
	return out
}

// SplitTools splits a text of tool names at commas and white space, but not
// within parentheses: "Bash(git:*, jq:*) Read" has two.
func SplitTools(text string) (out []string) {
	depth, start := 0, 0
	take := func(end int) {
		if start < end {
			out = append(out, text[start:end])
		}
		start = end + 1
	}
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0 && (c == ',' || c == ' '):
			take(i)
		}
	}
	take(len(text))
	return out
}

// Flag is a field that says yes or no, in any of the words for it. What is
// neither counts as unclear, which is the safe side.
func (f *Fields) Flag(name string, missing, unclear bool) bool {
	n := f.Value(name)
	if IsNull(n) {
		return missing
	}
	if is, known := YesOrNo(ScalarText(n)); known {
		return is
	}
	f.Warn("field-type", n, fmt.Sprintf("%s is neither true nor false; it is taken for %s", name, strconv.FormatBool(unclear)), "Write true or false.")
	return unclear
}

// YesOrNo reads a word for one of them.
func YesOrNo(word string) (is, known bool) {
	switch strings.ToLower(word) {
	case "true", "yes", "on", "1", "y":
		return true, true
	case "false", "no", "off", "0", "n":
		return false, true
	}
	return false, false
}

// Mistyped notes that a field is not of the kind that is wanted, and is not heeded.
func (f *Fields) Mistyped(name, want string) {
	at := f.Value(name)
	f.Warn("field-type", at, fmt.Sprintf("%s is a %s and not %s; it is not heeded", name, KindOf(at), want), "Write it as "+want+".")
}

// KindOf names what a value is, for people.
func KindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "list of fields"
	case yaml.SequenceNode:
		return "list"
	}
	return "text"
}

// Show is a text of somebody else in a message: quoted, and not long.
func Show(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "..."
	}
	return strconv.Quote(s)
}
