package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sandbox/frame"
)

// heldListName is the file in a run's directory that names the paths of its project
// whose changes wait for an answer: a JSON array. Who would write to one reads it.
const heldListName = "held.json"

// heldChange is a held change as it is written down: with what has to be in the
// project still when it is applied. Its digest is not: later commands add to it.
type heldChange struct {
	Held
	Lower frame.ViewIdentity
	// Newest is the newest change time in a folder of the project that would go.
	Newest time.Time
}

// whole says whether all that lies at the path is the change's: not where merely the mode
// of a folder is another one.
func (c heldChange) whole() bool {
	return c.Whole || c.Was.Kind != NodeDirectory || c.Is.Kind != NodeDirectory
}

// lies says whether a path lies in a folder.
func lies(path, folder string) bool { return strings.HasPrefix(path, folder+"/") }

// stale says whether the person has changed the project at the path since the change
// was held, or has taken the folder away that it lies in: it will never be applied.
func (c heldChange) stale(project string) bool {
	at := filepath.Join(project, filepath.FromSlash(c.Path))
	if info, err := os.Lstat(filepath.Dir(at)); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && !info.IsDir() {
		return true
	}
	info, err := os.Lstat(at)
	there := c.Lower != (frame.ViewIdentity{})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return there
	case err != nil:
		return false // nobody can tell
	case !there:
		return true
	}
	device, inode := fileIdentity(info)
	if device != c.Lower.Device || inode != c.Lower.Inode {
		return true
	}
	if !c.whole() {
		return uint32(info.Mode().Perm()) != c.Was.Mode&0o777
	}
	unmodified := !c.Lower.Modified.IsZero() && info.ModTime().Equal(c.Lower.Modified)
	return !changeTime(info).Equal(c.Lower.Changed) && !unmodified
}

// held is what waits for an answer in one run.
type held struct {
	view *view
	list []heldChange
}

// Waiting are the changes of a run that wait for an answer, and where on the host
// lies what each of them makes of its path: nothing, when it takes that away.
func (m *Manager) Waiting(ctx context.Context, run RunSpec) ([]Held, error) {
	if err := run.checkNames(); err != nil {
		return nil, err
	}
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.active.Done()
	s := m.session(run.RunID)
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	defer s.give()
	var all []Held
	for _, upper := range m.cfg.uppers() {
		h := s.heldIn(nil, upper)
		if h == nil {
			continue
		}
		for _, c := range h.list {
			if digest, err := digestOf(h.upper(), c.Path); err == nil { // else no answer is about it
				c.Digest = digest
			}
			if c.Is.Kind != "" {
				c.New = filepath.Join(h.upper(), filepath.FromSlash(c.Path))
			}
			all = append(all, c.Held)
		}
	}
	return all, nil
}

// heldIn opens the held changes of the run below a folder of views, or answers nil.
func (s *session) heldIn(viewer *viewer, upper string) *held {
	v, _, state := s.leftover(viewer, filepath.Join(s.viewsDir(upper), heldName))
	if state == viewEmpty {
		return nil
	}
	h := &held{view: v}
	if readGob(h.listFile(), &h.list) != nil {
		return nil
	}
	return h
}

func (h *held) listFile() string { return filepath.Join(h.view.spec.Dir, "list") }

// upper is the folder of what waits.
func (h *held) upper() string { return filepath.Join(h.view.spec.Dir, "u") }

// waiting is what waits for an answer beside a view, or nil.
func (v *view) waiting() *held {
	return v.session.heldIn(v.viewer, filepath.Dir(filepath.Dir(v.spec.Dir)))
}

// addHeld writes down what a plan is about to hold, before it does.
func (v *view) addHeld(changes []heldChange) error {
	if len(changes) == 0 {
		return nil
	}
	h := v.waiting()
	if h == nil {
		h = &held{view: &view{session: v.session, viewer: v.viewer, note: v.note, spec: v.spec}}
		h.view.spec.Dir, h.view.spec.Held = filepath.Join(filepath.Dir(v.spec.Dir), heldName), ""
		if err := os.MkdirAll(h.upper(), 0o700); err != nil {
			return failed("make a place for what waits for an answer", err)
		}
		if err := writeGob(filepath.Join(h.view.spec.Dir, noteName), v.note, true); err != nil {
			return failed("note what waits for an answer", err)
		}
	}
	v.spec.Held = h.upper()
	h.forget(changes)
	h.list = append(h.list, changes...)
	return h.save()
}

// forget takes changes off the list, each with what it holds.
func (h *held) forget(changes []heldChange) {
	whole := make(map[string]bool, len(changes))
	for _, c := range changes {
		whole[c.Path] = c.whole()
	}
	h.list = slices.DeleteFunc(h.list, func(c heldChange) bool {
		if _, ok := whole[c.Path]; ok {
			return true
		}
		for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
			if whole[dir] {
				return true
			}
		}
		return false
	})
}

