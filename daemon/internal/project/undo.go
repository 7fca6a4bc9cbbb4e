package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"syscall"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
	"github.com/bothyd/bothy/sdk/lock"
)

// op is one thing to do to take changes back.
type op struct {
	path    string
	rename  string         // the path it gets back, of a move
	from    *sdk.FileState // what must be there
	to      *node          // what shall be there; nil is nothing
	already bool           // it is so, and nothing is to be done
	told    sdk.FileChange // the change that this is, as a tool tells of its own
}

// Undo takes the changes back, the last first, but for those with a conflict. It
// does so in stages, and before each it calls about with what that is about to
// change. Of the changes of one stage no two concern the same path, and a move is
// a stage of its own: so the files tell afterwards which of them were made. What
// is taken back is kept, so that it can be made again.
//
// Nobody else of Bothy changes the project's files meanwhile (package sdk/lock).
//
// Each change looks again at what is there, and is made in one step of the file
// system. When one cannot be made, an error names it; what was taken back by then
// stays so, and the next Undo goes on behind it. A file is written beside its
// place first, under a name made of by, which is the one run that does this: what
// a crash left of it is gone when the next Undo has gone on.
func (c *Changes) Undo(ctx context.Context, root, by string, about func([]sdk.FileChange) error) error {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("open the project %s: %w", root, err)
	}
	defer func() { _ = dir.Close() }() // what is written has handles of its own
	unlock, err := lock.Folder(ctx, dir)
	if err != nil {
		return fmt.Errorf("lock the project %s: %w", root, err)
	}
	defer unlock()
	for ops := c.ops; len(ops) > 0; {
		n := stage(ops)
		told := make([]sdk.FileChange, n)
		for i, o := range ops[:n] {
			told[i] = o.told
		}
		if err := c.keep(ctx, dir, ops[:n]); err != nil {
			return err
		}
		if err := about(told); err != nil {
			return err
		}
		for _, o := range ops[:n] {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("taking back %s: %w", o.path, err)
			}
			if err := o.do(dir, by, c.store); err != nil {
				return fmt.Errorf("taking back %s: %w", o.path, err)
			}
		}
		ops = ops[n:]
	}
	return nil
}

// keep puts into the store what a stage is about to take back, as far as its changes name it.
func (c *Changes) keep(ctx context.Context, root *os.Root, ops []op) error {
	batch := c.store.Begin()
	for _, o := range ops {
		if o.told.Kept == "" || o.already {
			continue
		}
		if err := ctx.Err(); err != nil {
			return errors.Join(fmt.Errorf("keeping %s: %w", o.path, err), batch.End())
		}
		if err := o.keep(root, batch); err != nil {
			return errors.Join(fmt.Errorf("keeping %s: %w", o.path, err), batch.End())
		}
	}
	return batch.End()
}

func (o op) keep(root *os.Root, batch *kept.Batch) error {
	dir, base, err := enter(root, o.path)
	if err != nil {
		return err
	}
	if dir == nil {
		return errTouched
	}
	defer leave(root, dir)
	f, err := dir.OpenFile(base, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	digest, _, err := batch.Put(f)
	if err == nil && digest != o.told.Kept {
		err = errTouched
	}
	return err
}

// stage is how many of the first ops make one stage.
func stage(ops []op) int {
	paths := map[string]bool{}
	for i, o := range ops {
		move := o.told.From != ""
		switch {
		case move && i == 0:
			return 1
		case move, paths[o.path]:
			return i
		}
		paths[o.path] = true
	}
	return len(ops)
}

func (o op) do(root *os.Root, by string, store kept.Store) error {
	if o.already {
		return nil
	}
	dir, base, err := enter(root, o.path)
	if err != nil {
		return err
	}
	if dir == nil {
		return sdk.Errorf(sdk.Conflict, "its folder is not there any more; nothing of it was changed")
	}
	defer leave(root, dir)
	if o.rename != "" {
		return o.moveBack(root, dir, base)
	}
	now := inFolder(dir, base, o.path)
	if !now.is(o.from) {
		return errTouched
	}
	name := ".bothy-" + sum(by + "\x00" + o.path)[:16] + ".tmp"
	switch {
	case o.to == nil:
		if err := now.untouched(dir, base); err != nil {
			return err
		}
		return dir.Remove(base)
	case now != nil && now.kind == o.to.kind && now.kind != "link" && now.hash == o.to.hash: // its mode alone
		if err := now.untouched(dir, base); err != nil {
			return err
		}
		return dir.Chmod(base, o.to.mode)
	case o.to.kind == "directory":
		if err := dir.Mkdir(base, cmp.Or(o.to.mode, 0o777)); err != nil || o.to.mode == 0 {
			return err
		}
		return dir.Chmod(base, o.to.mode)
	case o.to.kind == "link":
		if err := unbury(dir, name); err != nil {
			return err
		}
		if err := dir.Symlink(o.to.target, name); err != nil {
			return err
		}
		return settleAt(dir, base, name, now)
	default:
		return o.put(root, dir, base, name, now, store)
	}
}

var errTouched = sdk.Errorf(sdk.Conflict, "it was changed in this moment by something else; nothing of it was changed")

// untouched makes sure that what was looked at is still what is there: reading
// it took a while.
func (n *node) untouched(dir *os.Root, base string) error {
	info, err := dir.Lstat(base)
	if err != nil || !os.SameFile(info, n.info) || info.Size() != n.info.Size() || !info.ModTime().Equal(n.info.ModTime()) {
		return errTouched
	}
	return nil
}

func (o op) moveBack(root, dir *os.Root, base string) error {
	info, err := dir.Lstat(base)
	if err != nil {
		return err
	}
	if kindOf(info.Mode()) != o.from.Kind {
		return sdk.Errorf(sdk.Conflict, "something else is there now; nothing of it was changed")
	}
	target, name, err := enter(root, o.rename)
	if err != nil {
		return err
	}
	if target == nil {
		return sdk.Errorf(sdk.Conflict, "the folder %s is not there any more", path.Dir(o.rename))
	}
	defer leave(root, target)
	err = renameNew(dir, base, target, name)
	if errors.Is(err, os.ErrExist) {
		return sdk.Errorf(sdk.Conflict, "something else is at %s now", o.rename)
	}
	return err
}

// put writes a file beside its place, as name, and renames it there. Seen is what
// was at the place; nil is nothing.
func (o op) put(root, dir *os.Root, base, name string, seen *node, store kept.Store) (err error) {
	from, err := newDisk(root, store).reader(o.to, seen, dir, base)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	if err := unbury(dir, name); err != nil {
		return err
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err == nil {
		err = f.Chmod(o.to.mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, dir.Remove(name))
	}
	return settleAt(dir, base, name, seen)
}

// unbury removes what a crash left under a name.
func unbury(dir *os.Root, name string) error {
	if err := dir.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// settleAt gives what was made as name its place, in which nothing has to be but what
// was seen there.
func settleAt(dir *os.Root, base, name string, seen *node) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, unbury(dir, name))
		}
	}()
	if seen == nil {
		if err := renameNew(dir, name, dir, base); errors.Is(err, os.ErrExist) {
			return errTouched
		} else {
			return err
		}
	}
	if err := seen.untouched(dir, base); err != nil {
		return err
	}
	return dir.Rename(name, base)
}
