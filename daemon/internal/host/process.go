package host

import (
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
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/confine"
	"github.com/bothyd/bothy/daemon/internal/group"
	"github.com/bothyd/bothy/daemon/internal/inspect"
)

// socketPrefix begins the names that go-plugin gives the folders of sockets.
const socketPrefix = "plugin-dir"

// killed is how long the end of a killed process is waited for.
const killed = 2 * time.Second

// flush is how long the output that a dead process left in its pipes may take
// to be read.
const flush = 100 * time.Millisecond

// handshakeLimit is the longest handshake line that is read.
const handshakeLimit = 4 << 10

// process is one started plugin: a runner.Runner that owns the process and all
// that it started. Its end is seen by waiting for it, never by its pipes, which
// a grandchild may hold open.
type process struct {
	binary *inspect.Binary
	cmd    *exec.Cmd
	log    hclog.Logger
	limits config.Limits
	leaves bool             // what it starts in other sessions may outlive it
	mark   string           // what the environment has of all that it starts; empty where that may outlive it
	walls  *confine.Process // nil: none

	spaces *spaces      // of all plugins
	space  *group.Space // its own, where it is confined

	meanwhile func() // called while the process starts

	socketDir string
	done      chan struct{} // closed when the process is reaped and its group killed
	heard     chan struct{} // closed when all of its standard error was read
	state     *os.ProcessState
	wg        sync.WaitGroup

	mu    sync.Mutex
	pid   int  // 0 until it was started
	ended bool // reaped: its pid may be somebody else's

	firstMu  sync.Mutex
	first    []byte // what it said on standard output before or instead of a handshake
	stdout   io.ReadCloser
	stderr   io.ReadCloser
	lines    *lineLimiter
	stacks   stderrCapture
	reaper   *reaper
	released []io.Closer
}

func newProcess(log hclog.Logger, b *inspect.Binary, limits config.Limits) *process {
	return &process{binary: b, log: log, limits: limits, done: make(chan struct{}), heard: make(chan struct{}), lines: newLineLimiter(log)}
}

// prepare makes the process what go-plugin asks for in cmd; env is all that it
// gets besides.
func (p *process) prepare(cmd *exec.Cmd, args, env []string, socketDir string) error {
	program := p.binary.Program()
	cmd.Path, cmd.Args = program, slices.Concat([]string{program}, p.binary.Args(), args)
	cmd.Env = append(env, cmd.Env...)
	cmd.Stdin = nil // the null device
	cmd.Dir = "/"
	p.binary.SetUp(cmd)
	p.cmd, p.socketDir = cmd, socketDir
	if !p.leaves {
		p.mark = goplugin.EnvUnixSocketDir + "=" + socketDir
	}
	if p.walls == nil {
		return nil
	}
	return p.walls.Apply(cmd, p.binary.File, socketDir)
}

// Start implements runner.Runner.
func (p *process) Start(context.Context) error {
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
	p.walls.Started()
	closed := errors.Join(outW.Close(), errW.Close())
	if err != nil {
		return fmt.Errorf("start %s: %w", p.binary.Path, errors.Join(err, outR.Close(), errR.Close()))
	}
	if closed != nil {
		p.log.Debug("closing the plugin's ends of its pipes", "error", closed)
	}
	outPipe, outTo := io.Pipe()
	errPipe, errTo := io.Pipe()
	p.stdout, p.stderr = outPipe, errPipe
	p.released = []io.Closer{outPipe, errPipe}
	p.wg.Go(func() { p.pumpStdout(outR, outTo) })
	p.wg.Go(func() { p.pumpStderr(errR, errTo) })
	p.meanwhile()
	return nil
}

// own starts the process and waits for its end on one thread: Linux sends the
// signal that ends a plugin with its daemon when that thread ends.
func (p *process) own(started chan<- error, pipes ...*os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		close(p.done)
		return
	}
	p.mu.Lock()
	p.pid = p.cmd.Process.Pid
	p.mu.Unlock()
	if p.walls != nil {
		p.space = p.spaces.enter(p.pid)
	}
	led := p.reaper.add(p.pid, p.mark)
	limit(p.pid, p.limits)
	started <- nil

	if err := p.reap(); err != nil {
		p.log.Debug("waiting for the plugin's process", "error", err)
	}
	close(p.done)
	p.reaper.remove(led)
	for _, f := range pipes {
		if err := f.SetReadDeadline(time.Now()); err != nil {
			_ = f.Close() // the pump ends by it
		}
	}
}

// signalGroup needs p.mu. The group of a process that is not reaped yet cannot
// be another's.
func (p *process) signalGroup(sig syscall.Signal) {
	if p.pid != 0 && !p.ended {
		if err := syscall.Kill(-p.pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			p.log.Debug("signalling the plugin's processes", "signal", sig, "error", err)
		}
	}
}

