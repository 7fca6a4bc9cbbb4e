package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a server may say, and how it is ended.
const (
	lastWords = 2 << 10         // bytes of its standard error that are told when it ends
	farewell  = 2 * time.Second // from the end of its standard input to SIGTERM, and from that to SIGKILL
	mostNoise = 64 << 20        // bytes that are no message, from one message to the next
	toldNoise = 20              // lines of those that the log has, of one process
)

// inherited are the variables that a server gets of the environment of the plugin,
// which is scrubbed already. A key of the user reaches no server that was not given it. The
// last one is for no server: by it the daemon finds what a plugin left behind that was killed.
var inherited = []string{"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "USER", "LOGNAME", "SHELL", "PLUGIN_UNIX_SOCKET_DIR"}

// process is a transport that starts the server and speaks over its standard input and
// output. What it prints that is no message is for the log.
type process struct {
	settings settings
	log      *slog.Logger

	cmd     *exec.Cmd
	in      io.WriteCloser
	stopped sync.Once
	stopErr error
	words   *tail
	waited  chan struct{} // closed when it has ended
	state   error         // what Wait said, once waited is closed
	silent  atomic.Bool   // its output has ended
	unheard atomic.Bool   // nothing more of its output is read
	told    atomic.Bool   // Bothy ended it, before its output had
}

// Connect starts the server.
func (p *process) Connect(ctx context.Context) (mcp.Connection, error) {
	p.cmd = exec.Command(p.settings.Command, p.settings.Args...)
	p.cmd.Dir = p.settings.Dir
	if p.cmd.Dir == "" {
		p.cmd.Dir, _ = os.UserHomeDir() // an empty one is the plugin's own folder
	}
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			p.cmd.Env = append(p.cmd.Env, name+"="+v)
		}
	}
	for name, v := range p.settings.Env {
		p.cmd.Env = append(p.cmd.Env, name+"="+v)
	}
	// A group of its own, so that what it started ends with it: npx starts node.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.words = &tail{most: lastWords}
	p.cmd.Stderr = io.MultiWriter(p.words, &logLines{log: p.log, said: "standard error"})
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, w, err := os.Pipe() // not StdoutPipe, which Wait closes before all of it is read
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout = w
	err = p.cmd.Start()
	_ = w.Close()
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("it could not be started: %w", err)
	}
	p.cmd.WaitDelay = farewell // what it started may hold its standard error
	p.waited = make(chan struct{})
	go func() {
		p.state = p.cmd.Wait()
		close(p.waited)
	}()
	t := &mcp.IOTransport{Reader: &messages{from: bufio.NewReaderSize(out, 64<<10), close: out.Close, log: p.log, ended: &p.silent}, Writer: &ending{p.in, p}}
	conn, err := t.Connect(ctx)
	return heard{conn, p}, err
}

// heard notes that nothing more is read, before the calls that wait for an answer are told, and the order of what is asked.
type heard struct {
	mcp.Connection
	p *process
}

// Read implements mcp.Connection.
func (h heard) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := h.Connection.Read(ctx)
	if err != nil {
		h.p.told.Store(h.p.told.Load() || !h.p.silent.Load()) // who is not read any more dies of that
		h.p.unheard.Store(true)
		return m, err
	}
	keepOrder(m)
	return m, nil
}

// ending is the server's standard input, whose end tells it to end.
type ending struct {
	io.Writer
	p *process
}

// Close ends the server.
func (e *ending) Close() error { return e.p.stop() }

// stop ends the server, and what it has started, and waits for that. It may be called
// several times, and after a start that failed.
func (p *process) stop() error {
	if p.waited == nil {
		return nil
	}
	p.stopped.Do(func() {
		p.told.Store(!p.silent.Load())
		p.stopErr = p.in.Close()
		for _, signal := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGKILL} {
			if signal != 0 {
				_ = syscall.Kill(-p.cmd.Process.Pid, signal)
			}
			select {
			case <-p.waited:
				_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // its group may outlive it
				return
			case <-time.After(farewell):
			}
		}
		<-p.waited
	})
	return p.stopErr
}

