package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"unicode/utf8"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// spliced is how much of one file's former contents a change tells of itself, and
// splicedAll of one command; what is more is kept in the store.
const (
	spliced    = 16 << 10
	splicedAll = 512 << 10
)

// changes turns what one command changed into what the daemon is told, with what
// it takes to take it back.
type changes struct {
	project string
	batch   *kept.Batch
	list    []sdk.FileChange
	spliced int
}

// tell adds what a command changed to its result.
func tell(result *sdk.ToolResult, changed []sandbox.Change, project string, store kept.Store) error {
	if len(changed) == 0 {
		return nil
	}
	c := &changes{project: project, batch: store.Begin()}
	for _, x := range changed {
		c.change(x)
	}
	if len(c.list) <= sdk.MostChanges {
		result.Changes = c.list
		return c.batch.End()
	}
	text, err := json.Marshal(c.list)
	if err != nil {
		return errors.Join(err, c.batch.End())
	}
	result.ChangesKept, _, err = c.batch.Put(bytes.NewReader(text))
	return errors.Join(err, c.batch.End())
}

// change tells of one path. What took the place of something of another kind went
// before it came.
func (c *changes) change(x sandbox.Change) {
	at := filepath.Join(c.project, filepath.FromSlash(x.Path))
	switch {
	case x.Was.Kind == sandbox.NodeDirectory && x.Is.Kind == sandbox.NodeDirectory && x.Old == "":
		c.add(sdk.FileChange{Path: x.Path, Before: &sdk.FileState{Kind: "directory", Mode: x.Was.Mode}, After: &sdk.FileState{Kind: "directory", Mode: x.Is.Mode}})
	case x.Was.Kind != "" && x.Is.Kind != "" && x.Was.Kind != sandbox.NodeDirectory && x.Is.Kind != sandbox.NodeDirectory:
		c.replaced(x.Path, x.Old, at)
	default:
		if x.Was.Kind != "" {
			c.gone(x.Path, x.Old)
		}
		if x.Is.Kind != "" {
			c.made(x.Path, at)
		}
	}
}

// replaced tells of a file or link with other contents, or another mode.
func (c *changes) replaced(name, old, now string) {
	before, text, lost := stateOf(old)
	after, newText, lostNow := stateOf(now)
	if lost == "" {
		lost = lostNow
	}
	if lost == "" && before == after {
		return // written as it was
	}
	x := sdk.FileChange{Path: name, Before: &before, After: &after, Lost: lost}
	if lost == "" && before.Kind == "file" {
		c.keep(&x, old, text, newText, after.Hash)
	}
	c.add(x)
}

// keep keeps the contents before: in the change itself, or in the store.
func (c *changes) keep(x *sdk.FileChange, old string, before, after []byte, afterHash string) {
	if before != nil && (after != nil || afterHash == "") {
		s := sdk.SpliceOf(string(before), string(after))
		if len(s.Removed) <= spliced && c.spliced+len(s.Removed) <= splicedAll {
			c.spliced += len(s.Removed)
			x.Undo = &s
			return
		}
	}
	f, err := os.Open(old)
	if err != nil {
		x.Lost = "it could not be read"
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	digest, _, err := c.batch.Put(f)
	switch {
	case err != nil:
		x.Lost = "it could not be kept: " + err.Error()
	case digest != x.Before.Hash:
		x.Lost = "it changed while it was being kept"
	default:
		x.Kept = digest
	}
}

// gone tells that something is no longer at a path: of a folder, what was in it first.
func (c *changes) gone(name, old string) {
	c.below(name, old, true, func(name, old string) {
		before, text, lost := stateOf(old)
		x := sdk.FileChange{Path: name, Before: &before, Lost: lost}
		if before.Kind == "file" && lost == "" {
			c.keep(&x, old, text, nil, "")
		}
		c.add(x)
	})
}

// made tells what is new at a path: of a folder, what is in it after it.
func (c *changes) made(name, at string) {
	c.below(name, at, false, func(name, at string) {
		after, _, lost := stateOf(at)
		if after.Kind != "" {
			c.add(sdk.FileChange{Path: name, After: &after, Lost: lost})
		}
	})
}

// below goes through a path and what lies below it, a folder before or after that.
func (c *changes) below(name, at string, after bool, each func(name, at string)) {
	info, err := os.Lstat(at)
	if err != nil || !info.IsDir() {
		each(name, at)
		return
	}
	if !after {
		each(name, at)
	}
	entries, _ := os.ReadDir(at) // what cannot be listed is told of as it is
	for _, e := range entries {
		c.below(path.Join(name, e.Name()), filepath.Join(at, e.Name()), after, each)
	}
	if after {
		each(name, at)
	}
}

func (c *changes) add(x sdk.FileChange) {
	names := x.Path
	for _, s := range []*sdk.FileState{x.Before, x.After} {
		if s != nil {
			names += s.Target
		}
	}
	if !utf8.ValidString(names) {
		x.Undo, x.Kept, x.Lost = nil, "", "its name is not UTF-8"
	}
	c.list = append(c.list, x)
}

// stateOf reads what lies at a path of the host, with the contents of a small file.
func stateOf(at string) (state sdk.FileState, text []byte, lost string) {
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return state, nil, "it is not there any more"
	case err != nil:
		return state, nil, "it could not be looked at"
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return sdk.FileState{Kind: "directory", Mode: uint32(mode.Perm())}, nil, ""
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(at)
		if err != nil {
			lost = "where it leads could not be read"
		}
		return sdk.FileState{Kind: "link", Target: target}, nil, lost
	case !mode.IsRegular():
		return state, nil, "it was neither a file, a folder nor a link"
	}
	state = sdk.FileState{Kind: "file", Mode: uint32(info.Mode().Perm())}
	f, err := os.Open(at)
	if err != nil {
		return state, nil, "it could not be read"
	}
	defer func() { _ = f.Close() }() // it was only read
	sum := sha256.New()
	if info.Size() <= splicedAll {
		if text, err = io.ReadAll(f); err == nil {
			sum.Write(text)
		}
	} else {
		_, err = io.Copy(sum, f)
	}
	if err != nil {
		return state, nil, "it could not be read"
	}
	state.Hash = hex.EncodeToString(sum.Sum(nil))
	return state, text, ""
}
