package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// plan is what a call would do to the files of the project, worked out without
// doing any of it.
type plan struct {
	states  []pathState // all that it touches or stands on, as that is now; what the call names comes first
	results []string    // hashes of the contents that would be written
	changes int         // how many things would be other than they are
	patch   patch
}

// The base of a plan is one hash that decides, and after it a few short ones
// that can only say which file made it differ.
const (
	partLength = 8 // hex digits
	mostParts  = 64
)

// base stands for the state that a plan is against, and for what it would make
// of it.
func (pl *plan) base() string {
	sum := sha256.New()
	for _, s := range pl.states {
		fmt.Fprintf(sum, "%q %s\n", s.path, s.state())
	}
	for _, result := range pl.results {
		fmt.Fprintf(sum, "makes %s\n", result)
	}
	base := hex.EncodeToString(sum.Sum(nil)) + ":"
	for _, s := range pl.states[:min(len(pl.states), mostParts)] {
		base += part(s.path) + part(s.state())
	}
	return base
}

func part(text string) string { return hashOf(text)[:partLength] }

// differs names what is not as it was when base was made.
func (pl *plan) differs(base string) string {
	_, parts, _ := strings.Cut(base, ":")
	was := map[string]string{}
	for len(parts) >= 2*partLength {
		was[parts[:partLength]] = parts[partLength : 2*partLength]
		parts = parts[2*partLength:]
	}
	for _, s := range pl.states {
		state, known := was[part(s.path)]
		if known && state != part(s.state()) || !known && len(was) > 0 && len(was) < mostParts {
			return shown(s.path)
		}
	}
	if pl.states[0].kind == "directory" {
		return "something in " + shown(pl.states[0].path)
	}
	return "something around " + shown(pl.states[0].path)
}

// agree holds a plan against the one that a person agreed to. One that would
// change nothing any more is no conflict: it was done, and is only asked for
// again because its answer was lost.
func (p *project) agree(now *plan, base string) error {
	if now.base() != base && now.changes > 0 {
		return changedSince(now.differs(base))
	}
	p.agreed = now
	return nil
}

func changedSince(at string) error {
	return sdk.Errorf(sdk.Conflict, "%s changed since the call was shown to the person who agreed to it; nothing was done: look at it again, and make the call anew", at)
}

// holds reports whether a file has the contents that it had when the plan was
// made; one that was not read then is told by its version.
func (pl *plan) holds(at, sum string) bool {
	return slices.ContainsFunc(pl.states, func(s pathState) bool { return s.path == at && (s.sum == sum || s.unread != "") })
}

// still makes sure that a place is as it is in the plan that a person agreed
// to, where one was asked. What is below a folder counts.
func (p *project) still(pl *place) error {
	if p.agreed == nil {
		return nil
	}
	var was []pathState
	for _, s := range p.agreed.states {
		if s.path == pl.path || strings.HasPrefix(s.path, pl.path+"/") {
			was = append(was, s)
		}
	}
	now, err := currentVersions(pl)
	if err != nil {
		return err
	}
	same := slices.EqualFunc(was, now, func(a, b pathState) bool { return a.path == b.path && a.kind == b.kind && a.version == b.version })
	if len(was) == 0 || !same {
		return changedSince(shown(pl.path))
	}
	return nil
}

// currentVersions are the states of a place by now, by versions alone.
func currentVersions(pl *place) ([]pathState, error) {
	again := &place{path: pl.path, dir: pl.dir, base: pl.base}
	info, err := pl.dir.Lstat(pl.base)
	switch {
	case err == nil:
		again.info = info
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fault("look at", pl.path, err)
	}
	s := &snapshot{ctx: context.Background(), quick: true} // bounded by what the plan was
	err = s.place(again)
	return s.states, err
}

// makes refuses contents that are not those that were shown.
func (p *project) makes(at, sum string) error {
	if p.agreed == nil || slices.Contains(p.agreed.results, sum) {
		return nil
	}
	return sdk.Errorf(sdk.Conflict, "%s would not become what was shown to the person who agreed to it; nothing was done: look at it again, and make the call anew", shown(at))
}

// folders plans the folders above a place that are missing.
func (pl *plan) folders(absent []string) {
	for _, at := range absent {
		pl.states = append(pl.states, pathState{path: at})
		pl.changes++
		pl.patch.folder("new", at)
	}
}
