package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

func mounts() ([]frame.Mount, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read what is mounted: %w", err)
	}
	return frame.ParseMounts(table), nil
}

// inside says whether a path lies in a folder, by its name.
func inside(path, folder string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// makeSlot makes a folder on which what is mounted comes to the containers that
// have bound it. A view that a dead manager left on it goes.
func makeSlot(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("make the folder for views: %w", err)
	}
	// The mount table has paths without links.
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("make the folder for views: %w", err)
	}
	bound := false
	for {
		all, err := mounts()
		if err != nil {
			return err
		}
		i := lastAt(all, path)
		if i < 0 {
			break
		}
		if all[i].Source != frame.ViewSource {
			bound = all[i].Shared
			break
		}
		if err := unmountBusy(path, false); err != nil {
			return err
		}
	}
	if bound {
		return nil
	}
	if err := unix.Mount(path, path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind the folder for views: %w", err)
	}
	if err := unix.Mount("", path, "", unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("share the folder for views: %w", err)
	}
	return nil
}

// lastAt is the index of what is mounted uppermost at a path, or -1.
func lastAt(all []frame.Mount, path string) int {
	for i, m := range slices.Backward(all) {
		if m.Point == path {
			return i
		}
	}
	return -1
}

func removeSlot(path string) error {
	if err := unmount(path, false); err != nil {
		return err
	}
	if err := unix.Unmount(path, unix.UMOUNT_NOFOLLOW); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unbind the folder for views: %w", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the folder for views: %w", err)
	}
	return nil
}

// mount mounts the view. Its layers are named by descriptors: no path can be
// exchanged on the way, none needs to be escaped or is too long, and a container's
// mount table does not tell where they are.
func (v *view) mount() error {
	if err := v.fits(); err != nil {
		return err
	}
	upper, err := v.fresh()
	if err != nil {
		return err
	}
	defer upper.close()
	work, err := v.dir.open("w", unix.O_RDONLY)
	if err != nil {
		return fmt.Errorf("open the view's folders: %w", err)
	}
	defer work.close()
	slot, err := openPath(v.Slot, unix.O_PATH, 0)
	if err != nil {
		return fmt.Errorf("open the folder for views: %w", err)
	}
	defer slot.close()
	lower := v.project.proc()
	if v.held != none {
		lower = v.held.proc() + ":" + lower
	}
	// A mount that comes to a container does not take these flags from the bind there.
	if err := unix.Mount(frame.ViewSource, slot.proc(), "overlay", unix.MS_NOSUID|unix.MS_NODEV, layers(lower, upper, work)); err != nil {
		return fmt.Errorf("mount the view: %w", err)
	}
	return nil
}

// layers are the options of a view. It is not brought to the disk when it is
// unmounted, which would bring along whatever else waits there.
func layers(lower string, upper, work folder) string {
	return "lowerdir=" + lower + ",upperdir=" + upper.proc() + ",workdir=" + work.proc() + ",userxattr,volatile"
}

// fresh makes the view's folders.
func (v *view) fresh() (upper folder, err error) {
	if err := removeAt(v.dir, "w"); err != nil {
		return none, fmt.Errorf("remove what an earlier view left: %w", err)
	}
	for _, name := range []string{"u", "w"} {
		if err := unix.Mkdirat(int(v.dir), name, 0o700); err != nil && (name != "u" || !errors.Is(err, unix.EEXIST)) {
			return none, fmt.Errorf("make the view's folders: %w", err)
		}
	}
	if upper, err = v.upper(); err != nil {
		return none, err
	}
	defer func() {
		if err != nil {
			upper.close()
		}
	}()
	if names, err := upper.entries(1); err != nil || len(names) > 0 {
		return none, errors.Join(err, fmt.Errorf("%s holds changes already: a view is made of a folder once", v.Dir))
	}
	// The project's folder looks as it does below.
	top, err := v.project.node(".")
	if err != nil {
		return none, err
	}
	if err := unix.Fchmod(int(upper), top.Mode); err != nil {
		return none, fmt.Errorf("make the view's folders: %w", err)
	}
	return upper, nil
}

// fits refuses a project and folders of which no view can be.
func (v *view) fits() error {
	all, err := mounts()
	if err != nil {
		return err
	}
	for _, m := range all {
		if inside(m.Point, v.Project) {
			return refused("%s is mounted inside the project: a view would not show what is in it", m.Point)
		}
	}
	for name, pair := range map[string][2]folder{
		"the view's folder " + v.Dir + " lies inside the project": {v.dir, v.project},
		"the project lies inside the view's folder " + v.Dir:      {v.project, v.dir},
	} {
		if lies, err := liesIn(pair[0], pair[1]); err != nil {
			return fmt.Errorf("see where the view's folder lies: %w", err)
		} else if lies {
			return refused("%s: commands would see their own changes being kept", name)
		}
	}
	return nil
}

// liesIn says whether a folder is another one or is inside of it.
func liesIn(f, outer folder) (bool, error) {
	inner, err := os.Readlink(f.proc())
	if err != nil {
		return false, err
	}
	around, err := os.Readlink(outer.proc())
	return inner == around || inside(inner, around), err
}

const (
	// busyFor is how long a view may stay in use when nobody is alive who uses it:
	// descriptors that are under way in sockets are collected in a while.
	busyFor   = 500 * time.Millisecond
	busyPause = 2 * time.Millisecond
)

// unmount takes the view off a slot, if there is one. Alone says that no process
// is left that could use it.
func unmount(slot string, alone bool) error {
	mounted, err := isMounted(slot)
	if err != nil || !mounted {
		return err
	}
	return unmountBusy(slot, alone)
}

func unmountBusy(slot string, alone bool) error {
	until := time.Now().Add(busyFor)
	for {
		err := unix.Unmount(slot, unix.UMOUNT_NOFOLLOW)
		switch {
		case err == nil || errors.Is(err, unix.EINVAL):
			return nil
		case !errors.Is(err, unix.EBUSY):
			return fmt.Errorf("unmount the view: %w", err)
		case time.Now().Before(until):
			time.Sleep(busyPause)
		case alone:
			if err := unix.Unmount(slot, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil {
				return fmt.Errorf("detach the view: %w", err)
			}
			return nil
		default:
			return &fault{code: frame.ViewBusy, text: "the view is still in use"}
		}
	}
}

// isMounted says whether a view is on a slot: the slot itself is bound on itself
// and has the device of the folder that it lies in.
func isMounted(slot string) (bool, error) {
	var here, above unix.Stat_t
	err := unix.Lstat(slot, &here)
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	if err == nil {
		err = unix.Lstat(filepath.Dir(slot)+"/.", &above)
	}
	if err != nil {
		return false, fmt.Errorf("look at the folder for views: %w", err)
	}
	return here.Dev != above.Dev, nil
}

// leftovers are the slots below a folder that have a view.
func leftovers(folder string) ([]string, error) {
	folder, err := filepath.EvalSymlinks(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for views: %w", err)
	}
	all, err := mounts()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, m := range all {
		if m.Source == frame.ViewSource && (m.Point == folder || inside(m.Point, folder)) && !slices.Contains(found, m.Point) {
			found = append(found, m.Point)
		}
	}
	return found, nil
}
