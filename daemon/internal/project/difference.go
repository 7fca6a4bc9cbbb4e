package project

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// mostDiffs bounds the diffs of one answer together. What is beyond them is told
// of without its lines.
const mostDiffs = 16 << 20

// changes compares how things were with how they are.
func (p *planner) changes(root *os.Root) *Changes {
	out := &Changes{ops: p.ops, kept: p.kept}
	for _, t := range p.tracks.all {
		if t.blocked == "" {
			t.before, t.after = p.sides(root, t)
		}
	}
	p.join()
	bytes := 0
	for _, t := range p.tracks.all {
		slices.Sort(t.turns)
		d := sdk.Difference{Path: t.name, Turns: slices.Compact(t.turns), Conflict: t.blocked}
		if d.Conflict != "" {
			roughly(&d, t.last)
			out.Differences = append(out.Differences, d)
		} else if describe(&d, t.was, t.before, t.after) {
			if bytes += len(d.Diff); bytes > mostDiffs {
				d.Diff = ""
			}
			out.Differences = append(out.Differences, d)
		}
	}
	slices.SortFunc(out.Differences, func(a, b sdk.Difference) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// join makes one of what went from a path and what came to the same one: for
// people, that is a change of it.
func (p *planner) join() {
	gone := map[string]*track{}
	for _, t := range p.tracks.all {
		if t.blocked == "" && t.before != nil && t.after == nil && gone[t.was] == nil {
			gone[t.was] = t
		}
	}
	for _, t := range p.tracks.all {
		if t.blocked != "" || t.before != nil || t.after == nil {
			continue
		}
		if g := gone[t.now]; g != nil && g.before != nil {
			t.was, t.before, t.turns = g.was, g.before, append(t.turns, g.turns...)
			g.before = nil
		}
	}
}

// sides are how a thing was before the first step, and how it is now.
func (p *planner) sides(root *os.Root, t *track) (before, after *node) {
	if t.was != "" {
		before = p.overlay.look(t.was)
	}
	switch {
	case t.now == "":
	case before != nil && before.origin == t.now:
		after = before // it was not written
	default:
		after = onDisk(root, t.now)
	}
	return before, after
}

// roughly tells what a run did to something that was touched since.
func roughly(d *sdk.Difference, last sdk.FileChange) {
	d.Status = "changed"
	switch {
	case last.From != "" && last.After != nil:
		d.Status, d.From, d.Kind = "moved", last.From, last.After.Kind
	case last.After == nil && last.Before != nil:
		d.Status, d.Kind = "deleted", last.Before.Kind
	case last.After != nil:
		d.Kind = last.After.Kind
		if last.Before == nil {
			d.Status = "added"
		}
	}
}

// describe fills in what became of something; false when it is as it was.
func describe(d *sdk.Difference, was string, before, after *node) bool {
	switch {
	case before == nil && after == nil:
		return false
	case before == nil:
		d.Status, d.Kind = "added", after.kind
	case after == nil:
		d.Status, d.Kind = "deleted", before.kind
	case was != d.Path:
		d.Status, d.Kind, d.From = "moved", after.kind, was
	case before == after, after.is(&sdk.FileState{Kind: before.kind, Hash: before.hash, Target: before.target}):
		return false
	default:
		d.Status, d.Kind = "changed", after.kind
	}
	compare(d, before, after)
	return true
}

// compare compares contents, when both are text.
func compare(d *sdk.Difference, before, after *node) {
	var old, now string
	if before != nil {
		old = before.text
	}
	if after != nil {
		now = after.text
	}
	if d.Kind != "file" || old == now {
		return
	}
	if binary(old) || binary(now) {
		d.Binary = true
		return
	}
	from, to := d.Path, d.Path
	switch {
	case before == nil:
		from = ""
	case after == nil:
		to = ""
	case d.From != "":
		from = d.From
	}
	d.Diff = match.DiffFiles(from, to, old, now)
	for i, line := range strings.Split(d.Diff, "\n") {
		switch {
		case i < 2: // the two lines that name the files
		case strings.HasPrefix(line, "+"):
			d.Added++
		case strings.HasPrefix(line, "-"):
			d.Removed++
		}
	}
}

func binary(text string) bool { return strings.ContainsRune(text, 0) || !utf8.ValidString(text) }
