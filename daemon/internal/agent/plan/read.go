package plan

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// The bounds of a plan.
const (
	MaxFile  = 256 << 10 // bytes
	MaxSteps = 100
	maxName  = 200 // characters of the name of a step, and of a goal
	maxDepth = 8
)

// Endings are those of the files that are read.
var Endings = []string{".yaml", ".yml", ".json", ".md"}

// Problem is a mistake in a file.
type Problem struct {
	Line    int    `json:"line,omitempty"` // from 1; 0 is the file as a whole
	Message string `json:"message"`
}

// Problems are all mistakes that were found in a file, in its order.
type Problems struct {
	File string
	List []Problem
}

// Error implements error: a line for each.
func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, x := range p.List {
		lines[i] = p.File + ": " + x.Message
		if x.Line > 0 {
			lines[i] = fmt.Sprintf("%s:%d: %s", p.File, x.Line, x.Message)
		}
	}
	return strings.Join(lines, "\n")
}

// Read reads a plan. The ending of the file's name says how it is written. The error is of validation, and has the
// Problems where the file could be read at all.
func Read(file string, src []byte) (Plan, error) {
	r := reader{}
	p := r.read(strings.ToLower(filepath.Ext(file)), src)
	if len(r.found) > 0 {
		return Plan{}, sdk.Errorf(sdk.Validation, "%w", &Problems{filepath.Base(file), r.found})
	}
	return p, nil
}

// reader collects what is wrong.
type reader struct{ found []Problem }

func (r *reader) wrong(line int, format string, args ...any) {
	if len(r.found) < 20 {
		r.found = append(r.found, Problem{line, fmt.Sprintf(format, args...)})
	}
}

func (r *reader) read(ending string, src []byte) (p Plan) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	const kinds = "a plan is YAML (.yaml, .yml), JSON (.json) or Markdown (.md)"
	switch {
	case ending == "":
		r.wrong(0, "the file has no ending that says how it is written: %s", kinds)
	case len(src) > MaxFile:
		r.wrong(0, "the file has %d bytes, and a plan at most %d", len(src), MaxFile)
	case !utf8.Valid(src):
		r.wrong(lineOf(src, invalid(src)), "the file is not valid UTF-8")
	case ending == ".yaml", ending == ".yml", ending == ".json", ending == ".md":
		if len(bytes.TrimSpace(src)) == 0 {
			r.wrong(0, "the file is empty: say a goal and instructions, or a name and steps")
			return p
		}
		p = r.decode(ending, src)
		r.check(p)
	default:
		r.wrong(0, "the ending %s is none of a plan: %s", ending, kinds)
	}
	return p
}

func (r *reader) decode(ending string, src []byte) Plan {
	var v value
	var err error
	switch ending {
	case ".md":
		return r.markdown(string(src))
	case ".json":
		v, err = readJSON(src)
	default:
		v, err = readYAML(src)
	}
	if bad, is := err.(*Problem); is {
		r.found = append(r.found, *bad)
		return Plan{}
	}
	return r.plan(v)
}

// check looks at what all ways of writing have in common.
func (r *reader) check(p Plan) {
	if len(r.found) > 0 {
		return
	}
	switch n := len(p.Steps); {
	case n == 0:
		r.wrong(0, "the plan has no steps: it needs at least one")
	case n > MaxSteps:
		r.wrong(0, "the plan has %d steps, and may have %d: make several plans of it", n, MaxSteps)
	}
	texts := []string{p.Goal, p.Description, p.Context}
	for _, s := range p.Steps {
		texts = append(texts, s.Name, s.Action, s.Context)
	}
	for _, text := range texts {
		if i := strings.IndexFunc(text, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }); i >= 0 {
			r.wrong(0, "the text %q has a control character: take it out", sdk.Excerpt(text[:i]))
		}
	}
}

// title reads a goal or a name: one line, and not a long one.
func (r *reader) title(what, text string, line int) string {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		r.wrong(line, "%s is empty", what)
	case strings.Contains(text, "\n") || utf8.RuneCountInString(text) > maxName:
		r.wrong(line, "%s takes one line of at most %d characters; say the rest where there is room for it", what, maxName)
	}
	return text
}

func lineOf(src []byte, at int) int { return bytes.Count(src[:at], []byte("\n")) + 1 }

func invalid(src []byte) int {
	for i := 0; i < len(src); {
		c, n := utf8.DecodeRune(src[i:])
		if c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(src)
}
