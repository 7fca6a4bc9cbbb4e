package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// mostDiffs bounds the diffs of one answer together. What is beyond them is told
// of without its lines.
const mostDiffs = 16 << 20

// changes compares how things were with how they are, or the contrary where what is taken
// back is a taking back.
func (p *planner) changes(again bool) *Changes {
	for _, t := range p.tracks.all {
		if t.blocked == "" {
			t.before, t.after = p.sides(t)
		}
		if again {
			t.turn()
		}
	}
	return &Changes{ops: p.ops, kept: p.kept, Differences: p.differences()}
}

// shown are what some of the steps did, though others came after them. Conflicts are why
// they cannot be taken back.
func shown(d *disk, steps []Step, chosen func(Step) bool, may func(string, bool) error, conflicts []sdk.Difference) []sdk.Difference {
	if first := slices.IndexFunc(steps, chosen); first < 0 {
		return nil
	} else {
		steps = steps[first:] // how things were before them is no question
	}
	p := plan(d, steps, everything, may, chosen)
	p.tracks.all = slices.DeleteFunc(p.tracks.all, func(t *track) bool { return !t.shows })
	for _, t := range p.tracks.all {
		t.was, t.now, t.name, t.before, t.after = t.past, t.as, t.as, t.since, t.then
	}
	all := p.differences()
	for _, c := range conflicts {
		if c.Conflict == "" {
			continue
		}
		if i := slices.IndexFunc(all, func(d sdk.Difference) bool { return d.Path == c.Path }); i >= 0 {
			all[i].Conflict = c.Conflict
		} else {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, byPath)
	return all
}

func byPath(a, b sdk.Difference) int { return cmp.Compare(a.Path, b.Path) }

// differences are what became of the things that were touched.
func (p *planner) differences() []sdk.Difference {
	p.join()
	var all []sdk.Difference
	bytes := 0
	for _, t := range p.tracks.all {
		slices.Sort(t.turns)
		d := sdk.Difference{Path: t.name, Turns: slices.Compact(t.turns), Conflict: t.blocked}
		if d.Conflict != "" {
			roughly(&d, t.last)
			all = append(all, d)
		} else if p.describe(&d, t.was, t.before, t.after) {
			if bytes += len(d.Diff); bytes > mostDiffs {
				d.Diff = ""
			}
			all = append(all, d)
		}
	}
	slices.SortFunc(all, byPath)
	return all
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
func (p *planner) sides(t *track) (before, after *node) {
	if t.was != "" {
		before = p.overlay.look(t.was)
	}
	if t.now != "" {
		after = p.overlay.at(t.now)
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
func (p *planner) describe(d *sdk.Difference, was string, before, after *node) bool {
	if before != nil && after != nil && before.kind == after.kind && before.mode != after.mode && before.kind != "link" {
		d.Mode = fmt.Sprintf("%04o to %04o", before.mode, after.mode)
	}
	switch {
	case before == nil && after == nil:
		return false
	case before == nil:
		d.Status, d.Kind = "added", after.kind
	case after == nil:
		d.Status, d.Kind = "deleted", before.kind
	case was != d.Path:
		d.Status, d.Kind, d.From = "moved", after.kind, was
	case before == after, d.Mode == "" && after.is(&sdk.FileState{Kind: before.kind, Hash: before.hash, Target: before.target}):
		return false
	default:
		d.Status, d.Kind = "changed", after.kind
	}
	p.compare(d, before, after)
	return true
}

// compare compares contents, when both are text. One that is too long for that counts as
// binary: no lines of it are shown.
func (p *planner) compare(d *sdk.Difference, before, after *node) {
	if d.Kind != "file" || before != nil && after != nil && before.kind == "file" && before.hash == after.hash {
		return
	}
	old, err := p.contents(before)
	if err == nil && !binary(old) {
		var now string
		if now, err = p.contents(after); err == nil && !binary(now) {
			p.lines(d, before, after, old, now)
			return
		}
	}
	d.Binary = true
}

// contents are those of a file, and none of anything else.
func (p *planner) contents(n *node) (string, error) {
	if n == nil || n.kind != "file" {
		return "", nil
	}
	return p.overlay.text(n)
}

// lines are the lines in which two texts differ.
func (p *planner) lines(d *sdk.Difference, before, after *node, old, now string) {
	if old == now {
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
