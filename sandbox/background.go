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

	"github.com/bothyd/bothy/sandbox/frame"
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
	neighbour int        // the process 1 of the run's other container, whose network it shares; 0 is none
	writable  []writable // folders of the project
}

// writable is a folder of the project that a background command can write to, by an
// overlay that is mounted for it.
type writable struct {
	folder string // relative to the project, with slashes
	// at has the overlay, for each place where the project lies inside.
	at []string
}

// Background is a command that runs beside the others of its run.
type Background struct {
	// Writable are the folders of the project that the command can write to; what it
	// writes there is thrown away. Relative, with slashes.
	Writable []string

	pid     int
	network bool
	stop    context.CancelCauseFunc
	done    chan struct{}
	result  Result
	err     error
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
// zero is [MaxBackground]. The result is that of a command of the run that was made before
// it: what it tells of earlier ones is told by nothing else.
func (m *Manager) Start(ctx context.Context, run RunSpec, c Command, sink Sink) (*Background, Result, error) {
	if err := run.check(); err != nil {
		return nil, Result{}, err
	}
	timeout := c.Timeout
	c, err := c.complete()
	if err != nil {
		return nil, Result{}, err
	}
	c.Call, c.Timeout = "", min(timeout, MaxBackground)
	if timeout <= 0 {
		c.Timeout = MaxBackground
	}
	if err := m.enter(); err != nil {
		return nil, Result{}, err
	}
	starting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(m.life, func() { cancel(errClosed) })()
	b, asked, err := m.session(run.RunID).background(starting, run, c, sink)
	if err != nil {
		m.active.Done()
		return nil, asked, cause(starting, err)
	}
	return b, asked, nil
}

// background makes a background command's container and starts it there, while no other
// command of the run changes the run's container.
func (s *session) background(ctx context.Context, run RunSpec, c Command, sink Sink) (*Background, Result, error) {
	inner, end, err := s.begin(ctx, run)
	if err != nil {
		return nil, Result{}, err
	}
	defer end()
	folders, asked, err := s.ignored(inner, run)
	if err != nil {
		return nil, asked, err
	}
	if s.container == nil {
		return nil, asked, failed("make the run's container", nil)
	}
	own := run
	own.RunID = run.RunID + "." + newName()
	own.beside = &background{neighbour: s.container.pid}
	b, err := s.manager.session(own.RunID).startBackground(inner, own, run.RunID, folders, c, sink)
	return b, asked, err
}

// ignored are the folders of the project that git ignores. It is asked in a command of
// the run, for settings of a repository name programs. Of a folder that has nothing else
// in it, git names what it ignores there too, and the folder is left out: who watches it
// is told of no change below an overlay.
func (s *session) ignored(ctx context.Context, run RunSpec) (folders []string, asked Result, err error) {
	var listed strings.Builder
	ask, err := Command{
		Argv: []string{"git", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"}, Timeout: 20 * time.Second,
	}.complete()
	if err != nil {
		return nil, asked, err
	}
	for again, left := true, attempts; again && left > 0; left-- {
		listed.Reset()
		asked, again, err = s.attempt(ctx, run, ask, func(channel int, data []byte) {
			if channel == 1 {
				listed.Write(data)
			}
		})
	}
	if Code(err) == CodeNotStarted { // there is no git
		err = nil
	}
	if err != nil || run.Project == "" {
		return nil, asked, err
	}
	names := strings.Split(listed.String(), "\x00")
	for _, name := range names {
		folder, is := strings.CutSuffix(name, "/")
		inner := func(other string) bool { return other != name && strings.HasPrefix(other, name) }
		if !is || folder == "" || !filepath.IsLocal(folder) || slices.ContainsFunc(names, inner) {
			continue
		}
		if folders = append(folders, folder); len(folders) == mostWritable {
			break
		}
	}
	return folders, asked, nil
}

// startBackground makes the container and starts the command. Of is the run that it
// belongs to, folders are those that it may write to if that is possible.
func (s *session) startBackground(ctx context.Context, run RunSpec, of string, folders []string, c Command, sink Sink) (_ *Background, err error) {
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
	if way := s.manager.views.way(ctx, run); way.reason == "" {
		run.views = s.viewsDir(way.upper)
		if err := s.mountWritable(ctx, run, way.viewer, folders); err != nil {
			return nil, err
		}
	}
	if err := s.mountsBelow(run); err != nil {
		return nil, err
	}
	if err := s.ensure(ctx, run, &protection{}); err != nil {
		return nil, err
	}
	life, stop := context.WithCancelCause(s.manager.life)
	b := &Background{pid: s.container.pid, network: run.Network, stop: stop, done: make(chan struct{})}
	for _, w := range run.beside.writable {
		b.Writable = append(b.Writable, w.folder)
	}
	s.manager.beside(of, b)
	go func() {
		defer s.manager.active.Done()
		defer close(b.done)
		defer stop(nil)
		id := s.container.short()
		exit, overflow, err := s.execute(life, run, c, sink, false)
		s.manager.apart(b)
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

// mountWritable mounts the overlays of folders of the project. The helper does: it takes
// a folder that was opened without following a link, where Podman would take what lies at
// its path by then. What cannot be mounted is left out.
func (s *session) mountWritable(ctx context.Context, run RunSpec, viewer *viewer, folders []string) error {
	project, err := pinProject(run.Project)
	if err != nil {
		return err
	}
	defer func() { _ = project.Close() }()
	for _, folder := range folders {
		w := writable{folder: folder}
		for range run.roots() { // two places cannot share what is written
			at, err := s.mountOne(ctx, run, viewer, project, folder)
			if err != nil {
				s.manager.logger.Debug("a folder cannot be written to in the background", "run", s.run, "folder", folder, "error", err)
				break
			}
			w.at = append(w.at, at)
		}
		if len(w.at) == len(run.roots()) {
			run.beside.writable = append(run.beside.writable, w)
		}
	}
	return nil
}

// mountOne mounts one overlay of a folder, in a new folder among the views of the
// command.
func (s *session) mountOne(ctx context.Context, run RunSpec, viewer *viewer, project *os.File, folder string) (at string, err error) {
	f, err := pinAt(project, filepath.FromSlash(folder), true)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	spec := frame.View{Project: filepath.Join(filepath.Clean(run.Project), filepath.FromSlash(folder)), Dir: filepath.Join(run.views, writableName, newName())}
	spec.Slot = filepath.Join(spec.Dir, "m")
	if spec.Device, spec.Inode, err = identity(f); err != nil {
		return "", err
	}
	if err := os.MkdirAll(spec.Slot, 0o700); err != nil {
		return "", err
	}
	return spec.Slot, viewer.mount(ctx, spec)
}

// mountsBelow refuses a project in which something else is mounted: only the mount of
// the project itself would be read-only.
func (s *session) mountsBelow(run RunSpec) error {
	if run.Project == "" {
		return nil
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return failed("read what is mounted", err)
	}
	top := strings.TrimSuffix(filepath.Clean(run.Project), "/") + "/"
	for _, m := range frame.ParseMounts(table) {
		if strings.HasPrefix(m.Point, top) {
			return unavailable(fmt.Sprintf("%s is mounted inside the project, and a command in the background could change it", m.Point), "run it without background = true", nil)
		}
	}
	return nil
}

// endBackground takes away all that a background command had. Who has the turn of its
// session calls it, and has it no more.
func (s *session) endBackground(run RunSpec) error {
	err := s.discard()
	if run.views != "" {
		ctx, cancel := context.WithTimeout(context.Background(), apiTimeout)
		defer cancel()
		viewer, helperErr := s.manager.views.helper(ctx)
		if helperErr == nil {
			helperErr = viewer.remove(ctx, run.views) // with what is mounted there
		}
		err = errors.Join(err, helperErr)
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

// writableMounts are the overlays of the folders that the command may write to.
func (r RunSpec) writableMounts() (all []mount) {
	if r.beside == nil {
		return nil
	}
	for _, w := range r.beside.writable {
		for i, root := range r.roots() {
			all = append(all, readWrite(w.at[i], root+"/"+w.folder))
		}
	}
	return all
}

// writableName is the folder, among the views of a background command, of what it writes
// to folders of the project. It is there whether it writes or not.
const writableName = "writable"

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

// neighbours are the background commands that run, each with its run.
type neighbours struct {
	mu  sync.Mutex
	all map[*Background]string
}

func (m *Manager) beside(run string, b *Background) {
	m.neighbours.mu.Lock()
	defer m.neighbours.mu.Unlock()
	if m.neighbours.all == nil {
		m.neighbours.all = map[*Background]string{}
	}
	m.neighbours.all[b] = run
}

func (m *Manager) apart(b *Background) {
	m.neighbours.mu.Lock()
	defer m.neighbours.mu.Unlock()
	delete(m.neighbours.all, b)
}

// neighbour is the process 1 of a container with a background command of a run that has
// no network, or 0.
func (m *Manager) neighbour(run string) int {
	m.neighbours.mu.Lock()
	defer m.neighbours.mu.Unlock()
	for b, of := range m.neighbours.all {
		if of == run && !b.network {
			return b.pid
		}
	}
	return 0
}