// ended says how the server ended by itself, and what it said last; empty while it runs, and
// when Bothy ended it.
func (p *process) ended() string {
	if p.told.Load() {
		return ""
	}
	select {
	case <-p.waited:
	default:
		return ""
	}
	how := "it ended with exit status 0"
	var exit *exec.ExitError
	switch {
	case errors.As(p.state, &exit):
		how = "it ended with " + exit.String()
	case p.state != nil:
		how = "it ended: " + p.state.Error()
	}
	if words := p.words.String(); words != "" {
		how += fmt.Sprintf("; its last words: %q", words)
	}
	return how
}

// messages leaves out the lines that hold no message, which many servers print on their
// standard output.
type messages struct {
	from  *bufio.Reader
	close func() error
	log   *slog.Logger
	rest  []byte // what was read of a message and not handed out
	on    bool   // what is read next goes on with a line
	noise bool   // the line is no message
	size  int    // bytes of noise since the last message
	told  int    // lines of noise
	ended *atomic.Bool
}

// Read hands out messages in pieces.
func (m *messages) Read(b []byte) (int, error) {
	for len(m.rest) == 0 {
		piece, err := m.from.ReadSlice('\n')
		if !m.on {
			text := bytes.TrimSpace(piece)
			m.noise = !begins(text)
			if whole := err == nil && !m.noise; whole && !json.Valid(text) {
				return 0, fmt.Errorf("it sent a message that is no JSON: %q", clip(strings.ToValidUTF8(string(piece), "�"), 200))
			} else if whole && !bytes.Contains(text, []byte("jsonrpc")) { // a log that is JSON
				m.noise = true
			}
			m.tell(text)
		}
		m.on = errors.Is(err, bufio.ErrBufferFull)
		if m.noise {
			m.size += len(piece)
		} else {
			m.rest, m.size = piece, 0
		}
		if m.size > mostNoise {
			return 0, fmt.Errorf("it printed more than %d MB that are no message", mostNoise>>20)
		}
		if err != nil && !m.on && len(m.rest) == 0 {
			if errors.Is(err, io.EOF) {
				m.ended.Store(true)
			}
			return 0, err
		}
	}
	n := copy(b, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// begins reports whether a line looks like the beginning of a message, or of several:
// "[info] ready" does not.
func begins(line []byte) bool {
	batch, is := bytes.CutPrefix(line, []byte("["))
	return bytes.HasPrefix(line, []byte("{")) || is && bytes.HasPrefix(bytes.TrimSpace(batch), []byte("{"))
}

// tell has the log tell the first lines of noise.
func (m *messages) tell(line []byte) {
	if !m.noise || len(line) == 0 || m.told > toldNoise {
		return
	}
	if m.told++; m.told > toldNoise {
		m.log.Warn("the server prints more that is no message, which is not told any more")
		return
	}
	m.log.Warn("the server printed what is no message", "output", clip(string(line), 200))
}

// Close ends the reading.
func (m *messages) Close() error { return m.close() }

// tail keeps the last bytes of what is written to it.
type tail struct {
	most int
	mu   sync.Mutex
	b    []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if over := len(t.b) - t.most; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.b), "�"))
}

// logLines writes each line that is written to it to the log.
type logLines struct {
	log  *slog.Logger
	said string
	rest []byte
}

func (l *logLines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok && len(l.rest) < 4<<10 {
			return len(p), nil
		}
		if !ok {
			line, rest = l.rest, nil
		}
		if text := strings.TrimSpace(strings.ToValidUTF8(string(line), "�")); text != "" {
			l.log.Info(clip(text, 4<<10), "from", l.said)
		}
		l.rest = append(l.rest[:0], rest...)
	}
}

// clip is the head of a text.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
