package project

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/bothyd/bothy/sdk"
)

// op is one thing to do to take changes back.
type op struct {
	path   string
	rename string         // the path it gets back, of a move
	from   *sdk.FileState // what must be there
	to     *node          // what shall be there; nil is nothing
}

// Undo takes the changes back, the last first, but for those with a conflict.
// Each step looks again at what is there, and makes its change in one step of
// the file system. When one cannot be made, an error names it; what was taken
// back by then stays so, and the next Undo goes on behind it.
func (c *Changes) Undo(ctx context.Context, root string) error {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("open the project %s: %w", root, err)
	}
	defer func() { _ = dir.Close() }() // what is written has handles of its own
	for _, o := range c.ops {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("taking back %s: %w", o.path, err)
		}
		if err := o.do(dir); err != nil {
			return fmt.Errorf("taking back %s: %w", o.path, err)
		}
	}
	return nil
}

func (o op) do(root *os.Root) error {
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
	now, err := onDisk(root, o.path)
	if err != nil {
		return err
	}
	if !now.is(o.from) {
		return sdk.Errorf(sdk.Conflict, "it was changed in this moment by something else; nothing of it was changed")
	}
	switch {
	case o.to == nil:
		return dir.Remove(base)
	case o.to.kind == "directory":
		if err := dir.Mkdir(base, 0o777); err != nil || o.to.mode == 0 {
			return err
		}
		return dir.Chmod(base, o.to.mode)
	case o.to.kind == "link":
		return dir.Symlink(o.to.target, base)
	default:
		return put(dir, base, o.to)
	}
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
	if _, err := target.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, sdk.Errorf(sdk.Conflict, "something else is at %s now", o.rename))
	}
	// The folders were entered without a link; a link that is swapped in now can
	// lead this rename to another place of the project, never out of it.
	return root.Rename(o.path, o.rename)
}

// put writes a file beside its place and renames it there.
func put(dir *os.Root, base string, n *node) (err error) {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	name := ".bothy-" + hex.EncodeToString(b[:]) + ".tmp"
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dir.Remove(name))
		}
	}()
	_, err = f.WriteString(n.text)
	if err == nil {
		err = f.Chmod(cmp.Or(n.mode, 0o644)) // a tool need not know the mode
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return dir.Rename(name, base)
}
