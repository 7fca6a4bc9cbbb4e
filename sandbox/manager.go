package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"
)

// Manager owns the containers of one daemon. Its methods may be called from any
// goroutine; commands of one run wait for each other, those of different runs
// do not.
type Manager struct {
	cfg    Config
	logger hclog.Logger
	podman *podman
	base   base
	lock   *os.File // shared by all managers of the directory
	place  *os.File // holds this one's number among them
	// unmarked says that nothing of this manager is left when it is released.
	unmarked bool
	// beforeMount is called between the look at what a container mounts and
	// its making; tests change things there.
	beforeMount func()
	// beforeLeave is called behind the result of a command that changed nothing, before
	// its view is taken away; tests wait there.
	beforeLeave func()
	// projects is shared by all sessions.
	projects   *projects
	neighbours neighbours
	views      *views

	// life ends with Close, and with it every command that runs.
	life context.Context
	end  context.CancelFunc

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	warnings []string
	active   sync.WaitGroup
	// takingOver ends with life.
	takingOver sync.WaitGroup
}

// Open finds or starts Podman, makes the base image when it is not there, and
// takes over the containers that an earlier manager of the same instance left.
// A missing or unsuitable Podman is an [Error] with [CodeUnavailable]; opening
// again later may succeed.
func Open(ctx context.Context, cfg Config, logger hclog.Logger) (*Manager, error) {
	if runtime.GOOS != "linux" {
		return nil, unavailable("commands run in Linux containers, and this is "+runtime.GOOS, "run Bothy on Linux, or in a Linux virtual machine", nil)
	}
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 {
		return nil, unavailable("commands do not run as root", hintRootless, nil)
	}
	m := &Manager{cfg: cfg, logger: logger, sessions: make(map[string]*session), projects: newProjects(cfg.Protector)}
	m.projects.dir = filepath.Join(cfg.Dir, "p")
	m.views = newViews(m)
	m.life, m.end = context.WithCancel(context.Background())
	if err := m.open(ctx); err != nil {
		m.release()
		return nil, err
	}
	return m, nil
}

func (m *Manager) open(ctx context.Context) error {
	if err := m.takeDir(ctx); err != nil {
		return err
	}
	if err := m.mark(); err != nil {
		return err
	}
	if !m.unmarked { // what is left would stay if a stop came before it is looked for
		var done context.CancelFunc
		ctx, done = outliving(ctx, takeOverTime)
		defer done()
	}
	p, err := findPodman(ctx, m.cfg, m.logger, func(own *service) error { return m.views.begin(m.life, own) })
	m.podman = p
	if err != nil {
		return err
	}
	for _, f := range p.lacks {
		m.logger.Warn("commands run with less than they should", "finding", f.Name, "detail", f.Detail, "hint", f.Hint)
	}
	if err := m.makeBase(ctx); err != nil {
		return err
	}
	if m.unmarked { // nothing is left but what Podman noted before the machine ended
		m.takingOver.Go(func() { m.takeOver(m.life) })
	} else {
		m.takeOver(ctx)
		if !m.shared() { // else it may be one that another manager makes
			m.endOrphans(ctx)
		}
	}
	if m.cfg.View != "" {
		m.views.finish(ctx)
	}
	if m.shared() {
		m.takingOver.Go(m.outlast)
	}
	return nil
}

// lockName is the file that managers hold a lock on as long as they live.
const lockName = "lock"

// handover is how long another process may keep the directory for itself: one of
// an earlier version lets the commands end that it runs, and takes no more.
const handover = MaxTimeout + 15*time.Second

// takeDir makes the directory and takes a place in it.
func (m *Manager) takeDir(ctx context.Context) error {
	if err := makePrivate(m.cfg.Dir); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(m.cfg.Dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return failed("lock the sandbox directory", err)
	}
	m.lock = lock
	ctx, cancel := context.WithTimeout(ctx, handover)
	defer cancel()
	for {
		err := shareFile(m.lock)
		if err == nil {
			return m.takeNumber()
		}
		select {
		case <-ctx.Done():
			return unavailable("another process still uses the sandbox directory "+m.cfg.Dir, "stop it, or wait until it has finished", err)
		case <-time.After(pause):
		}
	}
}

func (m *Manager) ours(ctx context.Context) ([]listed, error) {
	var found []listed
	err := m.podman.call(ctx, func(a *api) (err error) {
		found, err = a.list(ctx, labelInstance, m.cfg.Instance)
		return err
	})
	return found, err
}

func (m *Manager) inspect(ctx context.Context, id string) (state containerState, err error) {
	err = m.podman.call(ctx, func(a *api) (err error) {
		state, err = a.inspect(ctx, id)
		return err
	})
	return state, err
}

func (m *Manager) remove(ctx context.Context, id string) error {
	return m.podman.call(ctx, func(a *api) error { return a.remove(ctx, id) })
}

