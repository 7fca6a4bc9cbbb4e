package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/group"
)

// killed is how long the end of a killed process is waited for.
const killed = 2 * time.Second

// flush is how long the output that a dead process left in its pipes may take
// to be read.
const flush = 100 * time.Millisecond

// handshakeLimit is the longest handshake line that is read.
const handshakeLimit = 4 << 10

// Options say how a process is kept.
type Options struct {
	Log    hclog.Logger
	File   string // what is started, for people
	Limits config.Limits
	Leaves bool // what it starts in other sessions may outlive it
}

// Process is one process of a plugin: a runner.Runner that owns the process and all
// that it started. Its end is seen by waiting for it, never by its pipes, which
// a grandchild may hold open.
type Process struct {
	Options
	set *Set

	// Dir is the folder of its sockets.
	Dir string
	// Confined is set when a shim holds the process, which then has a user namespace.
	Confined bool
	// Begun is called when the process was started, or cannot be; Meanwhile once it
	// was, beside its start.
	Begun, Meanwhile func()

	cmd     *exec.Cmd
	mark    string // what the environment has of all that it starts; empty where that may outlive it
	space   *group.Space
	foreign bool // its author's: it is never signalled
	done    chan struct{}
	state   *os.ProcessState
	wg      sync.WaitGroup

	mu    sync.Mutex
	pid   int  // 0 until it was started
	ended bool // reaped: its pid may be somebody else's
	told  bool // it was killed here

	spoke  chan struct{} // closed when first is there
	first  []byte        // what it said on standard output before or instead of a handshake
	heard  chan struct{} // closed when all of its standard error was read
	lines  *Lines        // its standard error
	stdout *io.PipeReader
	stderr *io.PipeReader
}

// New is a process that is not started yet; it is among the set's until it is closed.
func (s *Set) New(o Options) *Process {
	p := &Process{
		Options: o, set: s, Begun: func() {}, Meanwhile: func() {},
		done: make(chan struct{}), spoke: make(chan struct{}), heard: make(chan struct{}), lines: NewLines(o.Log),
	}
	s.add(p)
	return p
}

// Foreign makes it one that somebody else has started, and owns: nothing ends it, and
// its end is what the channel that Left closes says.
func (p *Process) Foreign(pid int) { p.foreign, p.pid = true, pid }

// Left says that nothing is heard of a foreign process any more. It is called once.
func (p *Process) Left() { close(p.done) }

// Done is closed when the process has ended, and its group is killed.
func (p *Process) Done() <-chan struct{} { return p.done }

// Take makes cmd the process: go-plugin chose dir for its sockets.
func (p *Process) Take(cmd *exec.Cmd, dir string) {
	p.cmd, p.Dir = cmd, dir
	if !p.Leaves {
		p.mark = goplugin.EnvUnixSocketDir + "=" + dir
	}
}

// Start implements runner.Runner.
func (p *Process) Start(context.Context) error {
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return errors.Join(err, outR.Close(), outW.Close())
	}
	p.cmd.Stdout, p.cmd.Stderr = outW, errW
	started := make(chan error)
	p.wg.Go(func() { p.own(started, outR, errR) })
	err = <-started
	p.Begun()
	closed := errors.Join(outW.Close(), errW.Close())
	if err != nil {
		return fmt.Errorf("start %s: %w", p.File, errors.Join(err, outR.Close(), errR.Close()))
	}
	if closed != nil {
		p.Log.Debug("closing the plugin's ends of its pipes", "error", closed)
	}
	var outTo, errTo *io.PipeWriter
	p.stdout, outTo = io.Pipe()
	p.stderr, errTo = io.Pipe()
	p.lines.levelled = errTo
	p.wg.Go(func() { p.pumpStdout(outR, outTo) })
	p.wg.Go(func() { p.pumpStderr(errR, errTo) })
	p.Meanwhile()
	return nil
}

// own starts the process and waits for its end on one thread: Linux sends the
// signal that ends a plugin with its daemon when that thread ends.
func (p *Process) own(started chan<- error, pipes ...*os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		close(p.done) // first: who is told of the error may ask how it ended
		started <- err
		return
	}
	p.mu.Lock()
	p.pid = p.cmd.Process.Pid
	told := p.told
	p.mu.Unlock()
	if p.Confined {
		p.space = p.set.enter(p.pid)
	}
	led := p.set.reaper.add(p.pid, p.mark)
	limit(p.pid, p.Limits)
	started <- nil
	if told {
		p.killGroup()
	}
	if err := p.reap(); err != nil {
		p.Log.Debug("waiting for the plugin's process", "error", err)
	}
	close(p.done)
	p.set.reaper.remove(led)
	for _, f := range pipes {
		if err := f.SetReadDeadline(time.Now()); err != nil {
			_ = f.Close() // the pump ends by it
		}
	}
}

// pumpStdout passes the handshake line on and logs what is behind it, so that a
// plugin that prints never blocks. One that is too long is no handshake: go-plugin is
// told so at once.
func (p *Process) pumpStdout(from *os.File, to *io.PipeWriter) {
	defer from.Close()
	r := bufio.NewReaderSize(&pipe{from: from}, handshakeLimit)
	line, err := r.ReadSlice('\n')
	p.first = bytes.TrimSuffix(bytes.Clone(line), []byte{'\n'})
	close(p.spoke)
	switch {
	case err == nil:
		_, _ = to.Write(append(p.first, '\n')) // fails only when go-plugin gave up
	case errors.Is(err, bufio.ErrBufferFull):
		_, _ = io.WriteString(to, "no handshake\n")
	}
	rest := NewLines(p.Log)
	_, _ = io.Copy(rest, r) // it ends with the pipe
	rest.Flush()
	_ = to.Close() // a pipe's Close never fails
}

