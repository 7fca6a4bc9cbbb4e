package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// The limits on what one call keeps so that it can be taken back.
const (
	mostKept    = 4 << 20 // bytes of contents
	mostChanges = 2000
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
		if x.Lost == "" {
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
	if before.kind == "file" && x.Lost == "" {
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
	case s.kind == "link", s.kind == "directory", s.body != nil:
		return ""
	case s.kind == "file":
		return "it was " + sized(s.size) + ", and at most " + sized(mostKept) + " are kept of one call"
	}
	return "it was a " + s.kind
}

// keep reads what is at a place, and nothing below it; nil when nothing is there.
func (pl *place) keep(ctx context.Context) (*pathState, error) {
	if pl.info == nil {
		return nil, nil
	}
	s := &snapshot{ctx: ctx, shallow: true, loose: true, keep: mostKept, left: mostKept}
	if err := s.place(pl); err != nil {
		return nil, err
	}
	return &s.states[0], nil
}

// keepTree reads a whole folder, so that its deletion can be taken back: what
// is in it comes before it. When it holds too much, only the folder is told of.
func (pl *place) keepTree(ctx context.Context) []sdk.FileChange {
	s := &snapshot{ctx: ctx, after: true, loose: true, most: mostChanges, keep: mostKept, left: mostKept}
	err := s.place(pl)
	lost := "it could not be read whole"
	if sdk.OutcomeOf(err) == sdk.Overflow {
		lost = "it held more than " + plural(mostChanges, "file")
	} else if err == nil {
		lost = lostIn(s.states)
	}
	var c changes
	if lost == "" {
		for _, x := range s.states[:len(s.states)-1] {
			c.gone(x)
		}
	}
	c.add(sdk.FileChange{Path: pl.path, Before: &sdk.FileState{Kind: "directory", Mode: uint32(pl.info.Mode().Perm())}, Lost: lost})
	return c.list
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
