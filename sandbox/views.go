package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
)

// views knows whether commands can work on views of their projects. It starts the
// helper when a first run with a project comes.
type views struct {
	manager *Manager

	mu     sync.Mutex
	closed bool
	viewer *viewer
	// problem is why there are no views at all; empty when that is not known.
	problem string
	ways    map[string]*viewWay // by project
	// used are the folders of views whose replaced contents somebody still reads.
	used map[string]int

	// behind counts what sessions do behind results that were told; see session.later.
	behind sync.WaitGroup
}

// viewWay is how views of one project are made, or why they cannot be.
type viewWay struct {
	viewer *viewer
	// upper is the folder of all views that changes of this project are kept in.
	upper string
	// reason is why no view of the project is possible; a clause for people.
	reason string
}

func newViews(m *Manager) *views {
	return &views{manager: m, ways: make(map[string]*viewWay), used: make(map[string]int)}
}

// way tells how the commands of a run get their views. The answer is kept for as
// long as the manager and its helper live: what it depends on is the kernel, the
// file systems and the mounts.
func (vs *views) way(ctx context.Context, run RunSpec) *viewWay {
	switch {
	case run.Project == "":
		return &viewWay{reason: "the run's workspace is private"}
	case run.Direct:
		return &viewWay{reason: `the project itself is mounted (sandbox.workspace = "direct")`}
	case vs.manager.cfg.View == "":
		return &viewWay{reason: "the program bothy-view is not installed"}
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.problem != "" {
		return &viewWay{reason: vs.problem}
	}
	if _, err := vs.started(ctx); err != nil {
		return &viewWay{reason: err.Error()}
	}
	project := filepath.Clean(run.Project)
	if w := vs.ways[project]; w != nil {
		return w
	}
	w := vs.probe(ctx, project)
	if ctx.Err() == nil {
		vs.ways[project] = w
		if w.reason != "" {
			vs.manager.logger.Warn("commands work on the project itself", "project", project, "reason", w.reason)
		}
	}
	return w
}

// helper is the helper, started when it is not running.
func (vs *views) helper(ctx context.Context) (*viewer, error) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.started(ctx)
}

// begin starts the helper before the service. What goes wrong is found again, and
// told, by who needs it.
func (vs *views) begin(ctx context.Context, own *service) error {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.closed {
		return errClosed
	}
	if vs.viewer != nil {
		return nil
	}
	v, err := startViewer(ctx, own, vs.manager.cfg, vs.manager.logger)
	if err == nil {
		vs.viewer = v
	}
	return err
}

func (vs *views) started(ctx context.Context) (*viewer, error) {
	if vs.viewer != nil && !vs.viewer.alive() {
		vs.viewer.close()
		vs.viewer, vs.ways = nil, make(map[string]*viewWay)
	}
	if vs.viewer != nil {
		return vs.viewer, nil
	}
	v, err := startViewer(ctx, vs.manager.podman.own, vs.manager.cfg, vs.manager.logger)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		vs.problem = "the helper for views cannot be started: " + err.Error()
		vs.manager.logger.Warn("commands work on the projects themselves", "reason", vs.problem)
		return nil, failed("start the helper for views", err)
	}
	vs.viewer = v
	return v, nil
}

// probe tries a view of a project.
func (vs *views) probe(ctx context.Context, project string) *viewWay {
	if _, holder := vs.manager.cfg.Protector.Own(project); holder != "" {
		return &viewWay{reason: fmt.Sprintf("the project lies in %s, which is Bothy's own", holder)}
	}
	result, err := vs.viewer.probe(ctx, project, vs.manager.cfg.uppers())
	if err != nil {
		return &viewWay{reason: err.Error()}
	}
	if result.Reason != "" {
		return &viewWay{reason: result.Reason}
	}
	return &viewWay{viewer: vs.viewer, upper: result.Dir}
}

// unseen gives views up for good: a container does not see what is mounted on its
// slot.
func (vs *views) unseen() {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.problem = "a container does not see what is mounted for it after its start"
	vs.manager.logger.Warn("commands work on the projects themselves", "reason", vs.problem)
}

// use keeps the folder of a view that is done, until release.
func (vs *views) use(dir string) (release func()) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.used[dir]++
	return sync.OnceFunc(func() {
		vs.mu.Lock()
		defer vs.mu.Unlock()
		if vs.used[dir]--; vs.used[dir] == 0 {
			delete(vs.used, dir)
		}
	})
}

func (vs *views) inUse(dir string) bool {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.used[dir] > 0
}

// close ends the helper, when no view is in use any more. The slots are taken away,
// since Podman's namespaces may outlive this manager.
func (vs *views) close() {
	vs.behind.Wait()
	for _, s := range vs.manager.sessions {
		s.turn <- struct{}{}
		s.dropAhead()
		s.give()
	}
	vs.behind.Wait()
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.closed = true
	if vs.viewer != nil {
		ctx, cancel := context.WithTimeout(context.Background(), apiTimeout)
		defer cancel()
		for _, s := range vs.manager.sessions {
			if s.lock != nil && exists(s.slotPath()) {
				_ = vs.viewer.unslot(ctx, s.slotPath()) // it ends with the namespace at the latest
			}
		}
		vs.viewer.close()
		vs.viewer = nil
	}
}

// finish looks after what earlier managers left, in runs that are nobody's.
func (vs *views) finish(ctx context.Context) {
	vs.dropBackgrounds(ctx)
	for _, run := range vs.manager.cfg.leftRuns() {
		viewer, err := vs.helper(ctx)
		if err != nil {
			return // it was logged
		}
		s := vs.manager.session(run)
		if s.take(ctx) != nil {
			return
		}
		if s.tryClaim() {
			if err := s.finishLeft(ctx, viewer, true); err != nil {
				vs.manager.logger.Warn("what an earlier command changed cannot be looked after", "run", run, "error", err)
			}
		}
		s.give()
	}
}

// leftRuns are the runs that have views which are not done.
func (c Config) leftRuns() []string {
	var runs []string
	for _, upper := range c.uppers() {
		notes, err := filepath.Glob(filepath.Join(upper, "*", "*", noteName))
		if err != nil {
			continue
		}
		for _, path := range notes {
			var note viewNote
			if exists(filepath.Join(filepath.Dir(path), doneName)) || readGob(path, &note) != nil || ValidRunID(note.Run) != nil {
				continue
			}
			if !slices.Contains(runs, note.Run) {
				runs = append(runs, note.Run)
			}
		}
	}
	return runs
}

// Unfinished says whether a manager with this configuration died, or the machine
// did, while what a command changed was being applied. [Open] finishes that.
func Unfinished(cfg Config) bool {
	for _, upper := range cfg.uppers() {
		for _, name := range []string{agreedName, planName} {
			plans, err := filepath.Glob(filepath.Join(upper, "*", "*", name))
			unfinished := func(plan string) bool {
				dir := filepath.Dir(plan)
				return filepath.Base(dir) != heldName && !exists(filepath.Join(dir, doneName))
			}
			if err == nil && slices.ContainsFunc(plans, unfinished) {
				return true
			}
		}
	}
	return false
}
