package host

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// What a plugin may log in a second; the rest is counted and dropped.
const (
	linesPerSecond = 100
	bytesPerSecond = 64 << 10
	longestLine    = 8 << 10
	lastWords      = 1 << 10
)

// lineLimiter passes a plugin's standard error on, line by line and no faster
// than a log can bear. It always reads on: a plugin never blocks on it.
type lineLimiter struct {
	log hclog.Logger

	mu      sync.Mutex
	tail    []byte // the last lines, for the diagnostic of a crash
	dropped int
	due     *time.Timer // reports what was dropped, when nothing more comes

	window time.Time
	lines  int
	bytes  int
}

func newLineLimiter(log hclog.Logger) *lineLimiter { return &lineLimiter{log: log} }

// copy reads until from ends. A reader of to that went away is no reason to stop.
func (l *lineLimiter) copy(to io.Writer, from io.Reader) {
	r := bufio.NewReaderSize(from, longestLine)
	cut := false // the line goes on beyond what the buffer held
	for {
		line, err := r.ReadSlice('\n')
		if len(line) > 0 && !cut {
			l.remember(line)
			if l.admit(len(line)) {
				_, _ = to.Write(append(bytes.TrimRight(bytes.Clone(line), "\r\n"), '\n'))
			}
		}
		cut = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !cut {
			l.report()
			return
		}
	}
}

// admit counts a line and says whether it is within the limits.
func (l *lineLimiter) admit(size int) bool {
	l.mu.Lock()
	if now := time.Now(); now.Sub(l.window) > time.Second {
		l.window, l.lines, l.bytes = now, 0, 0
		l.mu.Unlock()
		l.report()
		l.mu.Lock()
	}
	defer l.mu.Unlock()
	l.lines++
	l.bytes += size
	if l.lines > linesPerSecond || l.bytes > bytesPerSecond {
		if l.dropped++; l.dropped == 1 {
			l.due = time.AfterFunc(time.Second, l.report)
		}
		return false
	}
	return true
}

func (l *lineLimiter) report() {
	l.mu.Lock()
	n := l.dropped
	l.dropped = 0
	if l.due != nil {
		l.due.Stop()
		l.due = nil
	}
	l.mu.Unlock()
	if n > 0 {
		l.log.Warn("the plugin logs too much: lines were dropped", "lines", n)
	}
}

// remember keeps what tells why a plugin died: what is no log line, such as a
// panic, and the errors among those that are. Other log lines are in the log.
func (l *lineLimiter) remember(line []byte) {
	if bytes.HasPrefix(line, []byte(`{"@`)) {
		var logged struct {
			Level   string `json:"@level"`
			Message string `json:"@message"`
		}
		if json.Unmarshal(line, &logged) == nil {
			if logged.Level != "error" {
				return
			}
			line = []byte(logged.Message + "\n")
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, line...)
	if over := len(l.tail) - lastWords; over > 0 {
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
}

// last returns the end of what was written, on one line and escaped.
func (l *lineLimiter) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSpace(string(l.tail))
	if text == "" {
		return ""
	}
	return strconv.Quote(text)
}

// printed takes what a plugin that is served by go-plugin prints, and logs it. Those
// of the SDK print to standard error.
type printed struct {
	limit *lineLimiter

	mu   sync.Mutex
	held []byte
}

func newPrinted(log hclog.Logger) *printed { return &printed{limit: newLineLimiter(log)} }

// Write implements io.Writer and never fails.
func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = append(p.held, b...)
	for {
		line, rest, whole := bytes.Cut(p.held, []byte{'\n'})
		if !whole && len(line) < longestLine {
			return len(b), nil
		}
		if p.limit.admit(len(line)) {
			p.limit.log.Debug("the plugin printed", "text", string(line))
		}
		p.held = append(p.held[:0], rest...)
		if !whole {
			return len(b), nil
		}
	}
}
