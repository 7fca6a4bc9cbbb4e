// Package logfile is the daemon's own log: a logger that writes to a file which
// is rotated, and a reader of those files, which needs no daemon.
package logfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Name is the log's file in the folder of the daemon's state.
const Name = "bothyd.log"

// timeFormat is how the log writes a time.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// Path is where the daemon of this environment logs.
func Path() (string, error) {
	state, err := rpc.StateDir(os.Getenv)
	if err != nil {
		return "", err
	}
	return filepath.Join(state, Name), nil
}

// Settings are what the configuration says about the log.
type Settings struct {
	Level   string // trace, debug, info, warn or error
	MaxSize int64  // bytes; the file is rotated then
	Keep    int    // rotated files
}

// Log is a logger with its file. Loggers that are made from it share its level.
type Log struct {
	hclog.Logger
	file  *file
	level string // of the command line; empty leaves the configuration's
}

// Open opens the log at path. A level that is not empty goes before that of the
// settings, whatever is configured later. Whatever is written through the logger,
// by the daemon or by a plugin's standard error, passes redact first; also gets a
// copy of every line, when it is not nil. A file that cannot be opened is no
// error: it is tried again, and Trouble tells of it.
func Open(path, level string, s Settings, redact func(io.Writer) io.Writer, also io.Writer) (*Log, error) {
	l := &Log{file: openFile(path, s.MaxSize, s.Keep), level: level}
	var out io.Writer = l.file
	if also != nil {
		out = io.MultiWriter(out, also)
	}
	l.Logger = hclog.New(&hclog.LoggerOptions{Name: "bothyd", Output: redact(out), TimeFormat: timeFormat})
	if err := l.Configure(s); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Configure puts other settings in force while the log is being written.
func (l *Log) Configure(s Settings) error {
	if l.level != "" {
		s.Level = l.level
	}
	level, err := levelOf(s.Level)
	if err != nil {
		return err
	}
	l.SetLevel(level)
	l.file.limit(s.MaxSize, s.Keep)
	return nil
}

// Trouble says for people that lines were lost, or is empty.
func (l *Log) Trouble() string { return l.file.trouble() }

// Close ends the file. Lines that come later are lost.
func (l *Log) Close() error { return l.file.Close() }

func levelOf(name string) (hclog.Level, error) {
	l := hclog.LevelFromString(name)
	if l == hclog.NoLevel {
		return l, sdk.Errorf(sdk.Validation, "there is no log level %q: use error, warn, info, debug or trace", name)
	}
	return l, nil
}
