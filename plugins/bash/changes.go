package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
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
	// unkept is where on the host lies what was there before, and could not be kept.
	unkept []string
}

// tell adds what a command changed to its result. What lies at the paths unkept, or
// anything that changed where there is an error, is kept nowhere else.
func tell(result *sdk.ToolResult, changed []sandbox.Change, project string, store kept.Store) (unkept []string, err error) {
	if len(changed) == 0 {
		return nil, nil
	}
	c := &changes{project: project, batch: store.Begin()}
	for _, x := range changed {
		c.change(x)
	}
	if len(c.list) <= sdk.MostChanges {
		result.Changes = c.list
		return c.unkept, c.batch.End()
	}
	text, err := json.Marshal(c.list)
	if err != nil {
		return c.unkept, errors.Join(err, c.batch.End())
	}
	result.ChangesKept, _, err = c.batch.Put(bytes.NewReader(text))
	return c.unkept, errors.Join(err, c.batch.End())
}

// change tells of one path. What took the place of something of another kind went
// before it came.
func (c *changes) change(x sandbox.Change) {
	at := filepath.Join(c.project, filepath.FromSlash(x.Path))
	if x.Old != "" {
		defer reach(x.Old)()
	}
	if x.Now != "" {
		at = x.Now
		defer reach(x.Now)()
	}
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

// replaced tells of a file or link with other contents, or another mode. What it was is
// kept also where nobody may read what it is.
func (c *changes) replaced(name, old, now string) {
	before, text, lost := stateOf(old, openOld)
	after, newText, unknown := stateOf(now, os.Open)
	if lost == "" && unknown == "" && before == after {
		return // written as it was
	}
	x := sdk.FileChange{Path: name, Before: &before, After: &after, Lost: lost}
	if after.Kind == "" {
		x.Lost = cmp.Or(lost, unknown)
	}
	if unknown != "" {
		text = nil // a splice fits only what is known
	}
	c.before(&x, old, lost, text, newText)
	c.add(x)
}

// before keeps what was there before, unless that is lost.
func (c *changes) before(x *sdk.FileChange, old, lost string, text, newText []byte) {
	switch {
	case lost == unseen, lost != "" && x.Before.Kind != "":
		c.stays(x, old, lost)
	case lost == "" && x.Before.Kind == "file":
		afterHash := ""
		if x.After != nil {
			afterHash = x.After.Hash
		}
		c.keep(x, old, text, newText, afterHash)
	}
}

// stays tells that what was at a path is kept nowhere but where it lies now.
func (c *changes) stays(x *sdk.FileChange, old, why string) {
	x.Lost = why + "; it lies in " + old
	c.unkept = append(c.unkept, old)
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
	f, err := openOld(old)
	if err != nil {
		c.stays(x, old, unread)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	digest, _, err := c.batch.Put(f)
	switch {
	case err != nil:
		c.stays(x, old, "it could not be kept: "+err.Error())
	case digest != x.Before.Hash:
		c.stays(x, old, "it changed while it was being kept")
	default:
		x.Kept = digest
	}
}

// gone tells that something is no longer at a path: of a folder, what was in it first.
func (c *changes) gone(name, old string) {
	unlisted := ""
	if info, err := os.Lstat(old); err == nil && info.IsDir() {
		giveBack := grant(old, info, 0o500)
		entries, err := os.ReadDir(old)
		if err != nil {
			unlisted = "what was in it could not be listed"
		}
		for _, e := range entries {
			c.gone(path.Join(name, e.Name()), filepath.Join(old, e.Name()))
		}
		giveBack()
	}
	before, text, lost := stateOf(old, openOld)
	lost = cmp.Or(lost, unlisted)
	x := sdk.FileChange{Path: name, Before: &before, Lost: lost}
	c.before(&x, old, lost, text, nil)
	c.add(x)
}

// made tells what is new at a path: of a folder, what is in it after it.
func (c *changes) made(name, at string) {
	after, _, lost := stateOf(at, os.Open)
	if after.Kind != "directory" {
		if after.Kind != "" {
			c.add(sdk.FileChange{Path: name, After: &after, Lost: lost})
		}
		return
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		lost = "what is in it could not be listed"
	}
	c.add(sdk.FileChange{Path: name, After: &after, Lost: lost})
	for _, e := range entries {
		c.made(path.Join(name, e.Name()), filepath.Join(at, e.Name()))
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

// Why the state of something is not known.
const (
	unseen = "it could not be looked at"
	unread = "it could not be read"
)

// stateOf reads what lies at a path of the host, with the contents of a small file.
func stateOf(at string, open func(string) (*os.File, error)) (state sdk.FileState, text []byte, lost string) {
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return state, nil, "it is not there any more"
	case err != nil:
		return state, nil, unseen
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
	f, err := open(at)
	if err != nil {
		return state, nil, unread
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
		return state, nil, unread
	}
	state.Hash = hex.EncodeToString(sum.Sum(nil))
	return state, text, ""
}

// openOld opens a file that a command replaced or removed, also one that its mode closes
// to its owner.
func openOld(at string) (*os.File, error) {
	f, err := os.Open(at)
	if !errors.Is(err, fs.ErrPermission) {
		return f, err
	}
	info, err := os.Lstat(at)
	if err != nil {
		return nil, err
	}
	defer grant(at, info, 0o400)()
	return os.Open(at)
}

// reach lets the owner through the folders above something that a command replaced,
// which are the command's own copies of those of the project, until giveBack.
func reach(old string) (giveBack func()) {
	if _, err := os.Lstat(old); !errors.Is(err, fs.ErrPermission) || filepath.Dir(old) == old {
		return func() {}
	}
	dir := filepath.Dir(old)
	above := reach(dir)
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return above
	}
	here := grant(dir, info, 0o100)
	return func() {
		here()
		above()
	}
}

// grant gives the owner of a file or folder the bits of its mode that are missing, until
// giveBack. A file that has another name keeps its mode: the project may have that name.
func grant(at string, info fs.FileInfo, bits fs.FileMode) (giveBack func()) {
	st, known := info.Sys().(*syscall.Stat_t)
	shared := info.Mode().IsRegular() && (!known || st.Nlink > 1)
	if shared || info.Mode().Perm()&bits == bits || os.Chmod(at, info.Mode()|bits) != nil {
		return func() {}
	}
	return func() { _ = os.Chmod(at, info.Mode()) } // nothing reads it any more
}