// removeWhole removes a container and waits until Podman's process beside it has
// tidied up, so that nothing is left when the service ends.
func (m *Manager) removeWhole(ctx context.Context, id string) error {
	state, inspectErr := m.inspect(ctx, id)
	if err := m.remove(ctx, id); err != nil {
		return err
	}
	if inspectErr != nil {
		return nil
	}
	for range 500 {
		if ctx.Err() != nil || !slices.Contains(commandLine(state.State.ConmonPid), id) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// session is a run's session, made when it is missing.
func (m *Manager) session(id string) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[id]
	if s == nil {
		s = newSession(m, id)
		m.sessions[id] = s
	}
	return s
}

// Exec runs one command in the run's container, which is made when there is
// none. It returns when every process of the command is dead. Output goes to
// the sink as it comes. A cancelled ctx ends the command and is returned as the
// error, beside what is known of the result.
func (m *Manager) Exec(ctx context.Context, run RunSpec, c Command, sink Sink) (Result, error) {
	if err := run.check(); err != nil {
		return Result{}, err
	}
	c, err := c.complete()
	if err != nil {
		return Result{}, err
	}
	if err := m.enter(); err != nil {
		return Result{}, err
	}
	defer m.active.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(m.life, func() { cancel(errClosed) })()
	return m.session(run.RunID).exec(ctx, run, c, sink)
}

var errClosed = &Error{Code: CodeUnavailable, Message: "the sandbox is being closed"}

func (m *Manager) enter() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return errClosed
	}
	m.active.Add(1)
	return nil
}

// Drop ends the run's container and what runs in it; its home stays.
func (m *Manager) Drop(ctx context.Context, runID string) error {
	if err := ValidRunID(runID); err != nil {
		return err
	}
	if err := m.enter(); err != nil {
		return err
	}
	defer m.active.Done()
	return m.session(runID).drop(ctx, nil)
}

// Reset ends the run's container and removes its home and, when the run has no
// project, its workspace. No file of a project is touched.
func (m *Manager) Reset(ctx context.Context, run RunSpec) error {
	if err := run.checkNames(); err != nil {
		return err
	}
	if err := m.enter(); err != nil {
		return err
	}
	defer m.active.Done()
	return m.session(run.RunID).drop(ctx, run.reset)
}

// Warnings are what Podman said when containers were made, each once; a limit
// that the host does not enforce is among them.
func (m *Manager) Warnings() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.warnings...)
}

func (m *Manager) warn(warnings []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range warnings {
		if !slices.Contains(m.warnings, w) {
			m.warnings = append(m.warnings, w)
			m.logger.Warn("Podman warns", "warning", w)
		}
	}
}

// Close ends all commands, removes all containers of this manager and stops the
// Podman service if it is our own. Homes stay.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	m.mu.Unlock()
	m.end()
	m.active.Wait()
	m.takingOver.Wait()
	err := m.removeAll(ctx)
	m.unmarked = err == nil
	m.release()
	return err
}

// removals is how many containers are removed at the same time when all are.
// One after another, thirty of them take longer on a busy machine than a stop
// may; more at a time gain nothing, for each costs processor time.
const removals = 8

func (m *Manager) removeAll(ctx context.Context) error {
	for _, s := range m.sessions {
		if s.container != nil { // which what is done behind a result still reads
			s.container.link.close()
		}
	}
	found, err := m.ours(ctx)
	if err != nil {
		return failed("find the containers to remove", err)
	}
	found = slices.DeleteFunc(found, func(c listed) bool {
		run := c.Labels[labelRun]
		return ValidRunID(run) == nil && !m.session(run).tryClaim() // another manager's
	})
	errs := make([]error, len(found))
	var group errgroup.Group
	group.SetLimit(removals)
	for i, c := range found {
		group.Go(func() error {
			errs[i] = m.removeWhole(ctx, c.ID)
			return nil
		})
	}
	_ = group.Wait()
	if err := errors.Join(errs...); err != nil {
		return failed("remove the containers", err)
	}
	return nil
}

// release gives back what open took, as far as it came.
func (m *Manager) release() {
	m.end()
	m.takingOver.Wait()
	m.views.close()
	for _, s := range m.sessions { // only now may another manager have the runs and their slots
		s.forget()
		s.unclaim()
	}
	if m.podman != nil {
		m.podman.close()
	}
	for _, f := range []*os.File{m.place, m.lock} {
		if f != nil {
			_ = f.Close()
		}
	}
	m.leaveDir()
}

// leaveDir tidies the directory up, unless another manager has it.
func (m *Manager) leaveDir() {
	lock, err := os.OpenFile(filepath.Join(m.cfg.Dir, lockName), os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer func() { _ = lock.Close() }()
	if lockFile(lock) != nil {
		return
	}
	if m.podman != nil && m.podman.own != nil {
		m.podman.own.endPause()
	}
	if m.unmarked {
		m.unmark()
	}
}
