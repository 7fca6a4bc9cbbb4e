package builtin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/edit"
)

// set creates or changes an entry, or changes all that a pattern finds.
func (p *plan) set(given sdk.EntryCall) (step, error) {
	c, note := summarized(given)
	if c.State == sdk.StateStreaming && p.use.Writer != sdk.WriterPlugin {
		return step{}, sdk.Errorf(sdk.Permission, "%s: an entry that streams is written by a plugin", c.Path)
	}
	if c.Body == nil && c.State == "" && c.Visibility == "" && c.Attributes == nil {
		return step{}, sdk.Errorf(sdk.Validation, "set needs something to write into %s: body, state, visibility, attributes or summary", c.Path)
	}
	if err := p.readEdit(&c); err != nil {
		return step{}, err
	}
	if c.Filter != "" && !c.picks() {
		return step{}, sdk.Errorf(sdk.Validation, "filter chooses among entries: write pattern = true with a body")
	}
	exact, err := p.find(c.Path)
	if err != nil {
		return step{}, err
	}
	if !exact.there && c.picks() {
		pattern, err := p.pattern(c.Path)
		if err == nil && pattern != nil {
			return p.setAll(c, pattern, note)
		}
		if err != nil {
			return step{}, err
		}
	}
	may := p.changes
	if c.looks() {
		may = p.reads
	}
	if err := may(c.Path); err != nil {
		return step{}, err
	}
	if !exact.there && (c.Pattern || c.Body == nil) {
		return step{}, nothing(c.Path)
	}
	if c.promotes() {
		if err := p.promotable(c.Path, []*sight{exact}, true); err != nil {
			return step{}, err
		}
	}
	writes, told, err := p.setOne(c, exact)
	if err != nil {
		return step{}, err
	}
	s := step{paths: []string{c.Path}, writes: writes}
	s.done.Text = fmt.Sprintf("%s is %s", c.Path, c.did(exact.there)) + note + told
	return s, nil
}

// setAll is set of all that a pattern finds.
func (p *plan) setAll(c call, pattern Pattern, note string) (step, error) {
	found, err := p.matches(pattern, c.Filter)
	if err == nil && c.promotes() {
		err = p.promotable(c.Path, found, false)
	}
	if err != nil {
		return step{}, err
	}
	var s step
	for _, x := range found {
		if !c.looks() && p.changes(x.Path) != nil {
			s.done.Left++
			continue
		}
		writes, told, err := p.setOne(c, x)
		if err != nil && x.isFile() && sdk.OutcomeOf(err) != sdk.Overflow {
			s.done.Left++
			continue
		}
		if err != nil {
			return step{}, err
		}
		if !strings.Contains(note, told) {
			note += told
		}
		s.change(x.Path, writes...)
	}
	if c.promotes() { // what grew since it was looked at
		if err := p.promotable(c.Path, found, false); err != nil {
			return step{}, err
		}
	}
	if s.changed() == 0 {
		return step{}, p.noneOf(c.Path, s.done.Left)
	}
	if err := p.widen(c.EntryCall, &s); err != nil {
		return step{}, err
	}
	s.done.Text = fmt.Sprintf("%d entries are %s", s.changed(), c.did(true)) + left(s.done.Left) + note
	return s, nil
}

// setOne are the writes that change one entry, and what the model should hear of it.
func (p *plan) setOne(c call, x *sight) ([]sdk.Write, string, error) {
	if c.looks() {
		if x.isFile() && c.Visibility == sdk.Visible {
			writes, err := p.show(x)
			return writes, "", err
		}
		if x.Visibility == c.Visibility && x.Version > 0 {
			return nil, "", nil
		}
		return []sdk.Write{p.look(x.Path, c.Visibility)}, "", nil
	}
	w := p.write(x.Path)
	w.State, w.Outcome, w.Visibility, w.Attributes = c.State, c.Outcome, c.Visibility, c.Attributes
	grows := c.Append && p.most != nil && sdk.SchemeOf(x.Path) == knownScheme
	if (c.Body == nil || c.picks() || grows) && !x.planned && x.State != sdk.StateStreaming {
		w.ExpectHash = x.Hash // what went meanwhile is not made again, and what grew is counted again
	}
	var all []sdk.Write
	told := ""
	switch {
	case c.Body == nil:
	case c.edit != nil:
		var err error
		if told, err = p.edited(c, x, &w); err != nil {
			return nil, "", err
		}
	case c.Append && x.there && x.State == sdk.StateStreaming:
		chunk := p.write(x.Path)
		chunk.Chunk = &sdk.Chunk{Channel: 1, Text: *c.Body}
		all = append(all, chunk)
		if w.State == "" && w.Visibility == "" && w.Attributes == nil {
			return all, "", nil
		}
	default:
		written(c, &w, *c.Body)
		w.Append = c.Append
	}
	return append(all, w), told, nil
}

// written has a write give an entry a text, with which it is in sight.
func written(c call, w *sdk.Write, body string) {
	w.Body = &body
	w.State, w.Visibility = cmp.Or(c.State, sdk.StateResolved), cmp.Or(c.Visibility, sdk.Visible)
}

// call is a call of set, with its summary among its attributes.
type call struct {
	sdk.EntryCall
	edit *edit.Edit // what a model's body asks for; nil is the body as it stands
}

// summarized makes the summary an attribute, and cuts it; note says so.
func summarized(c sdk.EntryCall) (call, string) {
	if c.Summary == "" {
		return call{EntryCall: c}, ""
	}
	note, text := "", c.Summary
	if utf8.RuneCountInString(text) > sdk.MaxSummary {
		text = string([]rune(text)[:sdk.MaxSummary])
		note = fmt.Sprintf("; the summary was cut at %d characters", sdk.MaxSummary)
	}
	b, err := json.Marshal(map[string]string{"summary": text})
	if err != nil {
		return call{EntryCall: c}, ""
	}
	c.Attributes, c.Summary = patched(c.Attributes, b), ""
	return call{EntryCall: c}, note
}

// looks reports whether only the visibility is set.
func (c call) looks() bool {
	return c.Visibility != "" && c.Body == nil && c.State == "" && c.Outcome == "" && c.Attributes == nil
}

// promotes reports whether what is there becomes visible, as by get.
func (c call) promotes() bool { return c.Visibility == sdk.Visible && c.Body == nil }

// did says in words what set does.
func (c call) did(there bool) string {
	switch {
	case c.looks():
		return string(c.Visibility) + " now"
	case c.Body == nil:
		return "changed"
	case c.edit != nil && c.edit.Marked() && !there:
		return "made"
	case c.edit != nil && c.edit.Marked():
		return "edited"
	case c.Append && there:
		return fmt.Sprintf("longer by %d bytes", len(*c.Body))
	default:
		return fmt.Sprintf("written, %d bytes", len(*c.Body))
	}
}

func nothing(path string) error {
	return sdk.Errorf(sdk.NotFound, "there is no entry %s", path)
}

// noneOf says why a pattern came to nothing.
func (p *plan) noneOf(pattern string, left int) error {
	if left > 0 {
		return sdk.Errorf(sdk.Permission, "%d entries fit %s, and none of them may be changed by %q", left, pattern, p.use.Writer)
	}
	return sdk.Errorf(sdk.NotFound, "no entry fits %s", pattern)
}

func left(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d more fit and stay as they are, since others write them", n)
}
