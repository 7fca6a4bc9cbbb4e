package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// Logger writes lines to standard error that the daemon's log takes over with their
// level, under the plugin's name. [Serve] makes one that of package slog, and by that
// of package log, unless the plugin has made another the default.
func Logger(name string) *slog.Logger { return slog.New(newLines(os.Stderr, name)) }

// first is the logger of a program that has made none.
var first = slog.Default()

// lines is a handler that writes what the daemon reads: a JSON object a line, whose
// own members begin with an @. Members of groups are named GROUP.KEY.
type lines struct {
	to     *locked
	name   string
	group  string // with the point behind it
	before []slog.Attr
}

// locked keeps lines whole that several goroutines write.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func newLines(w io.Writer, name string) lines { return lines{to: &locked{w: w}, name: name} }

// Enabled implements slog.Handler: the daemon chooses by its own level.
func (lines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelDebug }

// WithAttrs implements slog.Handler.
func (l lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	l.before = slices.Clone(l.before)
	for _, a := range attrs {
		a.Key = l.group + a.Key
		l.before = append(l.before, a)
	}
	return l
}

// WithGroup implements slog.Handler.
func (l lines) WithGroup(name string) slog.Handler {
	if name != "" {
		l.group += name + "."
	}
	return l
}

// Handle implements slog.Handler.
func (l lines) Handle(_ context.Context, r slog.Record) error {
	var line bytes.Buffer
	member := func(key string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			text, _ = json.Marshal("!" + err.Error()) // a text can be written
		}
		name, _ := json.Marshal(key) // a text can be written
		line.WriteByte(',')
		line.Write(name)
		line.WriteByte(':')
		line.Write(text)
	}
	member("@level", levelName(r.Level))
	member("@message", r.Message)
	member("@module", l.name)
	if !r.Time.IsZero() {
		member("@timestamp", r.Time.Format("2006-01-02T15:04:05.000000Z07:00"))
	}
	var write func(prefix string, a slog.Attr)
	write = func(prefix string, a slog.Attr) {
		switch v := a.Value.Resolve(); v.Kind() {
		case slog.KindGroup:
			if a.Key != "" {
				prefix += a.Key + "."
			}
			for _, inner := range v.Group() {
				write(prefix, inner)
			}
		case slog.KindDuration:
			member(prefix+a.Key, v.Duration().String())
		case slog.KindTime:
			member(prefix+a.Key, v.Time().Format(time.RFC3339Nano))
		default:
			if err, is := v.Any().(error); is {
				member(prefix+a.Key, err.Error())
			} else if a.Key != "" {
				member(prefix+a.Key, v.Any())
			}
		}
	}
	for _, a := range l.before {
		write("", a)
	}
	r.Attrs(func(a slog.Attr) bool {
		write(l.group, a)
		return true
	})
	out := append([]byte{'{'}, line.Bytes()[1:]...)
	l.to.mu.Lock()
	defer l.to.mu.Unlock()
	_, err := l.to.w.Write(append(out, '}', '\n'))
	return err
}

// levelName is the level of the daemon's log that one of slog's is.
func levelName(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "debug"
	case l < slog.LevelWarn:
		return "info"
	case l < slog.LevelError:
		return "warn"
	}
	return "error"
}
