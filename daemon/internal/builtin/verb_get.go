package builtin

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// The bounds of one get: what is more is asked for in parts.
const (
	mostGot      = 100     // entries that become visible
	mostGotBytes = 1 << 20 // of their bodies
	mostListed   = 1000    // lines of a preview
)

// get makes entries visible and answers with their bodies.
func (p *plan) get(c sdk.EntryCall) (step, error) {
	found, one, err := p.named(c.Path, c.Filter, !c.Preview, p.reads)
	if err != nil {
		return step{}, err
	}
	switch lines := c.Line != 0 || c.Limit != 0; {
	case len(found) == 0:
		return step{}, p.noneOf(c.Path, 0)
	case c.Preview:
		return preview(found), nil
	case lines && !one:
		return step{}, sdk.Errorf(sdk.Validation, "line and limit are of one entry, and %s is a pattern that fits %d", c.Path, len(found))
	case lines:
		text := excerpt(found[0].Body, c.Line, c.Limit)
		if len(text) > mostGotBytes {
			return step{}, sdk.Errorf(sdk.Overflow, "these lines of %s have %d bytes, and %d is the most at once: ask for fewer", c.Path, len(text), mostGotBytes)
		}
		return step{paths: []string{c.Path}, done: sdk.EntryDone{Text: text}}, nil
	}
	return p.promote(c, found, one)
}

// named are the entries that a path names: the one that has it, one, else those that fit it as a
// pattern. may is asked about one.
func (p *plan) named(path, filter string, bodies bool, may func(string) error) (found []*sight, one bool, err error) {
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
			found, err = p.matches(pattern, filter, bodies)
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

func (p *plan) promote(c sdk.EntryCall, found []*sight, one bool) (step, error) {
	size := 0
	for _, x := range found {
		size += len(x.Body)
	}
	if one && size > mostGotBytes {
		return step{}, sdk.Errorf(sdk.Overflow, "%s has %d bytes, and %d is the most at once: read a part of it with line and limit", c.Path, size, mostGotBytes)
	}
	if !one && (len(found) > mostGot || size > mostGotBytes) {
		return step{}, sdk.Errorf(sdk.Overflow, "%s fits %d entries of %d bytes, and %d of %d bytes is the most at once: narrow the pattern, or look at what there is with preview", c.Path, len(found), size, mostGot, mostGotBytes)
	}
	s := step{bodies: true}
	var text strings.Builder
	for i, x := range found {
		s.paths = append(s.paths, x.Path)
		if x.Visibility != sdk.Visible || x.Version == 0 {
			s.writes = append(s.writes, p.look(x.Path, sdk.Visible))
		}
		if !one || x.State != sdk.StateResolved {
			if i > 0 {
				text.WriteString("\n\n")
			}
			seen := x.Entry
			seen.Visibility = sdk.Visible
			text.WriteString("[" + headline(seen, len(x.Body)) + "]\n")
		}
		text.WriteString(x.Body)
	}
	s.done.Text = text.String()
	return s, nil
}

// preview lists entries and changes nothing.
func preview(found []*sight) step {
	s := step{}
	var lines []string
	for i, x := range found {
		if i == mostListed {
			lines = append(lines, fmt.Sprintf("... and %d more", len(found)-mostListed))
			break
		}
		lines = append(lines, headline(x.Entry, -1))
	}
	for _, x := range found {
		s.paths = append(s.paths, x.Path)
	}
	s.done.Text = strings.Join(lines, "\n")
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

// excerpt is some lines of a body: from line on, -1 being the last, at most limit; 0 is no bound.
func excerpt(body string, line, limit int) string {
	lines := strings.SplitAfter(body, "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	first := max(line-1, 0)
	if line < 0 {
		first = max(len(lines)+line, 0)
	}
	first = min(first, len(lines))
	lines = lines[first:]
	if limit > 0 {
		lines = lines[:min(limit, len(lines))]
	}
	return strings.Join(lines, "")
}
