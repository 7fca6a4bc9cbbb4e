package project

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// plan takes all steps back in an overlay.
func plan(dir *os.Root, steps []Step, may func(string) error, strict bool) (*planner, error) {
	p := &planner{overlay: newOverlay(dir), may: may, strict: strict}
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
	tracks  []*track
	kept    []string

	ops       []op
	reversals []sdk.FileChange
}

// track follows one thing that was touched, through all its paths.
type track struct {
	was     string // its path at the time that the planner has come to; empty: it was not there
	now     string // its present path; empty: something else is there, or nothing
	name    string // for people: the latest path that it had
	turns   []int
	last    sdk.FileChange
	blocked string // why it cannot be taken back

	before, after *node // how it was, and how it is now; known at the end
}

// track finds what had a path at the time that the planner has come to.
func (p *planner) track(c sdk.FileChange) *track {
	for _, t := range p.tracks {
		if t.was == c.Path {
			return t
		}
	}
	t := &track{was: c.Path, now: p.follow(c.Path, (*track).past, (*track).present), name: c.Path, last: c}
	if t.now != "" && p.follow(t.now, (*track).present, (*track).past) != c.Path {
		t.now = ""
	} else if t.now != "" {
		t.name = t.now
	}
	p.tracks = append(p.tracks, t)
	return t
}

func (t *track) past() string    { return t.was }
func (t *track) present() string { return t.now }

// follow gives a path the one that it has at another time, through the folders
// that were moved.
func (p *planner) follow(at string, from, to func(*track) string) string {
	best, found := -1, at
	for _, t := range p.tracks {
		dir := from(t)
		if dir == "" || len(dir) <= best || at != dir && !strings.HasPrefix(at, dir+"/") {
			continue
		}
		best, found = len(dir), ""
		if to(t) != "" {
			found = to(t) + strings.TrimPrefix(at, dir)
		}
	}
	return found
}

// do notes what is to be done, and how it is told.
func (p *planner) do(o op, told sdk.FileChange) {
	p.ops = append(p.ops, o)
	p.reversals = append(p.reversals, told)
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
	t := p.track(c)
	t.turns = append(t.turns, s.Turn)
	if t.blocked != "" {
		return nil
	}
	why, err := p.takeBack(c)
	t.blocked = why
	return err
}

// usable reports whether a path that a tool told of lies in the project.
func usable(at string) bool {
	return at != "." && !path.IsAbs(at) && path.Clean(at) == at && at != ".." && !strings.HasPrefix(at, "../") && !strings.ContainsRune(at, 0)
}

// takeBack takes one change back in the overlay. It returns why that cannot be.
func (p *planner) takeBack(c sdk.FileChange) (conflict string, err error) {
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
		return "", p.remove(c, cur)
	}
	if cur == nil {
		if above, err := p.above(c.Path); above != "" || err != nil {
			return above, err
		}
	}
	before := &node{kind: c.Before.Kind, mode: os.FileMode(c.Before.Mode), target: c.Before.Target}
	told := sdk.FileChange{Path: c.Path, Before: c.After, After: c.Before}
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
		if cur != nil {
			again := sdk.SpliceOf(after, text)
			told.Undo = &again
		}
	}
	p.overlay.set(c.Path, before)
	p.do(op{path: c.Path, from: c.After, to: before}, told)
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
func (p *planner) remove(c sdk.FileChange, cur *node) error {
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
	told := sdk.FileChange{Path: c.Path, Before: &sdk.FileState{Kind: cur.kind, Mode: uint32(cur.mode), Hash: cur.hash, Target: cur.target}}
	if cur.kind == "file" {
		told.Undo = &sdk.Splice{Removed: []byte(cur.text)}
	}
	p.overlay.set(c.Path, nil)
	p.do(op{path: c.Path, from: c.After}, told)
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
	for _, t := range p.tracks {
		switch {
		case t.was == c.From || strings.HasPrefix(t.was, c.From+"/"):
			t.was = "" // nothing is there yet: what comes there now is something else
		case t.was == c.Path || strings.HasPrefix(t.was, c.Path+"/"):
			t.was = c.From + strings.TrimPrefix(t.was, c.Path)
		}
	}
	p.do(op{path: c.Path, rename: c.From, from: c.After}, sdk.FileChange{Path: c.From, From: c.Path, After: c.After})
	return "", nil
}