// prune removes the folders that led to changes which wait no more: empty, they would
// show commands a folder that may be gone, with a mode that may be another one now.
func (h *held) prune(changes []heldChange) {
	root, err := os.OpenRoot(h.upper())
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	waits := newWaiting(h)
	for _, c := range changes {
		dir := c.Path
		if !c.whole() { // merely the folder's mode was held
			dir += "/mode"
		}
		for dir = path.Dir(dir); dir != "." && !waits.has(dir); dir = path.Dir(dir) {
			if err := root.Remove(filepath.FromSlash(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) { // something else waits in it
				break
			}
		}
	}
}

// save writes the list, for this package and for who would write to the paths.
func (h *held) save() error {
	if err := writeGob(h.listFile(), h.list, true); err != nil {
		return failed("note what waits for an answer", err)
	}
	return h.name()
}

// name names the paths for who would write to them, where the run's directory is known:
// at the start of a manager it is not, and the run's next command comes by here.
func (h *held) name() error {
	guard := h.view.session.guard
	if guard == nil {
		return nil
	}
	paths := make([]string, len(h.list))
	for i, c := range h.list {
		paths[i] = c.Path
	}
	if slices.Equal(paths, HeldPaths(guard.runDir)) {
		return nil
	}
	data, err := json.Marshal(paths)
	if err != nil {
		return failed("note what waits for an answer", err)
	}
	if err := os.WriteFile(filepath.Join(guard.runDir, heldListName), data, 0o600); err != nil {
		return failed("note what waits for an answer", err)
	}
	return nil
}

// forgetHeld takes paths off what waits, which later commands have made nothing of
// again, with all that lies below them.
func (v *view) forgetHeld(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	h := v.waiting()
	if h == nil {
		return nil
	}
	gone := make([]heldChange, len(paths))
	for i, at := range paths {
		gone[i] = heldChange{Held: Held{Change: Change{Path: at}}}
	}
	h.forget(gone)
	h.prune(gone)
	return h.save()
}

// dropStale takes off what waits, and moves aside, what the person has made something
// else of since: it would hide that from the commands to come, and is never applied. The
// run's next result tells it.
func (s *session) dropStale(ctx context.Context, viewer *viewer) error {
	for _, upper := range s.manager.cfg.uppers() {
		h := s.heldIn(viewer, upper)
		if h == nil {
			continue
		}
		if err := h.name(); err != nil {
			return err
		}
		var stale []heldChange
		for _, c := range h.list {
			if c.stale(h.view.note.Project) {
				stale = append(stale, c)
			}
		}
		if len(stale) > 0 && h.present() {
			if err := h.dropAll(ctx, stale); err != nil {
				return err
			}
		}
	}
	return nil
}

// present takes the project for the folder that is there now, which may be another one
// than when the first change was held; false where none is.
func (h *held) present() bool {
	info, err := os.Lstat(h.view.note.Project)
	if err != nil {
		return false
	}
	device, inode := fileIdentity(info)
	h.view.note.Device, h.view.note.Inode = device, inode
	h.view.spec.Device, h.view.spec.Inode = device, inode
	return true
}

// dropAll takes changes off what waits, and moves them aside.
func (h *held) dropAll(ctx context.Context, stale []heldChange) error {
	done := settlement{Note: h.view.note}
	since, err := lstatTime(h.listFile()) // the same when this is done again after a crash
	if err != nil {
		return failed("look at what waits for an answer", err)
	}
	aside := filepath.Join(filepath.Dir(h.view.spec.Dir), keptName, heldName+"-"+strconv.FormatInt(since.UnixNano(), 36))
	var steps []frame.ViewStep
	for _, c := range stale {
		conflict := Conflict{Path: c.Path}
		switch {
		case c.Is.Kind == "":
			steps = append(steps, frame.ViewStep{Op: frame.StepDrop, Path: c.Path})
		case c.whole():
			steps = append(steps, frame.ViewStep{Op: frame.StepMove, Path: c.Path})
			conflict.Kept = filepath.Join(aside, filepath.FromSlash(c.Path))
		}
		done.Conflicts = append(done.Conflicts, conflict)
	}
	if _, err := h.view.applySteps(ctx, aside, steps); err != nil {
		return err
	}
	h.forget(stale)
	h.prune(stale)
	if err := h.save(); err != nil {
		return err
	}
	h.view.session.tellLater(done, "")
	return nil
}

// HeldPaths are the paths of a run's project whose changes wait for an answer, by
// the run's directory.
func HeldPaths(runDir string) []string {
	data, err := os.ReadFile(filepath.Join(runDir, heldListName))
	if err != nil {
		return nil
	}
	var paths []string
	if json.Unmarshal(data, &paths) != nil {
		return nil
	}
	return paths
}
