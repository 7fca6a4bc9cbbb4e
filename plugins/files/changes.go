package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
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
func (c *changes) wrote(at string, before *kept, after string) {
	x := sdk.FileChange{Path: at, After: &sdk.FileState{Kind: "file", Hash: hashOf(after)}}
	if before != nil {
		if before.lost == "" && before.text == after {
			return
		}
		x.Before, x.Lost = &before.state, before.lost
		if before.lost == "" {
			s := sdk.SpliceOf(before.text, after)
			x.Undo = &s
		}
	}
	c.add(x)
}

// gone notes that something is no longer at a path.
func (c *changes) gone(at string, before *kept) {
	x := sdk.FileChange{Path: at, Before: &before.state, Lost: before.lost}
	if before.state.Kind == "file" && before.lost == "" {
		x.Undo = &sdk.Splice{Removed: []byte(before.text)}
	}
	c.add(x)
}

// kept is what was at a place before it was changed.
type kept struct {
	state sdk.FileState
	text  string      // of a file
	info  fs.FileInfo // of a file that was read
	lost  string      // why text is missing
}

// keep reads what is at a place; nil when nothing is.
func (pl *place) keep() (*kept, error) {
	if pl.info == nil {
		return nil, nil
	}
	return keepAt(pl.dir, pl.base, pl.path, pl.info, mostKept)
}

// keepAt reads what base is in dir, when it is no longer than most.
func keepAt(dir *os.Root, base, at string, info fs.FileInfo, most int) (*kept, error) {
	k := &kept{state: sdk.FileState{Kind: kindOf(info.Mode()), Mode: uint32(info.Mode().Perm())}}
	switch k.state.Kind {
	case "directory":
		return k, nil
	case "link":
		target, err := dir.Readlink(base)
		k.state.Target, k.state.Mode = target, 0
		return k, err
	case "file":
	default:
		k.lost = "it was a " + k.state.Kind
		return k, nil
	}
	if info.Size() > int64(most) {
		k.lost = "it was " + sized(info.Size()) + ", and at most " + sized(mostKept) + " are kept of one call"
		return k, nil
	}
	f, opened, err := openRegular(dir, base, at)
	if errors.Is(err, fs.ErrPermission) {
		k.lost = "it could not be read"
		return k, nil
	}
	if err != nil {
		return nil, sdk.Errorf(sdk.Conflict, "%s changed while it was looked at; nothing was done, try again: %w", shown(at), root(err))
	}
	defer closeRead(f)
	if !os.SameFile(info, opened) { // a link was swapped in
		return nil, changedMeanwhile(at)
	}
	body, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err != nil {
		return nil, fault("read", at, err)
	}
	if len(body) > most {
		k.lost = "it grew while it was read"
		return k, nil
	}
	k.text, k.info = string(body), opened
	k.state.Hash = hashOf(k.text)
	return k, nil
}

// keepTree reads a whole folder, so that its deletion can be taken back: what
// is in it comes before it. When it holds too much, only the folder is told of.
func (pl *place) keepTree() []sdk.FileChange {
	t := &treeKeeper{}
	root, err := pl.open()
	if err == nil {
		err = t.folder(root, pl.path, 0)
		_ = root.Close() // it was only read
	}
	if err != nil && t.lost == "" {
		t.lost = "it could not be read whole"
	}
	if t.lost != "" {
		t.changes = changes{}
	}
	t.changes.gone(pl.path, &kept{state: sdk.FileState{Kind: "directory", Mode: uint32(pl.info.Mode().Perm())}, lost: t.lost})
	return t.changes.list
}

type treeKeeper struct {
	changes changes
	lost    string
}

func (t *treeKeeper) folder(dir *os.Root, at string, depth int) error {
	names, err := readNames(dir)
	if err != nil {
		return err
	}
	for _, found := range names {
		info, err := dir.Lstat(found.Name())
		if err != nil {
			return err
		}
		if len(t.changes.list) >= mostChanges || depth > maxDepth {
			t.lost = "it held more than " + plural(mostChanges, "file")
			return nil
		}
		below := path.Join(at, found.Name())
		if !utf8.ValidString(below) {
			t.lost = "the name of " + shown(below) + " in it is not UTF-8"
			return nil
		}
		if info.IsDir() {
			sub, err := dir.OpenRoot(found.Name() + "/.")
			if err != nil {
				return err
			}
			err = t.folder(sub, below, depth+1)
			_ = sub.Close() // it was only read
			if err != nil || t.lost != "" {
				return err
			}
		}
		k, err := keepAt(dir, found.Name(), below, info, mostKept-min(t.changes.kept, mostKept))
		if err != nil {
			return err
		}
		if !utf8.ValidString(k.state.Target) {
			k.lost = "where it leads is not UTF-8"
		}
		if k.lost != "" {
			t.lost = shown(below) + " in it: " + k.lost
			return nil
		}
		t.changes.gone(below, k)
	}
	return nil
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