// pumpStdout passes the handshake line on and logs what is behind it, so that a
// plugin that prints never blocks.
func (p *process) pumpStdout(from *os.File, to *io.PipeWriter) {
	defer from.Close()
	buf, out := make([]byte, 32<<10), &pipe{from: from}
	passed, rest := false, newPrinted(p.log)
	for {
		n, err := out.Read(buf)
		behind := buf[:n]
		if !passed {
			passed, behind = p.handshake(behind, to)
		}
		_, _ = rest.Write(behind) // it never fails
		if err != nil {
			rest.flush()
			_ = to.Close() // a pipe's Close never fails
			return
		}
	}
}

// handshake collects the first line and passes it on when it is whole, and returns
// what is behind it. One that is too long is no handshake: go-plugin is told so at once.
func (p *process) handshake(b []byte, to *io.PipeWriter) (passed bool, behind []byte) {
	p.firstMu.Lock()
	p.first = append(p.first, b...)
	line, behind, whole := bytes.Cut(p.first, []byte{'\n'})
	if !whole && len(p.first) < handshakeLimit {
		p.firstMu.Unlock()
		return false, nil
	}
	if whole && len(line) < handshakeLimit {
		p.first = bytes.Clone(line)
	} else {
		p.first, line = bytes.Clone(p.first[:min(len(p.first), handshakeLimit)]), []byte("no handshake")
	}
	p.firstMu.Unlock()
	_, _ = to.Write(append(bytes.Clone(line), '\n')) // fails only when go-plugin gave up
	return true, behind
}

// said is what stands on standard output where the handshake belongs.
func (p *process) said() string {
	p.firstMu.Lock()
	defer p.firstMu.Unlock()
	return string(p.first)
}

func (p *process) pumpStderr(from *os.File, to *io.PipeWriter) {
	defer from.Close()
	p.stacks.from = &pipe{from: from}
	p.lines.copy(to, &p.stacks)
	close(p.heard)
	_ = to.Close() // a pipe's Close never fails
}

// quit asks the process to write where its goroutines stand, as Go programs do
// on SIGQUIT before they end, and returns what it wrote. One that was stopped
// goes on for it. It waits no longer than within for the end.
func (p *process) quit(within time.Duration) []byte {
	p.stacks.begin()
	p.signal(syscall.SIGQUIT)
	p.signal(syscall.SIGCONT)
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
	return p.stacks.taken()
}

// signal sends a signal to the process alone.
func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pid != 0 && !p.ended {
		if err := syscall.Kill(p.pid, sig); err != nil {
			p.log.Debug("signalling the plugin", "signal", sig, "error", err)
		}
	}
}

// Kill implements runner.Runner: it ends the whole group, hung or not, and
// returns when the process is gone, after two seconds at most.
func (p *process) Kill(context.Context) error {
	p.mu.Lock()
	p.signalGroup(syscall.SIGKILL)
	running := p.pid != 0
	p.mu.Unlock()
	if !running {
		return nil
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(killed):
		return fmt.Errorf("process %s did not end within %v of SIGKILL", p.ID(), killed)
	}
}

// release waits for the goroutines, and takes the pipes away from one that
// nobody reads from. The process has ended, or never began.
func (p *process) release() {
	over := make(chan struct{})
	go func() {
		defer close(over)
		p.wg.Wait()
	}()
	select {
	case <-over:
	case <-time.After(2 * flush):
		for _, c := range p.released {
			_ = c.Close() // a pipe's Close never fails
		}
		<-over
	}
}

// Wait implements runner.Runner.
func (p *process) Wait(context.Context) error {
	<-p.done
	if p.state != nil && !p.state.Success() {
		return errors.New(p.state.String())
	}
	return nil
}

// how says how the process ended, for people.
func (p *process) how() string {
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

// Stdout implements runner.Runner.
func (p *process) Stdout() io.ReadCloser { return p.stdout }

// Stderr implements runner.Runner.
func (p *process) Stderr() io.ReadCloser { return p.stderr }

// Name implements runner.Runner.
func (p *process) Name() string { return filepath.Base(p.binary.Path) }

// ID implements runner.Runner: the process id, "0" before there is one.
func (p *process) ID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strconv.Itoa(p.pid)
}

// Diagnose implements runner.Runner; explain does it better.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner: only a Unix socket in the folder that
// the plugin was given is dialled.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" || filepath.Dir(filepath.Clean(address)) != filepath.Clean(p.socketDir) {
		return "", "", fmt.Errorf("it listens on %s %s: it must make a Unix socket in the folder that PLUGIN_UNIX_SOCKET_DIR names", network, address)
	}
	return network, address, nil
}

// HostToPlugin implements runner.Runner.
func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

var _ runner.Runner = (*process)(nil)
