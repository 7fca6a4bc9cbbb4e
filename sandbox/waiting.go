package sandbox

import (
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sandbox/frame"
)

// waiting is what waits for an answer when a command's changes are looked at, by path.
type waiting struct {
	all   map[string]heldChange
	paths []string // sorted
}

func newWaiting(h *held) waiting {
	if h == nil {
		return waiting{}
	}
	w := waiting{all: make(map[string]heldChange, len(h.list))}
	for _, c := range h.list {
		w.all[c.Path] = c
		w.paths = append(w.paths, c.Path)
	}
	slices.Sort(w.paths)
	return w
}

// holder is what waits with a path in it: a folder that is new, or in another's place.
func (w waiting) holder(at string) (heldChange, bool) {
	if len(w.all) == 0 {
		return heldChange{}, false
	}
	for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
		if c, ok := w.all[dir]; ok && c.whole() {
			return c, true
		}
	}
	return heldChange{}, false
}

// has says whether a path waits, by itself or in a folder that does.
func (w waiting) has(at string) bool {
	if _, ok := w.all[at]; ok {
		return true
	}
	_, ok := w.holder(at)
	return ok
}

// below are the paths that wait in a folder.
func (w waiting) below(folder string) []string {
	from, _ := slices.BinarySearch(w.paths, folder+"/")
	to := from
	for to < len(w.paths) && strings.HasPrefix(w.paths[to], folder+"/") {
		to++
	}
	return w.paths[from:to]
}

// stillAsked has a change of what waits wait too, whatever is ruled of it: what nobody
// agreed to is in it.
func (w waiting) stillAsked(changes []frame.ViewChange, rulings []Ruling) []Ruling {
	for i, c := range changes {
		if len(w.all) == 0 || rulings[i].Class != Free {
			continue
		}
		waits, asked := w.all[c.Path]
		if h, ok := w.holder(c.Path); ok {
			waits, asked = h, true
		}
		if asked {
			rulings[i] = Ruling{Class: Asked, Reason: waits.Reason}
		}
	}
	return rulings
}
