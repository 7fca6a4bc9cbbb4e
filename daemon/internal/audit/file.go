package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bothyd/bothy/sdk"
)

// FileName is a runlog's name in its run's folder.
const FileName = "runlog.jsonl"

// position is where a runlog ends: behind the nth line of the row seq. The file
// is not kept open, so that one that is removed or cut is noticed.
type position struct {
	file string
	seq  int64  // 0: there is no line
	n    int    // lines of that row
	ts   string // of the last line
	size int64
}

// errNoFolder is that the run has no folder.
var errNoFolder = errors.New("the run has no folder")

// errTouched is that the file is not as it was left.
var errTouched = errors.New("somebody else changed the file")

// openAt finds where the runlog in dir ends. What stands behind the last whole
// line, from a write that was cut, is taken away.
func openAt(dir string) (*position, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoFolder
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	p := &position{file: filepath.Join(dir, FileName)}
	f, err := os.OpenFile(p.file, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := p.find(f)
	if err != nil {
		return nil, fmt.Errorf("find the end of %s: %w", p.file, err)
	}
	if size == p.size {
		return p, nil
	}
	if err := f.Truncate(p.size); err != nil {
		return nil, fmt.Errorf("take the torn end off %s: %w", p.file, err)
	}
	return p, nil
}

// find reads the file from its end, in growing pieces, until it knows the last
// line that can be read and how many of its row stand before it.
func (p *position) find(f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("it is no ordinary file")
	}
	size = info.Size()
	for piece := int64(64 << 10); ; piece *= 4 {
		from := max(size-piece, 0)
		text := make([]byte, size-from)
		if _, err := f.ReadAt(text, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if p.last(text, from) || from == 0 {
			return size, nil
		}
	}
}

// last looks for the end in the text that begins at from, and reports whether
// it saw enough.
func (p *position) last(text []byte, from int64) bool {
	p.seq, p.n, p.ts, p.size = 0, 0, "", 0
	for end := bytes.LastIndexByte(text, '\n') + 1; end > 0; {
		begin := bytes.LastIndexByte(text[:end-1], '\n') + 1
		if begin == 0 && from > 0 {
			return false // the line may begin before the text
		}
		var l struct {
			Seq int64           `json:"seq"`
			TS  json.RawMessage `json:"ts"`
		}
		readable := json.Unmarshal(text[begin:end], &l) == nil && l.Seq > 0
		switch {
		case p.seq == 0 && readable:
			p.seq, p.n, p.ts, p.size = l.Seq, 1, string(l.TS), from+int64(end)
		case p.seq != 0 && readable && l.Seq == p.seq:
			p.n++
		case p.seq != 0:
			return true
		}
		end = begin
	}
	return from == 0
}

// standsFor reports whether the last line is of the first of these rows. It is
// not when another journal wrote the file, as before a backup was restored.
func (p *position) standsFor(rows []sdk.JournalRow) bool {
	return len(rows) > 0 && rows[0].Seq == p.seq && timestamp(rows[0].Time) == p.ts
}

// write appends whole lines. After an error nobody knows where the file ends.
func (p *position) write(text []byte) (err error) {
	flags := os.O_WRONLY | os.O_APPEND | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	if p.size == 0 {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(p.file, flags, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != p.size || !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", p.file, errTouched)
	}
	n, err := f.Write(text)
	p.size += int64(n)
	return err
}

// setAside gives the file another name and begins anew.
func (p *position) setAside() error {
	if err := os.Rename(p.file, p.file+".old"); err != nil {
		return err
	}
	*p = position{file: p.file}
	return nil
}
