package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A background command has a container of its own, so that the end of another command
// does not touch it and it can be ended alone. The container shares the network of the
// run's other ones, in which loopback is the same: commands reach a server that runs in
// the background. The project is mounted read-only, and itself, not a view: a
// development server sees every change as soon as it is applied. Folders that git
// ignores, such as node_modules, have an overlay that goes with the command, since such
// servers write there.

// MaxBackground is how long a background command may run.
const MaxBackground = 24 * time.Hour

// mostWritable is how many folders of a project get an overlay; those that git names
// first do.
const mostWritable = 40

// errStopped ends a background command whose end was asked for.
var errStopped = &Error{Code: CodeLost, Message: "the command was stopped"}

// background is what a run's container is, beside what the run says.
type background struct {
	neighbour int      // the process 1 of the run's other container, whose network it shares; 0 is none
	writable  []string // folders of the project, with slashes
}

// Background is a command that runs beside the others of its run.
type Background struct {
	// Writable are the folders of the project that the command can write to; what it
	// writes there is thrown away. Relative, with slashes.
	Writable []string

	pid    int
	stop   context.CancelCauseFunc
	done   chan struct{}
	result Result
	err    error
}

// Done is closed when no process of the command lives any more.
func (b *Background) Done() <-chan struct{} { return b.done }

// Stop ends the command; Done tells when that has happened.
func (b *Background) Stop() { b.stop(errStopped) }

// Result is how the command ended, once Done is closed. One that was stopped has a
// result and no error.
func (b *Background) Result() (Result, error) { return b.result, b.err }

// Start starts a command in the background. It lives until it ends, Stop ends it, or
// the manager is closed; ctx is that of starting it alone. The run's other container is
// made when there is none. Sink is called until Done. The command can change nothing of
// the project, so that nothing is judged; [Command.Call] is of no use, and a Timeout of
// zero is [MaxBackground].
func (m *Manager) Start(ctx context.Context, run RunSpec, c Command, sink Sink) (*Background, error) {
	if err := run.check(); err != nil {
		return nil, err
	}
	timeout := c.Timeout
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	c.Call, c.Timeout = "", min(timeout, MaxBackground)
	if timeout <= 0 {
		c.Timeout = MaxBackground
	}
	if err := m.enter(); err != nil {
		return nil, err
	}
	starting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(m.life, func() { cancel(errClosed) })()
	b, err := m.session(run.RunID).background(starting, run, c, sink)
	if err != nil {
		m.active.Done()
		return nil, cause(starting, err)
	}
	return b, nil
}

// background makes a background command's container and starts it there, while no other
// command of the run changes the run's container.
func (s *session) background(ctx context.Context, run RunSpec, c Command, sink Sink) (*Background, error) {
	inner, end, err := s.begin(ctx, run)
	if err != nil {
		return nil, err
	}
	defer end()
	writable, err := s.ignored(inner, run)
	if err != nil {
		return nil, err
	}
	if s.container == nil {
		return nil, failed("make the run's container", nil)
	}
	own := run
	own.RunID = run.RunID + "." + newName()
	own.beside = &background{neighbour: s.container.pid, writable: writable}
	return s.manager.session(own.RunID).startBackground(inner, own, run.RunID, c, sink)
}

