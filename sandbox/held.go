package sandbox

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sandbox/frame"
)

// heldListName is the file in a run's directory that names the paths of its project
// whose changes wait for an answer: a JSON array. Who would write to one reads it.
const heldListName = "held.json"

// heldChange is a held change as it is written down: with what has to be in the
// project still when it is applied.
type heldChange struct {
	Held
	Lower frame.ViewIdentity
}

// Agreed is a held change that a person agreed to.
type Agreed struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// Apply applies held changes of a run. What is no longer as it was when the person
// was asked stays held, and is named among the conflicts: the change itself, or what
// the project has at its path.
func (m *Manager) Apply(ctx context.Context, run RunSpec, agreed []Agreed) (Result, error) {
	if err := run.checkNames(); err != nil {
		return Result{}, err
	}
	if err := m.enter(); err != nil {
		return Result{}, err
	}
	defer m.active.Done()
	s := m.session(run.RunID)
	if err := s.take(ctx); err != nil {
		return Result{}, err
	}
	defer s.give()
	if err := s.claim(ctx); err != nil {
		return Result{}, err
	}
	s.keep(run)
	return s.applyHeld(ctx, agreed)
}

func (s *session) applyHeld(ctx context.Context, agreed []Agreed) (Result, error) {
	viewer, err := s.manager.views.helper(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := s.finishHeld(ctx, viewer); err != nil {
		return Result{}, err
	}
	var result Result
	for _, upper := range s.manager.cfg.uppers() {
		h := s.heldIn(viewer, upper)
		if h == nil || len(h.list) == 0 {
			continue
		}
		done, err := h.apply(ctx, agreed)
		if err != nil {
			return result, err
		}
		own := result.Changes
		result.take(done)
		result.Changes = append(own, result.Changes...)
	}
	s.takeLate(&result)
	for _, a := range agreed {
		known := func(c Conflict) bool { return c.Path == a.Path }
		made := func(c Change) bool { return c.Path == a.Path || strings.HasPrefix(c.Path, a.Path+"/") }
		if !slices.ContainsFunc(result.Conflicts, known) && !slices.ContainsFunc(result.Changes, made) {
			result.Conflicts = append(result.Conflicts, Conflict{Path: a.Path})
		}
	}
	s.report(result)
	return result, nil
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
			if c.Is.Kind != "" {
				c.New = filepath.Join(h.view.spec.Dir, "u", filepath.FromSlash(c.Path))
			}
			all = append(all, c.Held)
		}
	}
	return all, nil
}

