package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// mostCopied is how many files and folders one call copies.
const mostCopied = 100_000

// copying is one copy on its way.
type copying struct {
	ctx     context.Context
	entries int
	made    []sdk.FileChange // by their paths in the source; at most mostChanges
	strange bool             // a name is not UTF-8
	agreed  *plan            // what a person agreed to, where one was asked
}

// copy puts a second file or folder beside the first. Either the whole copy is
// there at the end or nothing is. A link that is the source is followed, links
// in a folder are copied as links.
func (p *project) copy(ctx context.Context, a moveArgs) (answer, error) {
	from, to, err := p.ends(a, p.copied, lookup{})
	if err != nil {
		return answer{}, err
	}
	defer from.close()
	defer to.close()

	over, err := to.keep(ctx, p.kept)
	if err != nil {
		return answer{}, a.fault("copy", err)
	}
	c := &copying{ctx: ctx, agreed: p.agreed}
	name := temporary()
	err = c.entry(from.dir, from.base, from.path, to.dir, name)
	if err == nil {
		err = p.stillBoth(from, to)
	}
	if err == nil {
		err = rename(to.dir, name, to.dir, to.base, a.Overwrite)
	}
	if err != nil {
		return answer{}, a.fault("copy", errors.Join(err, to.dir.RemoveAll(name)))
	}
	if over != nil {
		p.changes.gone(*over)
	}
	p.changes.list = append(p.changes.list, c.changes(from.path, to.path)...)
	data := moveData{Source: from.path, Destination: to.path, Kind: kindOf(from.info.Mode()), Overwritten: to.info != nil, Entries: c.entries}
	text := fmt.Sprintf("Copied the %s %s to %s", data.Kind, shown(from.path), shown(to.path))
	if from.isDir() {
		text += " (" + plural(c.entries-1, "entry") + ")"
	}
	return answer{text: text, data: data}, nil
}

// copied resolves what is to be copied.
func (p *project) copied(name string) (*place, error) {
	from, err := p.existing(name, lookup{})
	if err == nil && from.path == "." {
		from.close()
		return nil, sdk.Errorf(sdk.Validation, "the project cannot be copied into itself; name something in it")
	}
	if err != nil {
		return nil, err
	}
	return from, from.readable(name)
}

// planCopy is what copy would do.
func (p *project) planCopy(ctx context.Context, a moveArgs) (*plan, error) {
	from, to, err := p.ends(a, p.copied, lookup{dry: true})
	if err != nil {
		return nil, err
	}
	defer from.close()
	defer to.close()
	s := &snapshot{ctx: ctx, left: mostHashed, strict: true}
	if err := s.place(from); err != nil {
		return nil, err
	}
	return planAt(s, "copy", from, to)
}

// changes are what the copy made, by the paths that it has in the end. Of a copy
// of too many files only the whole is told of, and cannot be taken back.
func (c *copying) changes(from, to string) []sdk.FileChange {
	if c.strange {
		return []sdk.FileChange{{Path: to, After: &sdk.FileState{Kind: c.made[0].After.Kind}, Lost: "a name in it is not UTF-8"}}
	}
	if c.entries > len(c.made) {
		return []sdk.FileChange{{Path: to, After: &sdk.FileState{Kind: "directory"}, Lost: "it has more than " + plural(mostChanges, "file")}}
	}
	for i := range c.made {
		c.made[i].Path = to + strings.TrimPrefix(c.made[i].Path, from)
	}
	return c.made
}

func (c *copying) note(at string, after sdk.FileState) {
	c.strange = c.strange || !utf8.ValidString(at+after.Target)
	if len(c.made) < mostChanges {
		c.made = append(c.made, sdk.FileChange{Path: at, After: &after})
	}
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
		c.note(path, sdk.FileState{Kind: "link", Target: target})
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
	c.note(path, sdk.FileState{Kind: "directory"})
	copied, err := to.OpenRoot(name + "/.")
	if err != nil {
		return err
	}
	defer func() { _ = copied.Close() }() // what is written has handles of its own
	names, err := fs.ReadDir(source.FS(), ".")
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
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), &interruptible{c.ctx, source})
	if err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	after := sdk.FileState{Kind: "file", Hash: hex.EncodeToString(sum.Sum(nil))}
	if err == nil && c.agreed != nil && !c.agreed.holds(path, after.Hash) {
		err = changedSince(path)
	}
	c.note(path, after)
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
