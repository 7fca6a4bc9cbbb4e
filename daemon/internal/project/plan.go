package project

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

const (
	// mostSpliced is the most of a file's contents that is told of in an entry when they are
	// taken back; more lies in the store of replaced contents.
	mostSpliced = 64 << 10
	// mostKept bounds what entries tell so of one taking back together.
	mostKept = 4 << 20
)

// plan takes those of the steps that are chosen back in an overlay. What is touched by
// something that cannot be taken back stays wholly as it is: it is planned again without that.
// What the steps did that are shown is noted on the way; shown may be nil.
func plan(d *disk, steps []Step, chosen func(Step) bool, may func(string, bool) error, shown func(Step) bool) *planner {
	blocked := map[int]string{}
	later := builtUpon(steps, chosen)
	for {
		p := &planner{
			overlay: newOverlay(d), may: may, blocked: blocked, later: later, shown: shown,
			tracks: tracks{was: map[string]*track{}, now: map[string]*track{}},
		}
		for i, s := range slices.Backward(steps) {
			if chosen(s) {
				p.step(i, s)
			}
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

func everything(Step) bool { return true }

// planner takes steps back in its mind, from the last to the first.
type planner struct {
	overlay *overlay
	may     func(path string, removes bool) error
	blocked map[int]string // by the last step of a track: why it stays as it is
	later   map[int]string // by a step: what was done upon it, and stays
	tracks  tracks
	kept    []string
	ops     []op
	bytes   int             // of contents that entries tell
	shown   func(Step) bool // what they did is noted on the way; nil is none
}

// step takes one step back, the ith.
func (p *planner) step(i int, s Step) {
	c := s.FileChange
	t := p.tracks.of(c, i)
	t.turns = append(t.turns, s.Turn)
	t.show(p, s)
	if t.blocked == "" && t.step == i {
		t.blocked = p.blocked[i]
	}
	if t.blocked == "" {
		t.blocked = cmp.Or(usable(c), p.later[i])
	}
	if t.blocked == "" {
		t.blocked = p.takeBack(t, c)
	}
	t.showBefore(p, s)
}

// builtUpon says of steps that are chosen which later one, that is not, has to do with
// their paths; what is in the way of one is in the way of those before it, too. A folder that
// was made stays when later ones put something in it, which is no conflict.
func builtUpon(steps []Step, chosen func(Step) bool) map[int]string {
	on := map[string]Step{}    // by path: what was done there later
	below := map[string]Step{} // and in a folder
	found := map[int]string{}
	for i, s := range slices.Backward(steps) {
		x, stays := s, !chosen(s)
		if !stays {
			if x, stays = upon(s, on, below); !stays {
				continue
			}
			found[i] = fmt.Sprintf("turn %d changed %s after it (%s)", x.Turn, x.Path, x.Action)
		}
		for _, at := range s.paths() {
			on[at] = x
			for dir := path.Dir(at); dir != "." && dir != "/"; dir = path.Dir(dir) {
				below[dir] = x
			}
		}
	}
	return found
}

// upon is the step that stays and has to do with the paths of an earlier one.
func upon(s Step, on, below map[string]Step) (x Step, is bool) {
	made := s.Before == nil && s.From == "" && s.After != nil && s.After.Kind == "directory"
	for _, at := range s.paths() {
		if x, is = on[at]; is {
			return x, true
		}
		for dir := path.Dir(at); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if x, is = on[dir]; is && !moded(x.FileChange) {
				return x, true
			}
		}
		if x, is = below[at]; is && !made {
			return x, true
		}
	}
	return x, false
}

// paths are the one or two that a step has to do with.
func (s Step) paths() []string {
	if s.From != "" {
		return []string{s.Path, s.From}
	}
	return []string{s.Path}
}

// usable says why a change cannot be one of the project's files; "" is that it
// can. A tool may tell of anything.
func usable(c sdk.FileChange) string {
	if err := c.Check(); err != nil {
		return "what its tool told of it cannot be: " + err.Error()
	}
	return ""
}

// moded reports whether a change gives something another mode.
func moded(c sdk.FileChange) bool {
	return c.Before != nil && c.After != nil && c.Before.Kind == c.After.Kind && c.Before.Mode != 0 && c.After.Mode != 0 && c.Before.Mode != c.After.Mode
}

// compared are how it was and how it is as something is compared with them: with the
// mode only where the change is one of the mode. The mode that a person gave a file
// since is no concern of what changed its contents.
func compared(c sdk.FileChange) (before, after *sdk.FileState) {
	if moded(c) {
		return c.Before, c.After
	}
	return modeless(c.Before), modeless(c.After)
}

func modeless(s *sdk.FileState) *sdk.FileState {
	if s == nil {
		return nil
	}
	s = new(*s)
	s.Mode = 0
	return s
}

// takeBack takes one change back in the overlay. It returns why that cannot be.
func (p *planner) takeBack(t *track, c sdk.FileChange) (conflict string) {
	for _, at := range []string{c.Path, cmp.Or(c.From, c.Path)} {
		if err := p.may(at, at == c.Path && c.Before == nil); err != nil {
			return err.Error()
		}
	}
	cur := p.overlay.look(c.Path)
	before, after := compared(c)
	if c.From != "" && c.Lost != "" {
		return "where it was before is not known: " + c.Lost
	}
	if c.From != "" {
		return p.moveBack(t, c, cur)
	}
	switch {
	case cur.is(after):
	case cur.is(before): // it is so already
		p.do(t, op{path: c.Path, from: before, already: true, told: sdk.FileChange{Path: c.Path, Before: c.After, After: c.Before}})
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
	switch {
	case c.Lost != "":
		return "what it was before is not known: " + c.Lost
	case c.Before == nil:
		return p.remove(t, c, cur)
	default:
		return p.restore(t, c, after, cur)
	}
}

// restore gives back what was at a path, which is cur now and has to be after.
func (p *planner) restore(t *track, c sdk.FileChange, after *sdk.FileState, cur *node) (conflict string) {
	if cur == nil {
		if above := p.above(c.Path); above != "" {
			return above
		}
	} else if cur.kind != c.Before.Kind && (cur.kind == "directory" || c.Before.Kind == "directory") {
		return "it was a " + c.Before.Kind + " before"
	}
	before, conflict := p.before(c, cur)
	if conflict != "" {
		return conflict
	}
	told := sdk.FileChange{Path: c.Path, Before: cur.state(), After: before.state()}
	if cur != nil && cur.kind == "file" && (before.kind != "file" || cur.hash != before.hash) {
		p.keep(&told, cur, before)
	}
	p.overlay.set(c.Path, before)
	p.do(t, op{path: c.Path, from: after, to: before, told: told})
	return ""
}

// before is what was at a path before a change.
func (p *planner) before(c sdk.FileChange, cur *node) (before *node, conflict string) {
	before = &node{kind: c.Before.Kind, mode: fs.FileMode(c.Before.Mode).Perm(), target: c.Before.Target}
	same := cur != nil && cur.kind == before.kind
	if same && before.kind != "link" && !moded(c) {
		before.mode = cur.mode
	}
	switch {
	case before.kind == "directory" && same:
		before.origin = cur.origin // with all that is in it
	case before.kind != "file":
	case same && c.Before.Hash == cur.hash:
		kept := *cur
		kept.mode = before.mode
		return &kept, ""
	case c.Kept != "":
		if !p.overlay.kept.Has(c.Kept) {
			return nil, "what it held before is not kept any more"
		}
		before.hash, before.kept = c.Kept, c.Kept
	case c.Undo == nil:
		return nil, errMisfit.Error()
	default:
		if same {
			before.of = cur
		}
		before.hash, before.undo = c.Before.Hash, c.Undo
		text, err := p.overlay.text(before)
		if err == nil && sum(text) != before.hash {
			err = errMisfit
		}
		if err != nil {
			return nil, reason(err)
		}
	}
	if before.kind == "file" {
		before.mode = cmp.Or(before.mode, 0o644) // a tool need not know the mode
	}
	return before, ""
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
	told := sdk.FileChange{Path: c.Path, Before: cur.state()}
	if cur.kind == "file" {
		p.keep(&told, cur, nil)
	}
	p.overlay.set(c.Path, nil)
	p.do(t, op{path: c.Path, from: modeless(c.After), told: told})
	return ""
}

// keep has the contents of cur kept, which give way to those of another file or to
// none: as a splice when that is short, else in the store.
func (p *planner) keep(told *sdk.FileChange, cur, to *node) {
	told.Kept = cur.hash
	if to != nil && to.kind != "file" {
		to = nil
	}
	if to == nil && cur.size > mostSpliced || to != nil && to.undo == nil {
		return // it is not worth the reading
	}
	now, err := p.overlay.text(cur)
	if err != nil {
		return
	}
	then, err := p.overlay.text(to)
	if err != nil {
		return
	}
	s := sdk.SpliceOf(now, then)
	if len(s.Removed) > mostSpliced || p.bytes+len(s.Removed) > mostKept {
		return
	}
	p.bytes += len(s.Removed)
	told.Kept, told.Undo = "", &s
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
	if n := len(p.ops); n > 0 && !o.already && !p.ops[n-1].already && inverse(p.ops[n-1].told, o.told, true) {
		p.ops = p.ops[:n-1]
		return
	}
	p.ops = append(p.ops, o)
}
