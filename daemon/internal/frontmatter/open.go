package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/watch"
)

// Open reads a regular file of at most most bytes. What it is, is asked
// of what was opened and not of the path: a pipe cannot make it wait, nor a file
// exchanged meanwhile get past the limit.
func Open(path string, most int) ([]byte, *Diagnostic) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Unopened(err)
	}
	defer f.Close()
	return Read(f, most)
}

// Read reads what was opened, if that is a regular file and not too large.
func Read(f *os.File, most int) ([]byte, *Diagnostic) {
	info, err := f.Stat()
	if err != nil {
		return nil, Unopened(err)
	}
	if !info.Mode().IsRegular() {
		return nil, NoFile(info.Mode())
	}
	if info.Size() > int64(most) {
		return nil, tooMuch(info.Size(), most)
	}
	var text bytes.Buffer
	text.Grow(int(info.Size()) + bytes.MinRead) // so that it does not grow while it is read
	if _, err := text.ReadFrom(io.LimitReader(f, int64(most)+1)); err != nil {
		return nil, Unopened(err)
	}
	if text.Len() > most {
		return nil, tooMuch(int64(text.Len()), most)
	}
	return text.Bytes(), nil
}

// Unopened says why a file cannot be opened.
func Unopened(err error) *Diagnostic {
	switch {
	case errors.Is(err, syscall.ELOOP):
		return Wrong("link", 0, 0, "it is a symbolic link, which is not followed here", "Put the file itself there.")
	case errors.Is(err, syscall.ENXIO):
		return Wrong("not-a-file", 0, 0, "it is no regular file but a socket or a device", "Put a text file there.")
	case errors.Is(err, fs.ErrPermission):
		return Wrong("unreadable", 0, 0, "it may not be read", "Make it readable for you: chmod u+r.")
	}
	return Wrong("unreadable", 0, 0, "it cannot be read: "+Visible(watch.Cause(err).Error()), "See that the file is there and can be read.")
}

// NoFile says what something is that is no regular file.
func NoFile(m fs.FileMode) *Diagnostic {
	return Wrong("not-a-file", 0, 0, "it is no regular file but "+TypeOf(m), "Put a text file there.")
}

func tooMuch(size int64, most int) *Diagnostic {
	return Wrong("file-too-large", 0, 0, fmt.Sprintf("the file has %d bytes; at most %d are read", size, most),
		"Keep it short and put what is long into files beside it.")
}

// TypeOf names the kind of what is no regular file.
func TypeOf(m fs.FileMode) string {
	for kind, word := range map[fs.FileMode]string{fs.ModeDir: "a folder", fs.ModeNamedPipe: "a named pipe", fs.ModeSocket: "a socket", fs.ModeDevice: "a device"} {
		if m&kind != 0 {
			return word
		}
	}
	return "a special file"
}
