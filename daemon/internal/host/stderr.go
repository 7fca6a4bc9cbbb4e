package host

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
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

// lineLimiter passes what a plugin writes on, line by line and no faster than a
// log can bear. It always reads on: a plugin never blocks on it.
type lineLimiter struct {
	log hclog.Logger

	mu      sync.Mutex
	words   []byte // the last lines, for the diagnostic of a crash; of a dump the first
	dump    bool   // a Go program tells in words why it ends
	dropped int
	due     *time.Timer // reports what was dropped, when nothing more comes

	window time.Time
	lines  int
	bytes  int
}

func newLineLimiter(log hclog.Logger) *lineLimiter { return &lineLimiter{log: log} }

// copy reads until from ends. Lines of a logger go to to, where go-plugin reads
// their level; a reader that went away is no reason to stop. The others are logged
// as they are.
func (l *lineLimiter) copy(to io.Writer, from io.Reader) {
	r := bufio.NewReaderSize(from, longestLine)
	cut := false // the line goes on beyond what the buffer held
	for {
		line, err := r.ReadSlice('\n')
		if len(line) > 0 && !cut {
			levelled := l.remember(line)
			switch line := bytes.TrimRight(bytes.Clone(line), "\r\n"); {
			case !l.admit(len(line)):
			case levelled:
				_, _ = to.Write(append(line, '\n'))
			case l.dump:
				l.log.Error(string(line))
			default:
				l.log.Info(string(line))
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

// levels begin the lines that are no JSON and say how grave they are.
var levels = [][]byte{[]byte("[TRACE]"), []byte("[DEBUG]"), []byte("[INFO]"), []byte("[WARN]"), []byte("[ERROR]")}

// remember keeps what tells why a plugin died: what is no log line, such as a
// panic, and the errors among those that are. Other log lines are in the log. It
// reports whether the line says its level.
func (l *lineLimiter) remember(line []byte) (levelled bool) {
	if bytes.HasPrefix(line, []byte(`{"@`)) {
		var logged struct {
			Level   string `json:"@level"`
			Message string `json:"@message"`
		}
		if levelled = json.Unmarshal(line, &logged) == nil; levelled {
			if l.dump = false; logged.Level != "error" { // it lives on
				return true
			}
			line = []byte(logged.Message + "\n")
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: ")) {
		l.dump, l.words = true, l.words[:0]
	}
	l.words = append(l.words, line...)
	if over := len(l.words) - lastWords; over > 0 && l.dump {
		l.words = l.words[:lastWords]
	} else if over > 0 {
		l.words = append(l.words[:0], l.words[over:]...)
	}
	return levelled || slices.ContainsFunc(levels, func(p []byte) bool { return bytes.HasPrefix(line, p) })
}

// last returns the end of what was written, or the beginning of a dump, on one line
// and escaped.
func (l *lineLimiter) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSpace(string(l.words))
	if text == "" {
		return ""
	}
	return strconv.Quote(text)
}

// starved are the words of runtimes that end because they get no more memory.
var starved = []string{"out of memory", "MemoryError", "cannot allocate memory", "Cannot allocate memory"}

// outOfMemory reports whether the process failed with last words that there was no
// memory. It has ended.
func (p *process) outOfMemory() bool {
	words := p.lines.last()
	return p.state != nil && !p.state.Success() && slices.ContainsFunc(starved, func(s string) bool { return strings.Contains(words, s) })
}

// printed takes what a plugin prints on standard output, behind its handshake or by
// go-plugin's streams, and logs it. Those of the SDK print to standard error.
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
		p.say(line)
		p.held = append(p.held[:0], rest...)
		if !whole {
			return len(b), nil
		}
	}
}

// flush logs a last line without an end.
func (p *printed) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.held) > 0 {
		p.say(p.held)
	}
	p.held = nil
}

func (p *printed) say(line []byte) {
	if p.limit.admit(len(line)) {
		p.limit.log.Info(string(bytes.TrimRight(line, "\r")))
	}
}
