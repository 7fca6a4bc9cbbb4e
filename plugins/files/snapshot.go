package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// mostHashed is how many bytes of files are read to stage one call: a person
// waits for it. What is beyond is known by its size and the time of its last
// change.
const mostHashed = 256 << 20

// notAllowed says why something was not read, as pathState.unread.
const notAllowed = "the system does not allow it"

// pathState is what was at a path when a call was staged.
type pathState struct {
	path    string
	kind    string      // as kindOf says; empty when nothing is there
	mode    fs.FileMode // permission bits; none of a link
	size    int64       // of a file
	sum     string      // of a file: hex SHA-256 of its contents
	target  string      // of a link
	version string      // tells whether it was touched since, without reading it
	unread  string      // why sum is missing; a clause for people

	info   fs.FileInfo // of a file that was read
	body   []byte      // of one that was short enough to be kept
	kept   bool        // its contents lie in the store of replaced contents
	most   string      // how much is kept of one call, when they are not kept
	binary bool        // its contents are not for people
}

// state is all that a person agrees to about a path but its name. What was not
// read is bound by its version.
func (s pathState) state() string {
	if s.unread != "" {
		return fmt.Sprintf("%s %o %d %q", s.kind, s.mode, s.size, s.version)
	}
	return fmt.Sprintf("%s %o %d %q %s", s.kind, s.mode, s.size, s.target, s.sum)
}

// described is a file in a few words, for one that is not shown.
func (s pathState) described() string {
	if s.unread != "" {
		return sized(s.size) + ", not read: " + s.unread
	}
	return sized(s.size) + ", sha256 " + s.sum
}

// snapshot collects the states of files and folders without following links, in the
// order of their names, a folder before what is in it.
type snapshot struct {
	ctx     context.Context
	quick   bool // only versions are wanted
	strict  bool // what cannot be read is an error
	shallow bool // what is in a folder is left out
	after   bool // a folder comes after what is in it
	loose   bool // of a file that is written to meanwhile, what was read counts
	most    int  // files and folders in it; 0 is mostCopied
	keep    int64
	left    int64       // bytes that may still be read
	store   *kept.Batch // takes what is longer than keep; nil: nothing does
	refused bool        // the store took something not
	states  []pathState
}

// statesOf are the states of a place and of all below it. Up to keep bytes of
// contents stay with them.
func statesOf(ctx context.Context, pl *place, keep int64) ([]pathState, error) {
	s := &snapshot{ctx: ctx, keep: keep, left: mostHashed}
	err := s.place(pl)
	return s.states, err
}

func (s *snapshot) place(pl *place) error {
	if pl.info == nil {
		s.states = append(s.states, pathState{path: pl.path})
		return nil
	}
	return s.add(pl.dir, pl.base, pl.path, pl.info, 0)
}

func (s *snapshot) add(dir *os.Root, base, at string, info fs.FileInfo, depth int) error {
	if err := s.ctx.Err(); err != nil {
		return fault("look at", at, err)
	}
	if len(s.states) > cmp.Or(s.most, mostCopied) || depth > maxDepth {
		return sdk.Errorf(sdk.Overflow, "there are more than %d files, or folders deeper than %d, and nobody can be asked about that many; name a folder further down", mostCopied, maxDepth)
	}
	seen := pathState{path: at, kind: kindOf(info.Mode()), mode: info.Mode().Perm(), version: versionOf(info)}
	var err error
	switch seen.kind {
	case "link":
		seen.mode = 0
		seen.target, err = dir.Readlink(base)
	case "directory":
		s.states = append(s.states, seen)
		if s.shallow {
			return nil
		}
		n := len(s.states) - 1
		err = s.folder(dir, base, at, depth)
		if folder := s.states[n]; s.after {
			s.states = append(slices.Delete(s.states, n, n+1), folder)
		}
		return err
	case "file":
		seen.size = info.Size()
		if !s.quick {
			err = s.read(&seen, dir, base, info)
		}
	default:
		if s.strict {
			err = wantRegular(info, at)
		}
	}
	if err != nil {
		return fault("look at", at, err)
	}
	s.states = append(s.states, seen)
	return nil
}

func (s *snapshot) folder(dir *os.Root, base, at string, depth int) error {
	sub, err := dir.OpenRoot(base + "/.")
	if errors.Is(err, fs.ErrPermission) && !s.strict {
		s.states[len(s.states)-1].unread = notAllowed
		return nil
	}
	if err != nil {
		return fault("look at", at, err)
	}
	defer func() { _ = sub.Close() }() // it was only read
	names, err := fs.ReadDir(sub.FS(), ".")
	if err != nil {
		return fault("look at", at, err)
	}
	for _, found := range names {
		info, err := sub.Lstat(found.Name())
		if err != nil {
			return fault("look at", path.Join(at, found.Name()), err)
		}
		if err := s.add(sub, found.Name(), path.Join(at, found.Name()), info, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// read takes in the contents of a file, which must still be the one that was
// looked at.
func (s *snapshot) read(seen *pathState, dir *os.Root, base string, info fs.FileInfo) error {
	if s.store == nil {
		seen.most = sized(mostKept)
	} else {
		seen.most = sized(mostStored)
	}
	if seen.size > s.left {
		seen.unread = "at most " + sized(mostHashed) + " are read of one call"
		return nil
	}
	f, opened, err := openRegular(dir, base, seen.path)
	switch {
	case err != nil && s.strict:
		return err
	case errors.Is(err, fs.ErrPermission):
		seen.unread = notAllowed
		return nil
	case err != nil:
		return sdk.Errorf(sdk.Conflict, "%s changed while it was looked at; nothing was done, try again: %w", shown(seen.path), root(err))
	}
	defer closeRead(f)
	if !os.SameFile(info, opened) { // a link was swapped in
		return changedMeanwhile(seen.path)
	}
	seen.size, seen.version = opened.Size(), versionOf(opened)
	r := bufio.NewReaderSize(&interruptible{s.ctx, f}, sniffed)
	if seen.binary, _, err = looksBinary(r); err != nil {
		return err
	}
	if seen.size > s.keep && s.store != nil {
		return s.stash(seen, r, opened)
	}
	sum := sha256.New()
	var to io.Writer = sum
	body := bytes.NewBuffer([]byte{})
	if seen.size <= s.keep {
		body.Grow(int(seen.size))
		to = io.MultiWriter(sum, body)
	}
	most := seen.size
	if s.loose {
		most = max(most, s.left)
	}
	n, err := io.Copy(to, io.LimitReader(r, most+1))
	if err != nil {
		return err
	}
	if n != seen.size && (!s.loose || n > s.left) {
		return changedMeanwhile(seen.path)
	}
	s.left -= n
	seen.sum, seen.info = hex.EncodeToString(sum.Sum(nil)), opened
	if seen.size <= s.keep {
		s.keep -= n
		seen.body = body.Bytes()
	}
	return nil
}

// stash puts the contents of a file into the store.
func (s *snapshot) stash(seen *pathState, r io.Reader, opened fs.FileInfo) error {
	digest, n, err := s.store.Put(io.LimitReader(r, s.left+1))
	if s.ctx.Err() != nil {
		return err
	}
	if err != nil {
		s.refused = true
		return nil
	}
	if n > s.left {
		return nil // somebody makes it longer all the time
	}
	s.left -= n
	seen.sum, seen.info, seen.kept = digest, opened, true
	return nil
}

func changedMeanwhile(at string) error {
	return sdk.Errorf(sdk.Conflict, "%s changed while it was looked at; nothing was done, try again", shown(at))
}
