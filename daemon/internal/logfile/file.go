package logfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"
)

// lookAgain is how often a log file is compared with what lies at its path: it
// may have been moved or removed, and a folder may have become writable again.
const lookAgain = time.Second

// file is the daemon's log on disk: PATH, and PATH.1 to PATH.KEEP, the
// newest first, each at most max bytes long. Files are only appended to and
// renamed, the oldest first, so that neither a kill at any moment nor a reader
// in the middle of one loses a line; a kill may leave a number out. A line that
// cannot be written is counted and forgotten: nothing waits for a log.
type file struct {
	path string

	mu     sync.Mutex
	max    int64 // bytes; 0 never rotates
	keep   int
	file   *os.File    // nil while there is none to write to
	info   os.FileInfo // of file
	size   int64
	torn   bool // the last line of the file has no end
	looked time.Time
	lost   int64 // lines, since the start
	unsaid int64 // of them, those that the log itself does not mention yet
	why    error // of the last lost line; nil when lines are written again
	closed bool
}

// openFile never fails: a file that cannot be opened is tried again.
func openFile(path string, max int64, keep int) *file {
	f := &file{path: path, max: max, keep: keep}
	f.why = f.open()
	return f
}

// limit changes how much is kept, from the next line on.
func (f *file) limit(max int64, keep int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.max, f.keep = max, keep
}

// Write writes whole lines. It reports no error: what is lost is counted.
func (f *file) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.why = f.write(p); f.why != nil {
		lines := max(1, int64(bytes.Count(p, []byte("\n"))))
		f.lost += lines
		f.unsaid += lines
	}
	return len(p), nil
}

func (f *file) write(p []byte) error {
	if err := f.look(); err != nil {
		return err
	}
	if f.max > 0 && f.size > 0 && f.size+int64(len(p)) > f.max {
		f.rotate()
	}
	var text []byte
	if f.torn {
		text = append(text, '\n')
	}
	if f.unsaid > 0 {
		text = fmt.Appendf(text, "%s [WARN]  bothyd: the log could not be written for a while: lost=%d error=%q\n",
			time.Now().Format(timeFormat), f.unsaid, fmt.Sprint(f.why))
	}
	head := len(text)
	n, err := f.file.Write(append(text, p...))
	f.size += int64(n)
	if n > 0 {
		f.torn = err != nil
	}
	if n >= head {
		f.unsaid = 0
	}
	return err
}

// look makes sure that there is a file at the path and that it is the one
// written to.
func (f *file) look() error {
	if f.closed {
		return os.ErrClosed
	}
	if f.file != nil && time.Since(f.looked) < lookAgain {
		return nil
	}
	f.looked = time.Now()
	if there, err := os.Stat(f.path); f.file != nil && err == nil && os.SameFile(there, f.info) {
		return nil
	}
	err := f.open()
	if f.file != nil {
		return nil // the old one still takes lines
	}
	return err
}

// open begins to write to what lies at the path; when that fails, all stays as
// it was.
func (f *file) open() error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm() != 0o600 {
		err = file.Chmod(0o600)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	var last [1]byte
	if info.Size() > 0 {
		_, err = file.ReadAt(last[:], info.Size()-1)
	}
	if f.file != nil {
		_ = f.file.Close() // what was written to it is there
	}
	f.file, f.info, f.size, f.looked = file, info, info.Size(), time.Now()
	f.torn = info.Size() > 0 && err == nil && last[0] != '\n'
	return nil
}

// rotate moves the files on by one and begins a new one. A folder that allows
// no renaming makes the file longer, which loses less; so does a file that was
// moved and has no successor yet, for want of room or descriptors.
func (f *file) rotate() {
	if there, err := os.Stat(f.path); err != nil || !os.SameFile(there, f.info) {
		return
	}
	for n := f.keep + 1; os.Remove(numbered(f.path, n)) == nil; n++ {
		continue // left from when more were kept
	}
	if f.keep == 0 && os.Remove(f.path) != nil {
		return
	}
	for n := f.keep; n > 0; n-- {
		if err := os.Rename(numbered(f.path, n-1), numbered(f.path, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	if f.open() != nil {
		f.looked = time.Time{} // the lines go to the file that was moved, until there is a new one
	}
}

// numbered is the name of the n-th older file; the 0th is the current one.
func numbered(path string, n int) string {
	if n == 0 {
		return path
	}
	return path + "." + strconv.Itoa(n)
}

// trouble says for people that lines were lost, or is empty.
func (f *file) trouble() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.lost == 0:
		return ""
	case f.why != nil:
		return fmt.Sprintf("the log cannot be written, and %d lines of it are lost: %v; make room, or make %s writable", f.lost, f.why, f.path)
	default:
		return fmt.Sprintf("%d lines of the log were lost; it is written again", f.lost)
	}
}

// Close ends the file. Lines that come later are lost.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
