package project

import (
	"cmp"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// mostKept bounds the contents that are kept of what is taken back.
const mostKept = 4 << 20

// plan takes all steps back in an overlay. What is touched by something that
// cannot be taken back stays wholly as it is: it is planned again without that.
func plan(dir *os.Root, steps []Step, may func(string) error) *planner {
	blocked := map[int]string{}
	for {
		p := &planner{
			overlay: newOverlay(dir), may: may, blocked: blocked,
			tracks: tracks{was: map[string]*track{}, now: map[string]*track{}},
		}
		for i, s := range slices.Backward(steps) {
			p.step(i, s)
		}
		again := false
		for _, t := range p.tracks.all {
			if t.blocked != "" && t.acted {
				blocked[t.step], again = t.blocked, true
			}
		}
		if !again {
			return p
		}
	}
}

// planner takes steps back in its mind, from the last to the first.
type planner struct {
	overlay *overlay
	may     func(path string) error
	blocked map[int]string // by the last step of a track: why it stays as it is
	tracks  tracks
	kept    []string
	ops     []op
	bytes   int // of contents that are kept of what is taken back
}

// step takes one step back, the ith.
func (p *planner) step(i int, s Step) {
	c := s.FileChange
	t := p.tracks.of(c, i)
	t.turns = append(t.turns, s.Turn)
	if t.blocked == "" && t.step == i {
		t.blocked = p.blocked[i]
	}
	if t.blocked != "" {
		return
	}
	if t.blocked = usable(c); t.blocked == "" {
		t.blocked = p.takeBack(t, c)
	}
}

// usable says why a change cannot be one of the project's files; "" is that it
// can. A tool may tell of anything.
func usable(c sdk.FileChange) string {
	if err := c.Check(); err != nil {
		return "what its tool told of it cannot be: " + err.Error()
	}
	return ""
}

// takeBack takes one change back in the overlay. It returns why that cannot be.
func (p *planner) takeBack(t *track, c sdk.FileChange) (conflict string) {
	for _, at := range []string{c.Path, cmp.Or(c.From, c.Path)} {
		if err := p.may(at); err != nil {
			return err.Error()
		}
	}
	cur := p.overlay.look(c.Path)
	if c.From != "" && c.Lost != "" {
		return "where it was before is not known: " + c.Lost
	}
	if c.From != "" {
		return p.moveBack(t, c, cur)
	}
	switch {
	case cur.is(c.After):
	case cur.is(c.Before): // it is so already
		p.do(t, op{path: c.Path, from: c.Before, already: true, told: sdk.FileChange{Path: c.Path, Before: c.After, After: c.Before}})
		return ""
	case cur == nil:
		return "it is not there any more"
	case cur.lost != "":
		return "whether something else changed it since is not known: " + cur.lost
	case c.After == nil:
		return "something else is there now"
	default:
		return "something else changed it since"
	}
	if c.Lost != "" {
		return "what it was before is not known: " + c.Lost
	}
	if c.Before == nil {
		return p.remove(t, c, cur)
	}
	return p.restore(t, c, cur)
}

// restore gives back what was at a path, which is cur now.
func (p *planner) restore(t *track, c sdk.FileChange, cur *node) (conflict string) {
	if cur == nil {
		if above := p.above(c.Path); above != "" {
			return above
		}
	} else if cur.kind != "file" || c.Before.Kind != "file" {
		return "it was a " + c.Before.Kind + " before"
	}
	before := &node{kind: c.Before.Kind, mode: os.FileMode(c.Before.Mode).Perm(), target: c.Before.Target}
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
			return "what was kept of it does not fit"
		}
		before.text, before.hash = text, c.Before.Hash
		if cur != nil {
			p.keep(&told, sdk.SpliceOf(after, text))
		}
	}
	p.overlay.set(c.Path, before)
	p.do(t, op{path: c.Path, from: c.After, to: before, told: told})
	return ""
}

// above says why nothing can be put at a path: its folder is gone.
func (p *planner) above(at string) string {
	dir := path.Dir(at)
	if dir == "." {
		return ""
	}
	if n := p.overlay.look(dir); n == nil || n.kind != "directory" {
		return "the folder " + dir + " is not there any more"
	}
	return ""
}

// remove takes back that something was made. A folder stays when something
// else is in it.
func (p *planner) remove(t *track, c sdk.FileChange, cur *node) (conflict string) {
	if c.After.Kind == "directory" {
		names, err := p.overlay.names(c.Path)
		if err != nil {
			return "what is in it is not known: " + err.Error()
		}
		if len(names) > 0 {
			p.kept = append(p.kept, c.Path)
			return ""
		}
	}
	told := sdk.FileChange{Path: c.Path, Before: &sdk.FileState{Kind: cur.kind, Mode: uint32(cur.mode), Hash: cur.hash, Target: cur.target}}
	if cur.kind == "file" {
		p.keep(&told, sdk.Splice{Removed: []byte(cur.text)})
	}
	p.overlay.set(c.Path, nil)
	p.do(t, op{path: c.Path, from: c.After, told: told})
	return ""
}

// keep keeps the contents that are taken back, as long as there are not too many.
func (p *planner) keep(told *sdk.FileChange, s sdk.Splice) {
	if p.bytes += len(s.Removed); p.bytes > mostKept {
		told.Lost = "it was taken back, and too much was for all of it to be kept"
		return
	}
	told.Undo = &s
}

func (p *planner) moveBack(t *track, c sdk.FileChange, cur *node) (conflict string) {
	source := p.overlay.look(c.From)
	told := sdk.FileChange{Path: c.From, From: c.Path, After: c.After}
	switch {
	case cur == nil && source != nil && source.kind == c.After.Kind: // it is so already
		p.do(t, op{path: c.Path, from: c.After, already: true, told: told})
		return ""
	case cur == nil:
		return "it is not there any more"
	case cur.kind != c.After.Kind:
		return "something else is there now"
	case source != nil:
		return "something else is at " + c.From + " now"
	case strings.HasPrefix(c.From, c.Path+"/"):
		return "it was in a folder that is in it now"
	}
	if above := p.above(c.From); above != "" {
		return above
	}
	p.overlay.move(c.Path, c.From, cur)
	p.tracks.moved(c.Path, c.From)
	p.do(t, op{path: c.Path, rename: c.From, from: c.After, told: told})
	return ""
}

// do notes what is to be done. What would undo the last thing that is to be
// done is left out together with it.
func (p *planner) do(t *track, o op) {
	t.acted = t.acted || !o.already
	if n := len(p.ops); n > 0 && !o.already && !p.ops[n-1].already && inverse(p.ops[n-1].told, o.told) {
		p.ops = p.ops[:n-1]
		return
	}
	p.ops = append(p.ops, o)
}