// ignored are the folders of the project that git ignores. It is asked in a command of
// the run, for settings of a repository name programs.
func (s *session) ignored(ctx context.Context, run RunSpec) ([]string, error) {
	var listed strings.Builder
	ask := Command{Argv: []string{"git", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"}}
	ask, err := ask.complete()
	if err != nil {
		return nil, err
	}
	ask.Timeout = 20 * time.Second
	for range attempts {
		listed.Reset()
		result, again, err := s.attempt(ctx, run, ask, func(channel int, data []byte) {
			if channel == 1 {
				listed.Write(data)
			}
		})
		if again {
			continue
		}
		result.Release()
		if err != nil && Code(err) != CodeNotStarted { // else there is no git
			return nil, err
		}
		break
	}
	if run.Project == "" {
		return nil, nil
	}
	var folders []string
	for name := range strings.SplitSeq(listed.String(), "\x00") {
		folder, is := strings.CutSuffix(name, "/")
		if !is || folder == "" || !filepath.IsLocal(folder) || strings.ContainsAny(folder, `:,\`) {
			continue
		}
		if folders = append(folders, folder); len(folders) == mostWritable {
			break
		}
	}
	return folders, nil
}

// startBackground makes the container and starts the command. Of is the run that it
// belongs to.
func (s *session) startBackground(ctx context.Context, run RunSpec, of string, c Command, sink Sink) (_ *Background, err error) {
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.endBackground(run))
		}
	}()
	if err := s.claim(ctx); err != nil {
		return nil, err
	}
	way := s.manager.views.way(ctx, run)
	if way.reason == "" {
		run.views = s.viewsDir(way.upper)
	} else {
		run.beside.writable = nil // no overlay is possible
	}
	if err := s.makeBackground(ctx, run); err != nil {
		return nil, err
	}
	life, stop := context.WithCancelCause(s.manager.life)
	b := &Background{Writable: run.beside.writable, pid: s.container.pid, stop: stop, done: make(chan struct{})}
	s.manager.beside(of, b)
	go func() {
		defer s.manager.active.Done()
		defer close(b.done)
		defer stop(nil)
		id := s.container.short()
		exit, overflow, err := s.execute(life, run, c, sink, false)
		s.manager.apart(of, b)
		b.result, b.err = s.conclude(life, c, exit, err)
		if errors.Is(b.err, errStopped) {
			b.err = nil
		}
		b.result.Container, b.result.Timeout, b.result.Overflow = id, c.Timeout, overflow
		if err := s.endBackground(run); err != nil {
			s.manager.logger.Warn("what is left of a background command stays", "run", of, "error", err)
		}
	}()
	return b, nil
}

// makeBackground makes the container while nothing is applied to the project: what is
// mounted is found by its path, and must be no link that came there a moment ago.
func (s *session) makeBackground(ctx context.Context, run RunSpec) error {
	if run.Project == "" {
		return s.ensure(ctx, run, &protection{})
	}
	project, err := pinProject(run.workspace())
	if err != nil {
		return err
	}
	defer func() { _ = project.Close() }()
	device, inode, err := identity(project)
	if err != nil {
		return failed("look at the project", err)
	}
	unlock, err := s.manager.lockProject(ctx, device, inode)
	if err != nil {
		return err
	}
	defer unlock()
	run.beside.writable = slices.DeleteFunc(run.beside.writable, func(folder string) bool {
		f, err := pinAt(project, filepath.FromSlash(folder), true)
		if err == nil {
			_ = f.Close()
		}
		return err != nil
	})
	return s.ensure(ctx, run, &protection{})
}

// endBackground takes away all that a background command had. Who has the turn of its
// session calls it, and has it no more.
func (s *session) endBackground(run RunSpec) error {
	err := s.discard()
	if run.views != "" && s.manager.views.viewer != nil {
		ctx, cancel := context.WithTimeout(context.Background(), apiTimeout)
		defer cancel()
		err = errors.Join(err, s.manager.views.viewer.remove(ctx, run.views))
	}
	_ = os.RemoveAll(s.dir)
	_ = os.Remove(s.dir + ".lock")
	s.unclaim()
	s.manager.mu.Lock()
	delete(s.manager.sessions, s.run)
	s.manager.mu.Unlock()
	s.give()
	return err
}

// dropBackgrounds removes what background commands of managers that died have written.
func (vs *views) dropBackgrounds(ctx context.Context) {
	for _, upper := range vs.manager.cfg.uppers() {
		found, err := filepath.Glob(filepath.Join(upper, "*", writableName))
		if err != nil || len(found) == 0 {
			continue
		}
		viewer, err := vs.helper(ctx)
		if err != nil {
			return // it was logged
		}
		for _, dir := range found {
			dir = filepath.Dir(dir)
			locks := filepath.Join(vs.manager.cfg.Dir, "s")
			if os.MkdirAll(locks, 0o700) != nil {
				return
			}
			lock := filepath.Join(locks, filepath.Base(dir)+".lock")
			f, err := holdFile(lock)
			if err != nil {
				continue // another manager's command runs
			}
			if err := viewer.remove(ctx, dir); err != nil {
				vs.manager.logger.Warn("what a background command wrote stays", "folder", dir, "error", err)
			}
			_ = os.Remove(lock)
			_ = f.Close()
		}
	}
}

// overlays are the folders of the project that the command may write to.
func (r RunSpec) overlays() (all []overlayVolume) {
	if r.beside == nil || r.views == "" || strings.ContainsAny(r.views+r.Project, `:,\`) {
		return nil
	}
	for _, root := range r.roots() {
		for _, folder := range r.beside.writable {
			dir := r.writableDir(root, folder)
			all = append(all, overlayVolume{
				Destination: root + "/" + folder, Source: filepath.Join(r.workspace(), filepath.FromSlash(folder)),
				Options: []string{"upperdir=" + filepath.Join(dir, "u"), "workdir=" + filepath.Join(dir, "w")},
			})
		}
	}
	return all
}

// writableDir is where what the command writes to a folder of the project lies. Two
// mounts must not share it.
func (r RunSpec) writableDir(root, folder string) string {
	return filepath.Join(r.views, writableName, key(root+"\x00"+folder))
}

// writableName is the folder, among the views of a background command, of what it writes
// to folders of the project. It is there whether it writes or not.
const writableName = "writable"

// prepareOverlays makes what the overlays need.
func (r RunSpec) prepareOverlays() error {
	if r.views == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(r.views, writableName), 0o700); err != nil {
		return failed("make a folder for what a background command writes", err)
	}
	for _, root := range r.roots() {
		for _, folder := range r.beside.writable {
			for _, name := range []string{"u", "w"} {
				if err := os.MkdirAll(filepath.Join(r.writableDir(root, folder), name), 0o700); err != nil {
					return failed("make a folder for what a background command writes", err)
				}
			}
		}
	}
	return nil
}

// share has the container share the network of another one. The kernel's /sys is of a
// network too, and cannot be mounted for one that another user namespace has: there is
// nothing but the control groups.
func (s *containerSpec) share(pid int) {
	if pid == 0 {
		return
	}
	s.NetNS, s.NetworkOptions = namespace{Mode: "path", Value: fmt.Sprintf("/proc/%d/ns/net", pid)}, nil
	s.Mounts = append(s.Mounts, mount{Destination: "/sys", Type: "tmpfs", Source: "tmpfs", Options: []string{"rw", "nosuid", "nodev", "noexec", "mode=555", "size=64k"}})
}

// neighbours are the background commands that run, by their run.
type neighbours struct {
	mu  sync.Mutex
	all map[string][]*Background
}

func (m *Manager) beside(run string, b *Background) {
	m.neighbours.mu.Lock()
	defer m.neighbours.mu.Unlock()
	if m.neighbours.all == nil {
		m.neighbours.all = make(map[string][]*Background)
	}
	m.neighbours.all[run] = append(m.neighbours.all[run], b)
}

func (m *Manager) apart(run string, b *Background) {
	m.neighbours.mu.Lock()
	defer m.neighbours.mu.Unlock()
	rest := slices.DeleteFunc(m.neighbours.all[run], func(other *Background) bool { return other == b })
	if len(rest) == 0 {
		delete(m.neighbours.all, run)
		return
	}
	m.neighbours.all[run] = rest
}

// neighbour is the process 1 of a container with a background command of a run, or 0.
func (m *Manager) neighbour(run string) int {
	m.neighbours.mu.Lock()
	defer m.neighbours.mu.Unlock()
	for _, b := range m.neighbours.all[run] {
		return b.pid
	}
	return 0
}
