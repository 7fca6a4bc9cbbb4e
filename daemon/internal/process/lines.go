package process

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
)

const (
	longestLine = 8 << 10
	lastWords   = 1 << 10
	mostStacks  = 1 << 20 // that are kept of a process which does not answer
)

// Lines logs what a plugin writes, line by line and no faster than a log can bear. What
// is beyond the longest line is dropped up to its end. It always takes what is written:
// a plugin never blocks on it. One goroutine writes.
type Lines struct {
	Limit
	levelled io.Writer // takes lines that say their level; nil is where none do

	held []byte // a line without its end
	cut  bool   // the line goes on beyond what is held

	mu     sync.Mutex
	words  []byte // the last lines, for the diagnostic of a crash; of a dump the first
	dump   bool   // a Go program tells in words why it ends
	stacks []byte // what came since it was asked where it stands
	asked  bool
}

// NewLines logs to log what is written.
func NewLines(log hclog.Logger) *Lines { return &Lines{Limit: Limit{log: log}} }

// Write implements io.Writer and never fails.
func (l *Lines) Write(b []byte) (n int, err error) {
	n = len(b)
	if l.keeps(b) {
		return n, nil
	}
	for len(b) > 0 {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		if b = rest; !l.cut {
			l.held = append(l.held, line[:min(len(line), longestLine-len(l.held))]...)
		}
		full := len(l.held) == longestLine
		if !l.cut && (whole || full) {
			l.pass(l.held)
			l.held = l.held[:0]
		}
		l.cut = !whole && (l.cut || full)
	}
	return n, nil
}

// Flush logs a last line without an end.
func (l *Lines) Flush() {
	if len(l.held) > 0 {
		l.pass(l.held)
		l.held = nil
	}
}

// pass logs one line.
func (l *Lines) pass(line []byte) {
	line = bytes.TrimRight(line, "\r")
	var logged *entry
	levelled, dump := false, false
	if l.levelled != nil {
		logged, levelled, dump = l.remember(line)
	}
	switch {
	case !l.Admit(len(line)):
	case logged != nil:
		l.log.Log(logged.level, logged.message, logged.members...)
	case levelled:
		_, _ = l.levelled.Write(append(bytes.Clone(line), '\n')) // a reader that went away is no reason to stop
	case dump:
		l.log.Error(string(line))
	default:
		l.log.Info(string(line))
	}
}

// levels begin the lines that are no JSON and say how grave they are.
var levels = [][]byte{[]byte("[TRACE]"), []byte("[DEBUG]"), []byte("[INFO]"), []byte("[WARN]"), []byte("[ERROR]")}

// remember keeps what tells why a plugin died: what is no log line, such as a
// panic, and the errors among those that are. Other log lines are in the log. It
// returns the line as an entry, where it is one, and reports whether the line begins with
// its level, and whether it is one of a dump.
func (l *Lines) remember(line []byte) (logged *entry, levelled, dump bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if logged = readEntry(line); logged != nil {
		if l.dump = false; logged.level != hclog.Error { // it lives on
			return logged, false, false
		}
		line = []byte(logged.message)
	}
	if bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: ")) {
		l.dump, l.words = true, l.words[:0]
	}
	l.words = append(append(l.words, line...), '\n')
	if over := len(l.words) - lastWords; over > 0 && l.dump {
		l.words = l.words[:lastWords]
	} else if over > 0 {
		l.words = append(l.words[:0], l.words[over:]...)
	}
	return logged, slices.ContainsFunc(levels, func(p []byte) bool { return bytes.HasPrefix(line, p) }), l.dump
}

// last returns the end of what was written, or the beginning of a dump, on one line
// and escaped.
func (l *Lines) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSpace(string(l.words))
	if text == "" {
		return ""
	}
	return strconv.Quote(text)
}

// ask has what comes from now on kept, and not logged: a log is no place for the
// thousands of lines of stacks.
func (l *Lines) ask() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = true
}

// answer is what came since it was asked for.
func (l *Lines) answer() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stacks
}

// keeps keeps what is part of an answer; the rest of too much is dropped.
func (l *Lines) keeps(b []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked {
		l.stacks = append(l.stacks, b[:min(len(b), mostStacks-len(l.stacks))]...)
	}
	return l.asked
}
