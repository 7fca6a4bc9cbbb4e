package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

type diagnostic = sdk.SkillDiagnostic

// openText reads a regular file of at most MaxFile bytes. What it is, is asked
// of what was opened and not of the path: a pipe cannot make it wait, nor a file
// exchanged meanwhile get past the limit.
func openText(path string) ([]byte, *diagnostic) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, unopened(err)
	}
	defer f.Close()
	return readText(f)
}

// readText reads what was opened, if that is a regular file and not too large.
func readText(f *os.File) ([]byte, *diagnostic) {
	info, err := f.Stat()
	if err != nil {
		return nil, unopened(err)
	}
	if !info.Mode().IsRegular() {
		return nil, noFile(info.Mode())
	}
	if info.Size() > MaxFile {
		return nil, tooMuch(info.Size())
	}
	var text bytes.Buffer
	text.Grow(int(info.Size()) + bytes.MinRead) // so that it does not grow while it is read
	if _, err := text.ReadFrom(io.LimitReader(f, MaxFile+1)); err != nil {
		return nil, unopened(err)
	}
	if text.Len() > MaxFile {
		return nil, tooMuch(int64(text.Len()))
	}
	return text.Bytes(), nil
}

func unopened(err error) *diagnostic {
	switch {
	case errors.Is(err, syscall.ELOOP):
		return wrong("link", 0, 0, "it is a symbolic link, which is not followed here", "Put the file itself there.")
	case errors.Is(err, syscall.ENXIO):
		return wrong("not-a-file", 0, 0, "it is no regular file but a socket or a device", "Put a text file there.")
	case errors.Is(err, fs.ErrPermission):
		return wrong("unreadable", 0, 0, "it may not be read", "Make it readable for you: chmod u+r.")
	}
	return wrong("unreadable", 0, 0, "it cannot be read: "+visible(watch.Cause(err).Error()), "See that the file is there and can be read.")
}

func noFile(m fs.FileMode) *diagnostic {
	return wrong("not-a-file", 0, 0, "it is no regular file but "+typeOf(m), "Put a text file there.")
}

func tooMuch(size int64) *diagnostic {
	return wrong("file-too-large", 0, 0, fmt.Sprintf("the file has %d bytes; at most %d are read", size, MaxFile),
		"Keep SKILL.md short and put what is long into files beside it.")
}

func typeOf(m fs.FileMode) string {
	for kind, word := range map[fs.FileMode]string{fs.ModeDir: "a folder", fs.ModeNamedPipe: "a named pipe", fs.ModeSocket: "a socket", fs.ModeDevice: "a device"} {
		if m&kind != 0 {
			return word
		}
	}
	return "a special file"
}
