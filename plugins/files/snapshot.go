package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/bothyd/bothy/sdk"
)

// mostHashed is how many bytes of files are read to stage one call: a person
// waits for it. What is beyond is known by its size and the time of its last
// change.
const mostHashed = 256 << 20

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

	body   []byte // of a file that was short enough to be kept
	binary bool   // its contents are not for people
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
	ctx    context.Context
	quick  bool // only versions are wanted
	strict bool // what cannot be read is an error
	keep   int64
	left   int64 // bytes that may still be read
	states []pathState
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
	if len(s.states) > mostCopied || depth > maxDepth {
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
		return s.folder(dir, base, at, depth)
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
		s.states[len(s.states)-1].unread = "the system does not allow it"
		return nil
	}
	if err != nil {
		return fault("look at", at, err)
	}
	defer func() { _ = sub.Close() }() // it was only read
	names, err := readNames(sub)
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
	if seen.size > s.left {
		seen.unread = "at most " + sized(mostHashed) + " are read of one call"
		return nil
	}
	f, opened, err := openRegular(dir, base, seen.path)
	if errors.Is(err, fs.ErrPermission) && !s.strict {
		seen.unread = "the system does not allow it"
		return nil
	}
	if err != nil {
		return err
	}
	defer closeRead(f)
	if !os.SameFile(info, opened) { // a link was swapped in
		return changedMeanwhile(seen.path)
	}
	seen.size, seen.version = opened.Size(), versionOf(opened)
	var head, body bytes.Buffer
	sum := sha256.New()
	to := io.MultiWriter(sum, &firstBytes{&head, sniffed})
	if seen.size <= s.keep {
		to = io.MultiWriter(to, &body)
	}
	n, err := io.Copy(to, io.LimitReader(&interruptible{s.ctx, f}, seen.size+1))
	if err != nil {
		return err
	}
	if n != seen.size {
		return changedMeanwhile(seen.path)
	}
	s.left -= n
	seen.sum, seen.binary = hex.EncodeToString(sum.Sum(nil)), bytes.IndexByte(head.Bytes(), 0) >= 0
	if seen.size <= s.keep {
		s.keep -= n
		seen.body = append([]byte{}, body.Bytes()...)
	}
	return nil
}

func changedMeanwhile(at string) error {
	return sdk.Errorf(sdk.Conflict, "%s changed while it was looked at; nothing was done, try again", shown(at))
}

// firstBytes takes what fits and lets the rest pass.
type firstBytes struct {
	to   *bytes.Buffer
	left int
}

func (w *firstBytes) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	w.to.Write(p[:n])
	return len(p), nil
}
