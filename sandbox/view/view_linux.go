package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// view is one view with its folders open and locked.
type view struct {
	frame.View
	dir     folder // Dir
	project folder
	held    folder // none without Held
}

// openView opens a view's folders and waits until nobody else works on it. The
// project must be what the manager has looked at; no link leads to it.
func openView(s frame.View) (_ *view, err error) {
	v := &view{View: s, dir: none, project: none, held: none}
	defer func() {
		if err != nil {
			v.close()
		}
	}()
	if v.dir, err = openPath(s.Dir, unix.O_RDONLY, 0); err != nil {
		return nil, fmt.Errorf("open the view's folder: %w", err)
	}
	if err := flock(v.dir); err != nil {
		return nil, fmt.Errorf("lock the view's folder: %w", err)
	}
	if v.project, err = openPath(s.Project, unix.O_RDONLY, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_MAGICLINKS); err != nil {
		return nil, &fault{code: frame.ViewSwapped, text: fmt.Sprintf("the project %s cannot be opened: %v", s.Project, err)}
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(v.project), &st); err != nil {
		return nil, fmt.Errorf("look at the project: %w", err)
	}
	if uint64(st.Dev) != s.Device || st.Ino != s.Inode {
		return nil, &fault{code: frame.ViewSwapped, text: fmt.Sprintf("the project %s is another folder than it was", s.Project)}
	}
	if s.Held != "" {
		if v.held, err = openPath(s.Held, unix.O_RDONLY, 0); err != nil {
			return nil, fmt.Errorf("open the folder of what is held: %w", err)
		}
	}
	return v, nil
}

func (v *view) close() {
	v.held.close()
	v.project.close()
	v.dir.close() // and with it the lock
}

// upper opens the folder of what a command changed.
func (v *view) upper() (folder, error) {
	f, err := v.dir.open("u", unix.O_RDONLY)
	if err != nil {
		return none, fmt.Errorf("open what the command changed: %w", err)
	}
	return f, nil
}

func flock(f folder) error {
	for {
		if err := unix.Flock(int(f), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
