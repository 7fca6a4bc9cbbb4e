package project

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/bothyd/bothy/sdk/kept"
)

const (
	// mostRead bounds the contents of one file that are held in memory: to find lines in
	// them, or to put something in a part of them. What is given back whole has no bound.
	mostRead = 64 << 20
	// mostHeld bounds the texts that are held at a time because they may be needed again.
	mostHeld = 64 << 20
)

// disk is the project as it is while nothing of it is changed, with what is kept of
// what it was. What was looked at once is not looked at again.
type disk struct {
	root  *os.Root
	kept  kept.Store
	seen  map[string]*node
	texts map[*node]string
	held  int
}

func newDisk(root *os.Root, store kept.Store) *disk {
	return &disk{root: root, kept: store, seen: map[string]*node{}, texts: map[*node]string{}}
}

// at is what lies at a path.
func (d *disk) at(path string) *node {
	n, seen := d.seen[path]
	if !seen {
		n = onDisk(d.root, path)
		d.seen[path] = n
	}
	return n
}

var errLarge = errors.New("it is larger than 64 MB")

// text is the contents of a file, which nothing has none of.
func (d *disk) text(n *node) (string, error) {
	if n == nil {
		return "", nil
	}
	if text, ok := d.texts[n]; ok {
		return text, nil
	}
	text, err := d.load(n)
	if err != nil {
		return "", err
	}
	if d.held += len(text); d.held > mostHeld {
		clear(d.texts)
		d.held = len(text)
	}
	d.texts[n] = text
	return text, nil
}

func (d *disk) load(n *node) (string, error) {
	switch {
	case n.undo != nil:
		of, err := d.text(n.of)
		if err != nil {
			return "", err
		}
		return n.apply(of)
	case n.kept != "":
		r, err := d.kept.Open(n.kept)
		if err != nil {
			return "", err
		}
		text, err := whole(r)
		return text, errors.Join(err, r.Close())
	default:
		dir, base, err := enter(d.root, n.origin)
		if dir == nil {
			return "", errors.Join(err, errTouched)
		}
		defer leave(d.root, dir)
		return n.contents(dir, base)
	}
}

var errMisfit = errors.New("what was kept of it does not fit")

// apply makes the contents of those that they are made of.
func (s source) apply(of string) (string, error) {
	text, ok := s.undo.Apply(of)
	if !ok {
		return "", errMisfit
	}
	return text, nil
}

// contents reads a file that lies in a folder, which must be as it was looked at.
func (n *node) contents(dir *os.Root, base string) (string, error) {
	f, err := n.open(dir, base)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := whole(f)
	if err == nil && sum(text) != n.hash {
		err = errTouched
	}
	return text, err
}

// whole reads all that there is, unless that is too much.
func whole(r io.Reader) (string, error) {
	var all bytes.Buffer
	if n, err := all.ReadFrom(io.LimitReader(r, mostRead+1)); err != nil {
		return "", err
	} else if n > mostRead {
		return "", errLarge
	}
	return all.String(), nil
}

// reader reads the contents that a file shall have. Now is what lies at its place,
// base in a folder, and may be nil.
func (d *disk) reader(n, now *node, dir *os.Root, base string) (io.ReadCloser, error) {
	if n.undo == nil {
		return d.kept.Open(n.kept)
	}
	of := ""
	if now != nil && now.kind == "file" {
		var err error
		if of, err = now.contents(dir, base); err != nil {
			return nil, err
		}
	}
	text, err := n.apply(of)
	if err == nil && sum(text) != n.hash {
		err = errMisfit
	}
	return io.NopCloser(strings.NewReader(text)), err
}
