package project

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// Step is one change that a run made to the project's files.
type Step struct {
	sdk.FileChange
	Turn int
}

// Difference is what all steps together made of one file, folder or link,
// against how it was before the first of them.
type Difference struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"` // moved: where it was
	Kind    string `json:"kind"`           // "file", "directory" or "link"
	Status  string `json:"status"`         // "added", "changed", "deleted" or "moved"
	Turns   []int  `json:"turns"`          // in which it was touched
	Diff    string `json:"diff,omitempty"` // of a text file: unified, from before the run to now
	Added   int    `json:"added"`          // lines
	Removed int    `json:"removed"`        // lines
	Binary  bool   `json:"binary,omitempty"`
	// Conflict says why it cannot be taken back; the rest tells then only
	// roughly what the run did.
	Conflict string `json:"conflict,omitempty"`
}

// Changes are the steps of a run against the files as they are now.
type Changes struct {
	Differences []Difference
	ops         []op
	kept        []string // folders that the run made and that hold other things by now
}

// Kept are the folders that the run made and that stay when it is taken back,
// because something else is in them.
func (c *Changes) Kept() []string { return c.kept }

// Look says how the steps of a run are looked at.
type Look struct {
	// May refuses a path that stays as it is, whatever a tool told of it.
	May func(path string) error
	// Resume says that the steps were being taken back when that was cut short:
	// some of the last may be undone already.
	Resume bool
}

// LookAtChanges looks at what steps, the oldest first, did to the project at
// root. It changes nothing, follows no link, and never leaves the project.
func LookAtChanges(root string, steps []Step, how Look) (*Changes, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open the project %s: %w", root, err)
	}
	defer func() { _ = dir.Close() }() // it was only read
	if how.Resume {
		for n := len(steps); n >= 0; n-- {
			p, err := plan(dir, steps[:n], how.May, true)
			if err != nil {
				return nil, err
			}
			if len(p.blocked) == 0 {
				return p.changes(dir)
			}
		}
	}
	p, err := plan(dir, steps, how.May, false)
	if err != nil {
		return nil, err
	}
	return p.changes(dir)
}

// plan takes all steps back in an overlay.
func plan(dir *os.Root, steps []Step, may func(string) error, strict bool) (*planner, error) {
	p := &planner{
		overlay: newOverlay(dir), may: may, strict: strict, was: map[string]string{},
		blocked: map[string]string{}, turns: map[string][]int{}, last: map[string]sdk.FileChange{},
	}
	for _, s := range slices.Backward(steps) {
		if err := p.step(s); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// planner takes steps back in its mind, from the last to the first.
type planner struct {
	overlay *overlay
	may     func(path string) error
	strict  bool // what is as it was before already is a conflict as well
	ops     []op
	was     map[string]string         // path now to path before, for all that was touched
	blocked map[string]string         // path at that time to why it cannot be taken back
	turns   map[string][]int          // by path now
	last    map[string]sdk.FileChange // the latest change of a path now
	kept    []string
}

func (p *planner) step(s Step) error {
	c := s.FileChange
	for _, at := range []string{c.Path, c.From} {
		if at != "" && !usable(at) {
			return sdk.Errorf(sdk.Validation, "a tool told of a change of %q, which is no path in the project", at)
		}
	}
	if c.From != "" && c.After == nil {
		return sdk.Errorf(sdk.Validation, "a tool told of a move to %q that left nothing there", c.Path)
	}
	now := p.now(c.Path)
	if _, known := p.last[now]; !known {
		p.last[now] = c
	}
	p.was[now] = c.Path
	p.turns[now] = append(p.turns[now], s.Turn)
	why, err := p.takeBack(c)
	if err != nil {
		return err
	}
	if why != "" {
		p.blocked[now] = why
	}
	return nil
}

// usable reports whether a path that a tool told of lies in the project.
func usable(at string) bool {
	return at != "." && !path.IsAbs(at) && path.Clean(at) == at && at != ".." && !strings.HasPrefix(at, "../") && !strings.ContainsRune(at, 0)
}

// now is the present path of what had a path at the time that the planner has
// come to.
func (p *planner) now(at string) string {
	for now, was := range p.was {
		if was == at {
			return now
		}
	}
	return at
}

// takeBack takes one change back in the overlay. It returns why that cannot be.
func (p *planner) takeBack(c sdk.FileChange) (conflict string, err error) {
	if why, ok := p.blocked[p.now(c.Path)]; ok {
		return why, nil
	}
	for _, at := range []string{c.Path, first(c.From, c.Path)} {
		if err := p.may(at); err != nil {
			return err.Error(), nil
		}
	}
	cur, err := p.overlay.look(c.Path)
	if err != nil {
		return "", err
	}
	if c.From != "" {
		return p.moveBack(c, cur)
	}
	switch {
	case cur.is(c.After):
	case cur.is(c.Before) && !p.strict:
		return "", nil // it is so already
	case cur == nil:
		return "it is not there any more", nil
	case c.After == nil:
		return "something else is there now", nil
	default:
		return "something else changed it since", nil
	}
	if c.Lost != "" {
		return "what it was before is not known: " + c.Lost, nil
	}
	if c.Before == nil {
		return "", p.remove(c)
	}
	if cur == nil {
		if above, err := p.above(c.Path); above != "" || err != nil {
			return above, err
		}
	}
	before := &node{kind: c.Before.Kind, mode: os.FileMode(c.Before.Mode), target: c.Before.Target}
	if c.Before.Kind == "file" {
		after := ""
		if cur != nil {
			after, before.mode = cur.text, cur.mode
		}
		text, ok := "", c.Undo != nil
		if ok {
			text, ok = c.Undo.Apply(after)
		}
		if !ok || sum(text) != c.Before.Hash {
			return "what was kept of it does not fit", nil
		}
		before.text, before.hash = text, c.Before.Hash
	}
	p.overlay.set(c.Path, before)
	p.ops = append(p.ops, op{path: c.Path, from: c.After, to: before})
	return "", nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// above says why nothing can be put at a path: its folder is gone.
func (p *planner) above(at string) (string, error) {
	dir := path.Dir(at)
	if dir == "." {
		return "", nil
	}
	n, err := p.overlay.look(dir)
	if err != nil || n != nil && n.kind == "directory" {
		return "", err
	}
	return "the folder " + dir + " is not there any more", nil
}

// remove takes back that something was made. A folder stays when something
// else is in it.
func (p *planner) remove(c sdk.FileChange) error {
	if c.After.Kind == "directory" {
		names, err := p.overlay.names(c.Path)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			p.kept = append(p.kept, c.Path)
			return nil
		}
	}
	p.overlay.set(c.Path, nil)
	p.ops = append(p.ops, op{path: c.Path, from: c.After})
	return nil
}

func (p *planner) moveBack(c sdk.FileChange, cur *node) (string, error) {
	source, err := p.overlay.look(c.From)
	if err != nil {
		return "", err
	}
	switch {
	case cur == nil && source != nil && source.kind == c.After.Kind && !p.strict:
		return "", nil // it is so already
	case cur == nil:
		return "it is not there any more", nil
	case cur.kind != c.After.Kind:
		return "something else is there now", nil
	case source != nil:
		return "something else is at " + c.From + " now", nil
	}
	if above, err := p.above(c.From); above != "" || err != nil {
		return above, err
	}
	p.overlay.move(c.Path, c.From, cur)
	for now, was := range p.was {
		if was == c.Path || strings.HasPrefix(was, c.Path+"/") {
			p.was[now] = c.From + strings.TrimPrefix(was, c.Path)
		}
	}
	p.ops = append(p.ops, op{path: c.Path, rename: c.From, from: c.After})
	return "", nil
}

// changes compares how things were with how they are.
func (p *planner) changes(root *os.Root) (*Changes, error) {
	out := &Changes{ops: p.ops, kept: p.kept}
	for now, was := range p.was {
		d := Difference{Path: now, Turns: p.turns[now], Conflict: p.blocked[now]}
		slices.Sort(d.Turns)
		d.Turns = slices.Compact(d.Turns)
		if d.Conflict != "" {
			roughly(&d, p.last[now])
			out.Differences = append(out.Differences, d)
			continue
		}
		before, err := p.overlay.look(was)
		if err != nil {
			return nil, err
		}
		after, err := onDisk(root, now)
		if err != nil {
			return nil, err
		}
		if describe(&d, was, before, after) {
			out.Differences = append(out.Differences, d)
		}
	}
	slices.SortFunc(out.Differences, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// roughly tells what a run did to something that was touched since.
func roughly(d *Difference, last sdk.FileChange) {
	d.Status = "changed"
	switch {
	case last.From != "":
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
func describe(d *Difference, was string, before, after *node) bool {
	switch {
	case before == nil && after == nil:
		return false
	case before == nil:
		d.Status, d.Kind = "added", after.kind
	case after == nil:
		d.Status, d.Kind = "deleted", before.kind
	case was != d.Path:
		d.Status, d.Kind, d.From = "moved", after.kind, was
	case after.is(&sdk.FileState{Kind: before.kind, Hash: before.hash, Target: before.target}):
		return false
	default:
		d.Status, d.Kind = "changed", after.kind
	}
	d.diff(before, after)
	return true
}

// diff compares contents, when both are text.
func (d *Difference) diff(before, after *node) {
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
	d.Diff = match.Diff(d.Path, old, now)
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
