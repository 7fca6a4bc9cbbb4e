package builtin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// The bounds of one call: what is more is asked for in parts.
const (
	mostGot      = 100     // entries that become visible
	mostGotBytes = 1 << 20 // of their bodies
	mostListed   = 1000    // entries of a preview
	mostChanged  = 1000    // entries that patterns change, of all calls of a plan
	mostTold     = 100     // of those that are told
)

// get makes entries visible and answers with their bodies.
func (p *plan) get(c sdk.EntryCall) (step, error) {
	found, one, err := p.named(c.Path, c.Filter, p.reads)
	if err != nil {
		return step{}, err
	}
	s, err := p.shown(c, found, one)
	s.foreign = slices.ContainsFunc(found[:min(len(found), mostListed)], func(x *sight) bool { return x.IsForeign() })
	return s, err
}

// shown is what get shows of what it found.
func (p *plan) shown(c sdk.EntryCall, found []*sight, one bool) (step, error) {
	switch lines := c.Line != 0 || c.Limit != 0; {
	case len(found) == 0:
		return step{}, p.noneOf(c.Path, 0)
	case c.Preview:
		return preview(found), nil
	case lines && !one:
		return step{}, sdk.Errorf(sdk.Validation, "line and limit are of one entry, and %s is a pattern that fits %d", c.Path, len(found))
	case lines:
		if err := p.read(found[0]); err != nil {
			return step{}, err
		}
		text, where := excerpt(found[0].Body, c.Line, c.Limit)
		if len(text) > mostGotBytes {
			return step{}, sdk.Errorf(sdk.Overflow, "these lines of %s have %d bytes, and %d is the most at once: ask for fewer", c.Path, len(text), mostGotBytes)
		}
		if p.use.Writer == sdk.WriterModel { // others asked for the lines, and count them
			text = where + text
		}
		return step{paths: []string{c.Path}, done: sdk.EntryDone{Text: text}}, nil
	}
	return p.promote(c, found, one)
}

// named are the entries that a path names: the one that has it, one, else those that fit it as a
// pattern. may is asked about one.
func (p *plan) named(path, filter string, may func(string) error) (found []*sight, one bool, err error) {
	exact, err := p.find(path)
	if err != nil {
		return nil, false, err
	}
	if !exact.there {
		pattern, err := p.pattern(path)
		if err != nil {
			return nil, false, err
		}
		if pattern != nil {
			found, err = p.matches(pattern, filter)
			return found, false, err
		}
	}
	if err := may(path); err != nil {
		return nil, true, err
	}
	if !exact.there {
		return nil, true, nothing(path)
	}
	found, err = p.filtered([]*sight{exact}, filter)
	return found, true, err
}

// promotable says why so much cannot become visible at once, by get or by set.
func (p *plan) promotable(path string, found []*sight, one bool) error {
	const narrow = "narrow the pattern, or look at what there is with get and preview"
	if len(found) > mostGot {
		return sdk.Errorf(sdk.Overflow, "%s fits %d entries, and %d is the most at once: %s", path, len(found), mostGot, narrow)
	}
	size := 0
	for _, x := range found {
		if !x.isFile() {
			if _, err := p.find(x.Path); err != nil { // which reads its body
				return err
			}
		}
		size += x.size()
		switch {
		case size <= mostGotBytes:
		case one:
			return sdk.Errorf(sdk.Overflow, "%s has %d bytes, and %d is the most at once: read a part of it with get, line and limit", path, size, mostGotBytes)
		default:
			return sdk.Errorf(sdk.Overflow, "%s fits %d entries of more than %d bytes, which is the most at once: %s", path, len(found), mostGotBytes, narrow)
		}
	}
	return nil
}

func (p *plan) promote(c sdk.EntryCall, found []*sight, one bool) (step, error) {
	if err := p.promotable(c.Path, found, one); err != nil {
		return step{}, err
	}
	s := step{bodies: true, inSight: cmp.Or(c.Visibility, sdk.Visible) == sdk.Visible}
	var text strings.Builder
	for i, x := range found {
		writes, err := p.showAt(c.Visibility, x)
		switch {
		case err != nil && one:
			return step{}, err
		case err != nil:
			s.done.Left++
			continue
		}
		s.inSight = s.inSight && p.isShown(x)
		s.paths, s.writes = append(s.paths, x.Path), append(s.writes, writes...)
		if !one || x.State != sdk.StateResolved {
			if i > 0 {
				text.WriteString("\n\n")
			}
			seen := x.Entry
			seen.Visibility = cmp.Or(c.Visibility, sdk.Visible)
			text.WriteString("[" + headline(seen, len(x.Body)) + "]\n")
		}
		text.WriteString(x.Body)
	}
	if err := p.promotable(c.Path, found, one); err != nil { // what grew since it was looked at
		return step{}, err
	}
	if len(s.paths) == 0 {
		return step{}, sdk.Errorf(sdk.Permission, "%d entries fit %s, and none of them can be read: ask for one by its path to know why", s.done.Left, c.Path)
	}
	if s.done.Left > 0 {
		fmt.Fprintf(&text, "\n\n[%d more fit and cannot be read: ask for one by its path to know why]", s.done.Left)
	}
	s.done.Text = text.String()
	return s, nil
}

// isShown reports whether models that are shown entries read the whole text of one while it is visible. What happened, and a
// prompt, may be shown otherwise than it is kept, and so may what a plugin says the words of; a stream is shown as it was when it
// was written last, whatever came since.
func (p *plan) isShown(x *sight) bool {
	name := x.Scheme()
	if !x.State.Ended() || p.worded != nil && p.worded()[name] != "" {
		return false
	}
	s, _ := p.stored.Scheme(name)
	return x.isFile() || s.ModelVisible && (s.Category == sdk.CategoryData || s.Category == sdk.CategoryUnknown)
}

// preview lists entries and changes nothing.
func preview(found []*sight) step {
	var s step
	var text strings.Builder
	for _, x := range found[:min(len(found), mostListed)] {
		if text.Len() > mostGotBytes {
			break
		}
		s.paths = append(s.paths, x.Path)
		text.WriteString(headline(x.Entry, -1) + tokensOf(x.Entry) + "\n")
	}
	if s.done.More = len(found) - len(s.paths); s.done.More > 0 {
		fmt.Fprintf(&text, "... and %d more\n", s.done.More)
	}
	s.done.Text = strings.TrimSuffix(text.String(), "\n")
	return s
}

// headline is an entry in a line; the size of its body is left out below 0.
func headline(e sdk.Entry, size int) string {
	text := fmt.Sprintf("%s %d %s", e.Path, e.Status(), e.Visibility)
	if e.Outcome != "" {
		text += " " + string(e.Outcome)
	}
	if size >= 0 {
		text += fmt.Sprintf(" %d bytes", size)
	}
	return text
}

// excerpt is some lines of a body: from line on, -1 being the last, at most limit; 0 is no bound. Where says which they are, and
// how many there are.
func excerpt(body string, line, limit int) (text, where string) {
	lines := strings.SplitAfter(body, "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	all, first := len(lines), max(line-1, 0)
	if line < 0 {
		first = max(all+line, 0)
	}
	first = min(first, all)
	lines = lines[first:]
	if limit > 0 {
		lines = lines[:min(limit, len(lines))]
	}
	if where = fmt.Sprintf("[lines %d to %d of %d]\n", first+1, first+len(lines), all); len(lines) == 0 {
		where = fmt.Sprintf("[no such line: there are %d]\n", all)
	}
	return strings.Join(lines, ""), where
}
