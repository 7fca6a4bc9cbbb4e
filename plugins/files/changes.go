package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// The limits on what one call keeps so that it can be taken back.
const (
	mostKept    = 4 << 20 // bytes of contents that its result has in it
	mostStored  = 1 << 30 // bytes of all, where the others lie in the store of replaced contents
	mostChanges = 20_000
)

// changes is what one call changed, as the host is told of it.
type changes struct {
	list []sdk.FileChange
	kept int
}

func (c *changes) add(x sdk.FileChange) {
	if !tellable(x) {
		x.Undo, x.Lost = nil, "its name is not UTF-8"
	}
	if x.Undo != nil {
		if c.kept += len(x.Undo.Removed); c.kept > mostKept {
			x.Undo, x.Lost = nil, "more than "+sized(mostKept)+" would have had to be kept"
		}
	}
	c.list = append(c.list, x)
}

// tellable reports whether the names in a change get through to the daemon.
func tellable(x sdk.FileChange) bool {
	names := x.Path + x.From
	if x.Before != nil {
		names += x.Before.Target
	}
	return utf8.ValidString(names)
}

// made notes a new folder.
func (c *changes) made(at string) {
	c.add(sdk.FileChange{Path: at, After: &sdk.FileState{Kind: "directory"}})
}

// wrote notes new contents of a file.
func (c *changes) wrote(at string, before *pathState, after string) {
	x := sdk.FileChange{Path: at, After: &sdk.FileState{Kind: "file", Hash: hashOf(after)}}
	if before != nil {
		x.Before, x.Lost = before.told(), before.lost()
		if x.Lost == "" && before.kept {
			if before.sum == x.After.Hash {
				return
			}
			x.Kept = before.sum
		} else if x.Lost == "" {
			text := string(before.body)
			if text == after {
				return
			}
			s := sdk.SpliceOf(text, after)
			x.Undo = &s
		}
	}
	c.add(x)
}

// gone notes that something is no longer at a path.
func (c *changes) gone(before pathState) {
	x := sdk.FileChange{Path: before.path, Before: before.told(), Lost: before.lost()}
	if x.Lost == "" && before.kept {
		x.Kept = before.sum
	} else if before.kind == "file" && x.Lost == "" {
		x.Undo = &sdk.Splice{Removed: before.body}
	}
	c.add(x)
}

// told is the state as the host is told of it.
func (s pathState) told() *sdk.FileState {
	return &sdk.FileState{Kind: s.kind, Mode: uint32(s.mode), Hash: s.sum, Target: s.target}
}

// lost is why what was there cannot be brought back, when it cannot.
func (s pathState) lost() string {
	switch {
	case s.unread == notAllowed:
		return "it could not be read"
	case s.kind == "link", s.kind == "directory", s.body != nil, s.kept:
		return ""
	case s.kind == "file":
		return "it was " + sized(s.size) + ", and no more than " + s.most + " are kept of one call"
	}
	return "it was a " + s.kind
}

// keep reads what is at a place, and nothing below it; nil when nothing is there. What is
// long goes into the store.
func (pl *place) keep(ctx context.Context, store kept.Store) (*pathState, error) {
	if pl.info == nil {
		return nil, nil
	}
	states, err := pl.kept(snapshot{ctx: ctx, shallow: true, loose: true}, store)
	if err != nil {
		return nil, err
	}
	return &states[0], nil
}

// kept are the states of a place with their contents. What cannot be put into the
// store is not kept; nothing fails because of that.
func (pl *place) kept(s snapshot, store kept.Store) ([]pathState, error) {
	if store.Dir != "" {
		with := s
		with.keep, with.left, with.store = mostKept, mostStored, store.Begin()
		err := with.place(pl)
		if ended := with.store.End(); ended == nil && !with.refused {
			return with.states, err
		}
	}
	s.keep, s.left = mostKept, mostKept
	err := s.place(pl)
	return s.states, err
}

// keepTree reads a whole folder, so that its deletion can be taken back: what
// is in it comes before it. When it holds too much, only the folder is told of.
func (pl *place) keepTree(ctx context.Context, store kept.Store) []sdk.FileChange {
	states, err := pl.kept(snapshot{ctx: ctx, after: true, loose: true, most: mostChanges}, store)
	lost := "it could not be read whole"
	if sdk.OutcomeOf(err) == sdk.Overflow {
		lost = "it held more than " + plural(mostChanges, "file")
	} else if err == nil {
		lost = lostIn(states)
	}
	var c changes
	if lost == "" {
		for _, x := range states[:len(states)-1] {
			c.gone(x)
		}
	}
	c.add(sdk.FileChange{Path: pl.path, Before: &sdk.FileState{Kind: "directory", Mode: uint32(pl.info.Mode().Perm())}, Lost: lost})
	return c.list
}

// tell has a result tell of the changes: of many where their list is kept.
func (c *changes) tell(r *sdk.ToolResult, store kept.Store) {
	if len(c.list) > sdk.MostChanges && store.Dir != "" {
		text, err := json.Marshal(c.list)
		if err == nil {
			r.ChangesKept, _, err = store.Put(bytes.NewReader(text))
		}
		if err == nil {
			return
		}
	}
	r.Changes = c.list
}

// lostIn is why the first of the states in a folder that cannot be brought back
// cannot.
func lostIn(states []pathState) string {
	for _, s := range states {
		switch why := s.lost(); {
		case !utf8.ValidString(s.path):
			return "the name of " + shown(s.path) + " in it is not UTF-8"
		case !utf8.ValidString(s.target):
			return shown(s.path) + " in it: where it leads is not UTF-8"
		case why != "":
			return shown(s.path) + " in it: " + why
		}
	}
	return ""
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