func (p *Process) pumpStderr(from *os.File, to *io.PipeWriter) {
	defer from.Close()
	_, _ = io.Copy(p.lines, &pipe{from: from}) // it ends with the pipe
	p.lines.Flush()
	p.lines.Report()
	close(p.heard)
	_ = to.Close() // a pipe's Close never fails
}

// Said is what stands on standard output where the handshake belongs. The process has
// ended, or said something.
func (p *Process) Said() string {
	select {
	case <-p.spoke:
		return string(p.first)
	case <-time.After(flush):
		return ""
	}
}

// Quit asks the process to write where its goroutines stand, as Go programs do
// on SIGQUIT before they end, and returns what it wrote. One that was stopped
// goes on for it. It waits no longer than within for the end.
func (p *Process) Quit(within time.Duration) []byte {
	p.lines.ask()
	p.signal(func(pid int) int { return pid }, syscall.SIGQUIT, syscall.SIGCONT)
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-p.done:
		select {
		case <-p.heard:
		case <-late.C:
		}
	case <-late.C:
	}
	return p.lines.answer()
}

// signal sends signals to the process, or to its group where to makes that of its id.
// The group of a process that is not reaped yet cannot be another's.
func (p *Process) signal(to func(pid int) int, signals ...syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, sig := range signals {
		if p.pid == 0 || p.ended || p.foreign {
			return
		}
		if err := syscall.Kill(to(p.pid), sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			p.Log.Debug("signalling the plugin", "signal", sig, "error", err)
		}
	}
}

func (p *Process) killGroup() { p.signal(func(pid int) int { return -pid }, syscall.SIGKILL) }

// Kill implements runner.Runner: it ends the whole group, hung or not, and
// returns when the process is gone, after two seconds at most. One that is started
// later ends at once. A foreign one is left alone.
func (p *Process) Kill(context.Context) error {
	p.mu.Lock()
	p.told = p.told || !p.ended
	p.mu.Unlock()
	p.killGroup()
	if p.foreign || p.PID() == 0 {
		return nil
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(killed):
		return fmt.Errorf("process %s did not end within %v of SIGKILL", p.ID(), killed)
	}
}

// Close kills the process, waits for the goroutines, and takes the pipes away from one
// that nobody reads from. An error is that it did not end: then nothing is closed.
func (p *Process) Close() error {
	if err := p.Kill(context.Background()); err != nil {
		return err
	}
	defer p.set.drop(p)
	over := make(chan struct{})
	go func() {
		defer close(over)
		p.wg.Wait()
	}()
	select {
	case <-over:
		return nil
	case <-time.After(2 * flush):
	}
	if p.stdout != nil {
		_, _ = p.stdout.Close(), p.stderr.Close() // a pipe's Close never fails
	}
	<-over
	return nil
}

// Wait implements runner.Runner. That it was killed here is no error, which go-plugin
// would log as one.
func (p *Process) Wait(context.Context) error {
	<-p.done
	p.mu.Lock()
	told := p.told
	p.mu.Unlock()
	if p.state != nil && !p.state.Success() && !told {
		return errors.New(p.state.String())
	}
	return nil
}

// How says how the process ended, for people.
func (p *Process) How() string {
	select {
	case <-p.done:
	default:
		return "it still runs"
	}
	if p.state == nil {
		return "it never ran"
	}
	select { // its last words may still be in the pipe
	case <-p.heard:
	case <-time.After(flush):
	}
	how := "it ended with " + p.state.String()
	if words := p.lines.last(); words != "" {
		how += "; its last words: " + words
	}
	return how
}

// starved are the words of runtimes that end because they get no more memory.
var starved = []string{"out of memory", "MemoryError", "cannot allocate memory", "Cannot allocate memory"}

// OutOfMemory reports whether the process failed with last words that there was no
// memory. How was asked before.
func (p *Process) OutOfMemory() bool {
	words := p.lines.last()
	return p.state != nil && !p.state.Success() && slices.ContainsFunc(starved, func(s string) bool { return strings.Contains(words, s) })
}

// Stdout implements runner.Runner.
func (p *Process) Stdout() io.ReadCloser { return p.stdout }

// Stderr implements runner.Runner.
func (p *Process) Stderr() io.ReadCloser { return p.stderr }

// Name implements runner.Runner.
func (p *Process) Name() string { return filepath.Base(p.File) }

// PID is the process id; 0 before there is one.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid
}

// ID implements runner.Runner: the process id, "0" before there is one.
func (p *Process) ID() string { return strconv.Itoa(p.PID()) }

// Diagnose implements runner.Runner; Said and How tell more.
func (p *Process) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner: only a Unix socket in the folder that
// the plugin was given is dialled.
func (p *Process) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" || filepath.Dir(filepath.Clean(address)) != filepath.Clean(p.Dir) {
		return "", "", fmt.Errorf("it listens on %s %s: it must make a Unix socket in the folder that PLUGIN_UNIX_SOCKET_DIR names", network, address)
	}
	return network, address, nil
}

// HostToPlugin implements runner.Runner.
func (p *Process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

var _ runner.Runner = (*Process)(nil)
