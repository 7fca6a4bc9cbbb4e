package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bothyd/bothy/sdk"
)

// mostCopied is how many files and folders one call copies.
const mostCopied = 100_000

// copying is one copy on its way.
type copying struct {
	ctx     context.Context
	entries int
}

// copy puts a second file or folder beside the first. Either the whole copy is
// there at the end or nothing is. A link that is the source is followed, links
// in a folder are copied as links.
func (p *project) copy(ctx context.Context, a moveArgs) (answer, error) {
	from, err := p.existing(a.Source, lookup{})
	if err != nil {
		return answer{}, err
	}
	defer from.close()
	if from.path == "." {
		return answer{}, sdk.Errorf(sdk.Validation, "the project cannot be copied into itself; name something in it")
	}
	to, err := p.destination(from, a)
	if err != nil {
		return answer{}, err
	}
	defer to.close()

	c := &copying{ctx: ctx}
	name := temporary()
	err = c.entry(from.dir, from.base, from.path, to.dir, name)
	if err == nil {
		err = rename(to.dir, name, to.dir, to.base, a.Overwrite)
	}
	if err != nil {
		if left := to.dir.RemoveAll(name); left != nil {
			err = errors.Join(err, left)
		}
		return answer{}, copyFault(a, err)
	}
	data := moveData{Source: from.path, Destination: to.path, Kind: kindOf(from.info.Mode()), Overwritten: to.info != nil, Entries: c.entries}
	text := fmt.Sprintf("Copied the %s %s to %s", data.Kind, shown(from.path), shown(to.path))
	if from.isDir() {
		text += " (" + plural(c.entries-1, "entry") + ")"
	}
	return answer{text: text, data: data}, nil
}

func copyFault(a moveArgs, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fault("replace", a.Destination, err)
	}
	return fault("copy", a.Source, err)
}

// entry copies what is at path, named base in from, to the name in to.
func (c *copying) entry(from *os.Root, base, path string, to *os.Root, name string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.entries++; c.entries > mostCopied {
		return sdk.Errorf(sdk.Overflow, "there are more than %d files to copy; copy a folder further down", mostCopied)
	}
	info, err := from.Lstat(base)
	if err != nil {
		return fault("copy", path, err)
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		err = c.folder(from, base, path, to, name, info)
	case fs.ModeSymlink:
		var target string
		if target, err = from.Readlink(base); err == nil {
			err = to.Symlink(target, name)
		}
	default:
		err = c.file(from, base, path, to, name)
	}
	if err != nil {
		return fault("copy", path, err)
	}
	return nil
}

// folder copies a folder. It is writable for us while it is filled.
func (c *copying) folder(from *os.Root, base, path string, to *os.Root, name string, info fs.FileInfo) error {
	source, err := from.OpenRoot(base + "/.")
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it was only read
	if err := to.Mkdir(name, 0o700); err != nil {
		return err
	}
	copied, err := to.OpenRoot(name + "/.")
	if err != nil {
		return err
	}
	defer func() { _ = copied.Close() }() // what is written has handles of its own
	names, err := readNames(source)
	if err != nil {
		return err
	}
	for _, found := range names {
		if err := c.entry(source, found.Name(), path+"/"+found.Name(), copied, found.Name()); err != nil {
			return err
		}
	}
	return copied.Chmod(".", info.Mode().Perm())
}

func (c *copying) file(from *os.Root, base, path string, to *os.Root, name string) error {
	source, info, err := openRegular(from, base, path)
	if err != nil {
		return err
	}
	defer closeRead(source)
	f, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, &interruptible{c.ctx, source})
	if err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	return errors.Join(err, f.Close())
}

// interruptible is a reader that ends with its context.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}
