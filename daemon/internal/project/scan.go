package project

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// The bounds of a scan. What is beyond is left out, or has no hash; that it was so is told.
const (
	mostFiles   = 20_000   // that are entries
	mostDepth   = 64       // folders in each other
	mostHashed  = 32 << 20 // bytes of one file that are read for its hash
	mostScanned = 1 << 30  // bytes that one scan reads
)

// found is a file of a project, as a scan found it.
type found struct {
	at   string
	info fs.FileInfo
	dir  *os.Root // that holds it, while it is being looked at
}

// scan walks the files of a project that are entries of it, in the order of their paths within each folder. It follows
// no link and never enters .git; what holds secrets by its name, and what git ignores, is left out
// unless a constraint asks for the latter.
type scan struct {
	ctx   context.Context //nolint:containedctx // of one walk
	rules constraints
	each  func(found) error

	names, files int
	left         int      // names that no entry can have
	partial      bool     // there is more
	halted       bool     // it ended before the end
	unread       []string // folders of which something was not read
}

// folder walks a folder. ignored says that git leaves it out.
func (s *scan) folder(dir *os.Root, at string, rules ignored, ignores bool, depth int) error {
	entries, whole, err := readFolder(dir, maxListed-s.names)
	s.names += len(entries)
	if err != nil || !whole || depth > mostDepth {
		s.unread, s.partial = append(s.unread, at), true
	}
	if depth > mostDepth {
		return nil
	}
	rules = s.rulesIn(dir, at, entries, rules)
	for _, e := range entries {
		if err := context.Cause(s.ctx); err != nil {
			return err
		}
		if s.files >= mostFiles {
			s.partial, s.halted = true, true
			return nil
		}
		name := path.Join(at, e.Name())
		if e.Name() == ".git" || protect.Secret(name) {
			continue
		}
		if err := s.one(dir, name, e, rules, ignores, depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) one(dir *os.Root, at string, e fs.DirEntry, rules ignored, ignores bool, depth int) error {
	is := e.Type()
	if !is.IsRegular() && !is.IsDir() {
		return nil
	}
	left, member := s.member(at, is.IsDir(), rules, ignores)
	if is.IsDir() {
		if !member && !s.rules.wanted(at) {
			return nil
		}
		sub, err := into(dir, e.Name())
		if err != nil || sub == nil {
			s.unread, s.partial = append(s.unread, at), s.partial || err != nil
			return nil //nolint:nilerr // the rest of the project is there
		}
		defer func() { _ = sub.Close() }() // it was only read
		return s.folder(sub, at, rules, left, depth+1)
	}
	if !member {
		return nil
	}
	if !nameable(at) {
		s.left++
		return nil
	}
	info, err := e.Info() // of the folder's handle, without another look
	if err != nil || !info.Mode().IsRegular() {
		return nil // it went, or is another thing by now
	}
	s.files++
	return s.each(found{at, info, dir})
}

// member says whether a path is of the project, and whether git leaves it out.
func (s *scan) member(at string, folder bool, rules ignored, ignores bool) (left, member bool) {
	left = ignores || rules.ignores(at, folder)
	if c := s.rules.of(at); c != nil {
		return left, c.Constraint != sdk.ConstraintIgnore
	}
	return left, !left
}

// rulesIn are the patterns of git in a folder: those of outer folders, and its own.
func (s *scan) rulesIn(dir *os.Root, at string, entries []fs.DirEntry, outer ignored) ignored {
	rules := slices.Clip(outer)
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile && e.Type().IsRegular() }) {
		rules = append(rules, ignoreRules(readIgnore(dir.OpenFile(ignoreFile, os.O_RDONLY|syscall.O_NONBLOCK, 0)), at, "")...)
	}
	return rules
}

// nameable reports whether an entry can have a path.
func nameable(at string) bool {
	return len(at) <= sdk.MaxPath && utf8.ValidString(at) && !strings.ContainsFunc(at, unicode.IsControl) && !strings.Contains(at, "://")
}

// readFolder lists a folder in the order of names, at most so many of them; false is that it has more.
func readFolder(dir *os.Root, most int) (entries []fs.DirEntry, whole bool, err error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, true, err
	}
	defer func() { _ = f.Close() }() // it was only read
	entries, err = f.ReadDir(max(most, 0) + 1)
	if err == io.EOF { //nolint:errorlint // ReadDir says it so
		err = nil
	}
	whole = len(entries) <= max(most, 0)
	if !whole {
		entries = entries[:max(most, 0)]
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, whole, err
}

// contents is a file as it is read once: what its facts are made of, and its text.
type contents struct {
	sdk.FileFacts
	text   []byte // nil where it is no text, or was not read
	isText bool
}

// reader reads files one after the other.
type reader struct {
	buffer []byte
	room   int64 // bytes that it may still read
}

// read reads a file for its facts. What cannot be read, or not within the bounds, has those of a look alone.
func (r *reader) read(f found) contents {
	c := contents{FileFacts: factsOf(f.info)}
	if c.Size > mostHashed || c.Size > r.room {
		return c
	}
	file, err := (&node{info: f.info}).open(f.dir, path.Base(f.at))
	if err != nil {
		return c
	}
	defer func() { _ = file.Close() }() // it was only read
	if need := int(c.Size) + 1; cap(r.buffer) < need {
		r.buffer = make([]byte, need)
	}
	r.buffer = r.buffer[:cap(r.buffer)]
	n, err := io.ReadFull(file, r.buffer[:c.Size+1])
	if err != io.ErrUnexpectedEOF && err != io.EOF { //nolint:errorlint // ReadFull says it so
		return c // it grows just now: it is looked at again
	}
	r.room -= int64(n)
	return contentsOf(c.FileFacts, r.buffer[:n])
}

// contentsOf are all facts of what was read.
func contentsOf(facts sdk.FileFacts, text []byte) contents {
	sum := sha256.Sum256(text)
	facts.Size, facts.SHA256 = int64(len(text)), hex.EncodeToString(sum[:])
	c := contents{FileFacts: facts, isText: isText(text)}
	if c.isText {
		c.text, c.Tokens = text, (utf8.RuneCount(text)+3)/4
	}
	return c
}

func factsOf(info fs.FileInfo) sdk.FileFacts {
	return sdk.FileFacts{Size: info.Size(), Time: info.ModTime().UTC()}
}

// isText reports whether contents are a text, which is what an entry can have.
func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }
