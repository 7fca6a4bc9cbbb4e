package logfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Line is one message of the daemon's log. Text may have several lines.
type Line struct {
	Time  time.Time `json:"time"`
	Level string    `json:"level"`
	Name  string    `json:"name"` // who said it: bothyd.engine, bothyd.host.bash, ...
	Text  string    `json:"text"` // the message and its values
	Raw   string    `json:"-"`    // as it stands in the file, without the last line end
}

// Query says which messages of the log to read.
type Query struct {
	Last   int       // only the last so many of those that fit; 0 is all
	Level  string    // this one and worse; empty is all
	Since  time.Time // not older than that
	Follow bool      // go on with what is written from now on, until ctx ends
	// Missed is told when files went before they were read, which can happen to
	// a follower that was asleep; may be nil.
	Missed func()
}

// followPause is how often a follower looks for new lines.
const followPause = 100 * time.Millisecond

// Read gives each the messages of the log at path, oldest first. It reads
// the files alone, and so works without a daemon.
func Read(ctx context.Context, path string, q Query, each func(Line) error) error {
	least := hclog.NoLevel
	if q.Level != "" {
		var err error
		if least, err = levelOf(q.Level); err != nil {
			return err
		}
	}
	r := &reader{path: path, each: each, fits: func(l Line) bool {
		return hclog.LevelFromString(l.Level) >= least && !l.Time.Before(q.Since)
	}}
	defer r.close()
	if err := r.past(q.Last); err != nil || !q.Follow {
		return err
	}
	return r.follow(ctx, q.Missed)
}

// openAll opens the files of a log, oldest first. It opens the newest first:
// a rotation meanwhile moves files on to where they are looked for later, and
// so one may be met twice and none is missed.
func openAll(path string) ([]*os.File, error) {
	last := 0
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the daemon's log: %w", err)
	}
	for _, name := range names {
		number, older := strings.CutPrefix(name.Name(), filepath.Base(path)+".")
		if n, err := strconv.Atoi(number); older && err == nil {
			last = max(last, n)
		}
	}
	var files []*os.File
	var infos []os.FileInfo
	for n := 0; n <= last+1; n++ {
		f, err := os.Open(numbered(path, n))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			closeAll(files)
			return nil, fmt.Errorf("the daemon's log: %w", err)
		}
		info, err := f.Stat()
		if err != nil || slices.ContainsFunc(infos, func(x os.FileInfo) bool { return os.SameFile(x, info) }) {
			_ = f.Close() // read only
			continue
		}
		files, infos = append(files, f), append(infos, info)
	}
	slices.Reverse(files)
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // read only
	}
}

// reader takes lines together to messages.
type reader struct {
	path string
	fits func(Line) bool
	each func(Line) error

	file *os.File // the newest that was read; nil when there is none
	in   *bufio.Reader
	rest []byte // of a line whose end was not written yet
	held *Line  // a message that may have more lines
}

func (r *reader) close() {
	if r.file != nil {
		_ = r.file.Close() // read only
	}
}

// past reads what is there, to the last messages that fit, and keeps the
// newest file open.
func (r *reader) past(last int) error {
	files, err := openAll(r.path)
	if err != nil {
		return err
	}
	tell := r.each
	defer func() { r.each = tell }()
	var kept []Line
	if last > 0 {
		r.each = func(l Line) error {
			if kept = append(kept, l); len(kept) >= 2*last {
				kept = append(kept[:0], kept[len(kept)-last:]...)
			}
			return nil
		}
	}
	if err := r.files(files); err != nil {
		return err
	}
	for _, l := range kept[max(0, len(kept)-last):] {
		if err := tell(l); err != nil {
			return err
		}
	}
	return nil
}

// files reads files to their ends and keeps the last one open.
func (r *reader) files(files []*os.File) error {
	for i, f := range files {
		r.close()
		r.file, r.in = f, bufio.NewReaderSize(f, 64<<10)
		if err := r.read(); err != nil {
			closeAll(files[i+1:])
			return err
		}
	}
	return nil
}

// follow goes on until ctx ends.
func (r *reader) follow(ctx context.Context, missed func()) error {
	tick := time.NewTicker(followPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		moved, err := r.moved()
		if err == nil && r.file != nil {
			err = r.read() // moved or not: it may have got lines since the last look
		}
		if err == nil && moved {
			err = r.next(missed)
		}
		if err != nil {
			return err
		}
	}
}

// moved reports whether another file lies at the path. A file that was cut is
// read anew.
func (r *reader) moved() (bool, error) {
	there, err := os.Stat(r.path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // between two files
	}
	if err != nil || r.file == nil {
		return err == nil, err
	}
	ours, err := r.file.Stat()
	if err != nil {
		return false, err
	}
	if !os.SameFile(there, ours) {
		return true, nil
	}
	at, err := r.file.Seek(0, io.SeekCurrent)
	if err == nil && at > ours.Size() {
		_, err = r.file.Seek(0, io.SeekStart)
		r.in.Reset(r.file)
	}
	return false, err
}

// next goes on with the files that are newer than the one that was read.
func (r *reader) next(missed func()) error {
	files, err := openAll(r.path)
	if err != nil {
		return err
	}
	from := 0
	if r.file != nil {
		ours, err := r.file.Stat()
		if err != nil {
			closeAll(files)
			return err
		}
		from = 1 + slices.IndexFunc(files, func(f *os.File) bool {
			info, err := f.Stat()
			return err == nil && os.SameFile(info, ours)
		})
		if from == 0 && missed != nil {
			missed()
		}
	}
	closeAll(files[:from])
	return r.files(files[from:])
}

// read takes the lines of the file up to its end. A message is written at
// once, so that it is whole there.
func (r *reader) read() error {
	for {
		part, err := r.in.ReadBytes('\n')
		r.rest = append(r.rest, part...)
		if errors.Is(err, io.EOF) {
			return r.flush()
		}
		if err != nil {
			return fmt.Errorf("the daemon's log: %w", err)
		}
		line := string(bytes.TrimSuffix(r.rest, []byte("\n")))
		r.rest = r.rest[:0]
		l, begins := parseLine(line)
		if !begins && r.held != nil {
			r.held.Raw += "\n" + line
			r.held.Text += "\n" + line
			continue
		}
		if err := r.flush(); err != nil {
			return err
		}
		r.held = &l
	}
}

// flush passes the message on that is held.
func (r *reader) flush() error {
	l := r.held
	r.held = nil
	if l == nil || !r.fits(*l) {
		return nil
	}
	return r.each(*l)
}

// parseLine reads a line as hclog writes it: the time, the level in brackets,
// the name, a colon and the rest. A line that does not begin so belongs to the
// message before it.
func parseLine(line string) (Line, bool) {
	l := Line{Raw: line, Text: line}
	stamp, rest, _ := strings.Cut(line, " ")
	at, err := time.Parse(timeFormat, stamp)
	if err != nil || !strings.HasPrefix(rest, "[") {
		return l, false
	}
	level, rest, closed := strings.Cut(rest[1:], "]")
	if !closed || hclog.LevelFromString(level) == hclog.NoLevel {
		return l, false
	}
	name, text, named := strings.Cut(strings.TrimLeft(rest, " "), ": ")
	if !named {
		name, text = "", name
	}
	l.Time, l.Level, l.Name, l.Text = at, strings.ToLower(level), name, text
	return l, true
}
