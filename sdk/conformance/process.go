package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/bothyd/bothy/sdk/internal/wire"
)

// The bounds of a plugin's first and last steps, as the daemon has them.
const (
	starting = 15 * time.Second
	leaving  = 10 * time.Second
	flush    = 200 * time.Millisecond
	noise    = 1 << 20 // how much standard error is too much
)

// process is a plugin's process, started as the daemon starts it: with a null
// device to read from, a group of its own, and of the environment what the
// daemon passes on.
type process struct {
	cmd   *exec.Cmd
	dir   string        // of sockets
	done  chan struct{} // closed when the process was reaped
	heard chan struct{} // closed when all of standard error was read
	conn  *grpc.ClientConn

	printed atomic.Int64 // bytes on standard output behind the handshake
	said    atomic.Int64 // bytes on standard error
	mu      sync.Mutex
	words   []byte // the end of standard error
}

// passed are the variables that a plugin is given.
var passed = []string{"PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "XDG_RUNTIME_DIR", "GOCOVERDIR"}

func environment() []string {
	var env []string
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// launch starts the binary and reads its handshake line.
func launch(ctx context.Context, o Options, dir string) (*process, string, error) {
	p := &process{cmd: exec.Command(o.Path, o.Args...), dir: dir, done: make(chan struct{}), heard: make(chan struct{})}
	p.cmd.Dir = "/"
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Env = append(environment(),
		wire.CookieKey+"="+wire.CookieValue, wire.EnvHostPID+"="+strconv.Itoa(os.Getpid()),
		wire.EnvVersions+"="+strconv.Itoa(wire.Protocol), wire.EnvSocketDir+"="+dir,
		"PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000")
	p.cmd.Env = append(p.cmd.Env, o.Env...)
	stdout, outTo, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	stderr, errTo, err := os.Pipe()
	if err != nil {
		return nil, "", errors.Join(err, stdout.Close(), outTo.Close())
	}
	p.cmd.Stdout, p.cmd.Stderr = outTo, errTo
	err = p.cmd.Start()
	_, _ = outTo.Close(), errTo.Close() // the process has its own
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("it cannot be started: %w", err), stdout.Close(), stderr.Close())
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its state
		close(p.done)
	}()
	go p.hear(stderr)
	line := make(chan string, 1)
	go p.read(stdout, line)
	select {
	case l := <-line:
		return p, l, nil
	case <-time.After(starting):
		p.kill()
		return nil, "", fmt.Errorf("it printed no handshake line within %v%s", starting, p.last())
	case <-ctx.Done():
		p.kill()
		return nil, "", ctx.Err()
	}
}

// read passes on the first line and counts what comes behind it.
func (p *process) read(stdout *os.File, line chan<- string) {
	defer stdout.Close()
	r := bufio.NewReaderSize(stdout, 64<<10)
	first, err := r.ReadString('\n')
	line <- first
	if err != nil {
		return
	}
	n, _ := io.Copy(io.Discard, r) // it ends with the process
	p.printed.Add(n)
}

// hear drains standard error and keeps its end.
func (p *process) hear(stderr *os.File) {
	defer stderr.Close()
	defer close(p.heard)
	const kept = 2 << 10
	b := make([]byte, 32<<10)
	for {
		n, err := stderr.Read(b)
		p.said.Add(int64(n))
		p.mu.Lock()
		p.words = append(p.words, b[:n]...)
		p.words = p.words[max(0, len(p.words)-kept):]
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// last is what the process said last, for people. One that has just ended may
// still have it in the pipe.
func (p *process) last() string {
	select {
	case <-p.heard:
	case <-time.After(flush):
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(p.words)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Sprintf("; its last words: %q", last)
	}
	return ""
}

// dial connects to the address of a handshake line, when the line is one.
func (p *process) dial(line string) error {
	address, err := handshake(line, p.dir)
	if err != nil {
		return fmt.Errorf("%w%s", err, p.last())
	}
	p.conn, err = grpc.NewClient("passthrough:///"+address,
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", address)
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithIdleTimeout(0), grpc.WithDisableRetry(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(wire.MaxMessage), grpc.MaxCallSendMsgSize(wire.MaxMessage)))
	if err == nil {
		p.drainStdio()
	}
	return err
}

// handshake reads "1|1|unix|ADDRESS|grpc" and whatever follows.
func handshake(line, dir string) (address string, err error) {
	const want = "1|1|unix|ADDRESS|grpc"
	parts := strings.Split(strings.TrimRight(line, "\r\n"), "|")
	switch {
	case !strings.HasSuffix(line, "\n"):
		return "", fmt.Errorf("standard output ended before the handshake line %s: print it once the socket listens, and go on serving", want)
	case len(parts) < 5:
		return "", fmt.Errorf("the first line on standard output is %.200q, want %s: nothing may be printed before it", line, want)
	case parts[0] != "1":
		return "", fmt.Errorf("the handshake names go-plugin core protocol %s, want 1", parts[0])
	case parts[1] != strconv.Itoa(wire.Protocol):
		return "", fmt.Errorf("the handshake names plugin protocol %s, want %d", parts[1], wire.Protocol)
	case parts[2] != "unix" || filepath.Dir(filepath.Clean(parts[3])) != filepath.Clean(dir):
		return "", fmt.Errorf("it listens on %s %s, and must on a Unix socket in the folder that PLUGIN_UNIX_SOCKET_DIR names", parts[2], parts[3])
	case parts[4] != "grpc":
		return "", fmt.Errorf("the handshake names the transport %s, want grpc", parts[4])
	}
	return parts[3], nil
}

// drainStdio takes what a plugin of go-plugin prints once it serves, which it
// would block on otherwise. Others do not serve it.
func (p *process) drainStdio() {
	go func() {
		stream, err := p.conn.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true}, "/plugin.GRPCStdio/StreamStdio")
		if err != nil || stream.SendMsg(&emptypb.Empty{}) != nil || stream.CloseSend() != nil {
			return
		}
		for stream.RecvMsg(&emptypb.Empty{}) == nil { // what it holds stays unknown
		}
	}()
}

// quiet says what the process printed where nothing belongs.
func (p *process) quiet() error {
	if n := p.printed.Load(); n > 0 {
		return Warn("it printed %d bytes on standard output behind the handshake, which nobody reads: log to standard error", n)
	}
	if n := p.said.Load(); n > noise {
		return Warn("it wrote %d bytes on standard error: the daemon keeps a fraction of that in its log", n)
	}
	return nil
}

// leave closes the connection, upon which the process must end by itself.
func (p *process) leave() error {
	_ = p.conn.Close() // nothing is under way
	select {
	case <-p.done:
	case <-time.After(leaving):
		return fmt.Errorf("it still ran %v after the last connection of the daemon had closed: a plugin must end then, or it is left behind when the daemon is", leaving)
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		return Warn("it left processes behind in its group, which the daemon kills")
	}
	return nil
}

// kill ends the whole group, whatever state it is in.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // gone already, perhaps
	<-p.done
	if p.conn != nil {
		_ = p.conn.Close() // a second time, perhaps
	}
}
