package sandbox

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/bothyd/bothy/sandbox/frame"
)

// A command of a run with a project works on a view: an overlay whose lower
// layer is the project and whose upper layer takes what the command changes. The
// views of a run lie one beside the other, each in a folder of its own:
//
//	views/KEY/N/note     whose view it is; there before its command begins
//	views/KEY/N/{u,w,o}  upper layer, overlayfs's own, and what was taken away
//	views/KEY/N/ended    its command has ended, and nothing was judged yet
//	views/KEY/N/agreed   what a person agreed to is being taken out of held, into u
//	views/KEY/N/plan     what is to be applied, synced before the first step
//	views/KEY/N/done     what was applied; the view needs nothing more
//	views/KEY/N/late     what was applied is not told yet; there before done
//	views/KEY/N/retained the plan, where o is the only copy of what was there before
//	views/KEY/held/u     changes that wait for an answer, below later views
//	views/KEY/kept/N     what of a command was not applied, for a person
//	views/KEY/caches/C   what commands added to a cache of packages
//	views/KEY/gone/N     a view's folder that is being removed
//
// A folder without a note was never used. One without a plan is of a command that was
// cut; it is only kept. One with a plan that is not done is finished by who finds it.
const (
	noteName   = "note"
	endedName  = "ended"
	agreedName = "agreed"
	planName   = "plan"
	doneName   = "done"
	lateName   = "late"
	heldName   = "held"
	keptName   = "kept"
	goneName   = "gone"
	// retainedName is the plan's when all is done and the folder stays all the same.
	retainedName = "retained"
)

// view is one command's.
type view struct {
	session *session
	viewer  *viewer
	note    viewNote
	spec    frame.View
	mounted bool
}

// viewNote is what a later manager has to know of a view.
type viewNote struct {
	Run     string
	Call    string
	Project string
	Device  uint64
	Inode   uint64
	Since   time.Time
	Writes  []string // globs of what the command may change; empty is all
}

// slotPath is the folder that views of the run are mounted on. It is no part of
// the session's own folder, which the container has as a mount.
func (s *session) slotPath() string { return filepath.Join(s.manager.cfg.Dir, "v", key(s.run)) }

// viewsDir is where the views of the run lie, given the folder for all of them.
func (s *session) viewsDir(upper string) string { return filepath.Join(upper, key(s.run)) }

// openView has a view for a command, mounted on the run's slot: the one that waits, or a
// new one.
func (s *session) openView(ctx context.Context, run RunSpec, way *viewWay, call string) (*view, error) {
	v := s.takeAhead(run, way)
	if v == nil {
		var err error
		if v, _, err = s.mountView(ctx, run, way); err != nil {
			return nil, err
		}
	}
	v.note.Call, v.note.Writes = call, run.Writes
	var err error
	if v.note.Since, err = laterThan(v.spec.Dir); err == nil {
		err = v.write(noteName, v.note)
	}
	if err != nil {
		return nil, errors.Join(failed("note the view", err), v.discard())
	}
	return v, nil
}

// mountView mounts a new view on the run's slot. It has no note yet: without one nothing
// was ever changed in it.
func (s *session) mountView(ctx context.Context, run RunSpec, way *viewWay) (*view, topMode, error) {
	project, err := pinProject(run.Project)
	if err != nil {
		return nil, topMode{}, err
	}
	defer func() { _ = project.Close() }()
	note := viewNote{Run: s.run, Project: filepath.Clean(run.Project)}
	top, err := topOf(project)
	if err == nil {
		note.Device, note.Inode, err = identity(project)
	}
	if err != nil {
		return nil, top, failed("look at the project", err)
	}
	v, err := s.newView(way.viewer, s.viewsDir(way.upper), note)
	if err != nil {
		return nil, top, err
	}
	if err := v.viewer.mount(ctx, v.spec); err != nil {
		v.remove()
		return nil, top, err
	}
	v.mounted = true
	return v, top, nil
}