// heldIn opens the held changes of the run below a folder of views, or answers nil.
func (s *session) heldIn(viewer *viewer, upper string) *held {
	dir := filepath.Join(s.viewsDir(upper), heldName)
	v, _, state := s.leftover(viewer, dir)
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

// add writes down what a plan is about to hold, before it does.
func (v *view) addHeld(s *settlement) error {
	if len(s.Held) == 0 {
		return nil
	}
	dir := filepath.Join(filepath.Dir(v.spec.Dir), heldName)
	if err := os.MkdirAll(filepath.Join(dir, "u"), 0o700); err != nil {
		return failed("make a place for what waits for an answer", err)
	}
	h := &held{view: &view{session: v.session, viewer: v.viewer, note: v.note, spec: v.spec}}
	h.view.spec.Dir, h.view.spec.Held = dir, ""
	if err := h.view.write(noteName, v.note); err != nil {
		return failed("note what waits for an answer", err)
	}
	_ = readGob(h.listFile(), &h.list) // the first has none
	for i, c := range s.Held {
		h.forget(c.Path)
		h.list = append(h.list, heldChange{Held: c, Lower: s.lowers[i]})
	}
	return h.save()
}

func (h *held) forget(path string) {
	h.list = slices.DeleteFunc(h.list, func(c heldChange) bool { return c.Path == path })
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

// apply applies those that were agreed to and are as they were then.
func (h *held) apply(ctx context.Context, agreed []Agreed) (settlement, error) {
	changes, err := h.view.viewer.list(ctx, h.view.spec, mostChanges)
	if err != nil {
		return settlement{}, failed("look at what waits for an answer", err)
	}
	s := settler{view: h.view, out: settlement{Note: h.view.note}}
	for _, a := range agreed {
		i := slices.IndexFunc(h.list, func(c heldChange) bool { return c.Path == a.Path })
		if i < 0 {
			continue
		}
		digest, err := digestOf(filepath.Join(h.view.spec.Dir, "u"), a.Path)
		if err != nil || digest != a.Digest {
			s.out.Conflicts = append(s.out.Conflicts, Conflict{Path: a.Path})
			continue
		}
		for _, c := range changes {
			if c.Path == a.Path {
				s.applyHeld(c, h.list[i].Lower)
			}
		}
	}
	if err := h.view.commit(ctx, &s.out); err != nil {
		return s.out, err
	}
	if err := h.view.apply(ctx, &s.out); err != nil {
		return s.out, err
	}
	return s.out, h.finished(&s.out)
}

// finished forgets what was applied. What is done is no more to be finished.
func (h *held) finished(done *settlement) error {
	for _, c := range done.Changes {
		h.forget(c.Path)
	}
	if err := h.save(); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(h.view.spec.Dir, planName))
	_ = os.Remove(filepath.Join(h.view.spec.Dir, doneName))
	return nil
}

// finishHeld finishes to apply what a person agreed to, where the helper or the manager
// died in that. What it replaced lies there until the run is reset; the next result
// tells it.
func (s *session) finishHeld(ctx context.Context, viewer *viewer) error {
	for _, upper := range s.manager.cfg.uppers() {
		v, plan, state := s.leftover(viewer, filepath.Join(s.viewsDir(upper), heldName))
		if state == viewEmpty {
			continue
		}
		h := &held{view: v}
		if err := readGob(h.listFile(), &h.list); err != nil {
			continue // nothing was held yet
		}
		if state == viewPlanned {
			s.manager.logger.Info("finishing to apply what a person agreed to", "run", s.run)
			if err := v.apply(ctx, &plan); err != nil {
				return err
			}
		}
		if state == viewCut { // nothing of it was being applied
			if err := h.name(); err != nil {
				return err
			}
			continue
		}
		if err := h.finished(&plan); err != nil {
			return err
		}
		s.tellLater(plan, v.spec.Dir)
	}
	return nil
}

// waiting is what waits for an answer beside a view, or nil.
func (v *view) waiting() *held {
	return v.session.heldIn(v.viewer, filepath.Dir(filepath.Dir(v.spec.Dir)))
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
	for _, path := range paths {
		h.list = slices.DeleteFunc(h.list, func(c heldChange) bool { return c.Path == path || strings.HasPrefix(c.Path, path+"/") })
	}
	return h.save()
}

// stillAsked has a change of a path that waits wait too, whatever is ruled of it: what
// nobody agreed to is in it.
func (v *view) stillAsked(changes []Change, rulings []Ruling) []Ruling {
	h := v.waiting()
	if h == nil {
		return rulings
	}
	reasons := make(map[string]string, len(h.list))
	for _, c := range h.list {
		reasons[c.Path] = c.Reason
	}
	for i, c := range changes {
		if reason, waits := reasons[c.Path]; waits && rulings[i].Class == Free {
			rulings[i] = Ruling{Class: Asked, Reason: reason}
		}
	}
	return rulings
}

// applyHeld is apply for a change that waited: what the project has must be what it
// had when the change was held.
func (s *settler) applyHeld(c frame.ViewChange, lower frame.ViewIdentity) {
	s.apply(c)
	last := &s.out.Steps[len(s.out.Steps)-1]
	last.Lower, last.Old = lower, int(time.Now().UnixNano())+len(s.out.Steps)
	if last.Op == frame.StepTake { // what says that it goes would hide what comes later
		s.drop(c.Path)
	}
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