// newView makes the folder of a view among those of the run. Without its note, which the
// caller writes, nothing was ever changed in it.
func (s *session) newView(viewer *viewer, dir string, note viewNote) (*view, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, failed("make the folder of the run's views", err)
	}
	v := &view{session: s, viewer: viewer, note: note}
	v.spec = frame.View{Slot: s.slotPath(), Project: note.Project, Device: note.Device, Inode: note.Inode, Dir: filepath.Join(dir, newName())}
	if held := filepath.Join(dir, heldName, "u"); isFolder(held) {
		v.spec.Held = held
	}
	if err := os.Mkdir(v.spec.Dir, 0o700); err != nil {
		return nil, failed("make the folder of a view", err)
	}
	return v, nil
}

// newName is a name that is behind all earlier ones.
func newName() string { return strconv.FormatInt(time.Now().UnixNano(), 36) }

// asideDir is where what of the view is not applied is kept for a person.
func (v *view) asideDir() string {
	return filepath.Join(filepath.Dir(v.spec.Dir), keptName, filepath.Base(v.spec.Dir))
}

// laterThan is a time of the kernel's own clock behind all that was done before, by what
// it says of a folder. That clock has steps of some milliseconds: what was changed right
// before a command would look as if it had been changed while it ran. Linux 6.13 gives
// a file that was looked at a time of its own, so that nobody waits.
func laterThan(folder string) (time.Time, error) {
	look := func() (time.Time, error) {
		if err := os.Chmod(folder, 0o700); err != nil {
			return time.Time{}, err
		}
		return lstatTime(folder)
	}
	since, err := look()
	for round := 0; err == nil; round++ {
		var now time.Time
		if now, err = look(); err == nil && now.After(since) {
			return now, nil
		}
		if round > 0 {
			time.Sleep(clockStep)
		}
	}
	return time.Time{}, err
}

// clockStep is the pause between two looks at the kernel's clock.
const clockStep = 500 * time.Microsecond

// unmount takes the view away from its slot. Alone says that no process of the
// container is left.
func (v *view) unmount(alone bool) error {
	if !v.mounted {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), apiTimeout)
	defer cancel()
	if err := v.viewer.unmount(ctx, v.spec.Slot, alone); err != nil {
		return failed("take the command's view away", err)
	}
	v.mounted = false
	return nil
}

// discard gives the view up with all that was changed in it.
func (v *view) discard() error {
	if err := v.unmount(true); err != nil {
		return err
	}
	v.remove()
	return nil
}

// remove removes the view's folder while the next command may run already. It goes to
// another place first: a folder that is half removed would look like one whose command
// was cut, and who looks through the run's views would wait while the last of it goes.
func (v *view) remove() {
	gone, logger := filepath.Join(filepath.Dir(v.spec.Dir), goneName), v.session.manager.logger
	dir := filepath.Join(gone, filepath.Base(v.spec.Dir))
	err := os.Rename(v.spec.Dir, dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(gone, 0o700); err == nil {
			err = os.Rename(v.spec.Dir, dir)
		}
	}
	if err != nil {
		logger.Debug("the folder of a view stays", "folder", v.spec.Dir, "error", err)
		return
	}
	v.session.later(func() {
		ctx, cancel := context.WithTimeout(context.Background(), apiTimeout)
		defer cancel()
		if err := v.viewer.remove(ctx, dir); err != nil {
			logger.Debug("the folder of a view stays", "folder", dir, "error", err)
		}
	})
}

// write writes one of the view's own files, in one step.
func (v *view) write(name string, value any) error {
	return writeGob(filepath.Join(v.spec.Dir, name), value, false)
}

// writeGob replaces a file by a value, synced when that is asked for. Names of files
// may hold any byte, which JSON would not keep.
func writeGob(path string, value any, synced bool) (err error) {
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(value); err != nil {
		return err
	}
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data.Bytes())
	if err == nil && synced {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil || !synced {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func readGob(path string, value any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return gob.NewDecoder(bytes.NewReader(data)).Decode(value)
}

// leftViews are the folders of views that a run has, the oldest first, but for those
// that are being removed.
func leftViews(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() && !slices.Contains([]string{heldName, keptName, cachesName, goneName}, e.Name()) {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(found) // names are times, of one length for a century
	return found
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
