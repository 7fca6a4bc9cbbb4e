package skill

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/bothyd/bothy/sdk"
)

type diagnostic = sdk.SkillDiagnostic

// openText reads a regular file of at most MaxFile bytes. What it is, is asked
// of what was opened and not of the path: a pipe cannot make it wait, nor a file
// exchanged meanwhile get past the limit.
func openText(path string) ([]byte, fs.FileInfo, *diagnostic) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, unopened(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, unopened(err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, notAFile(info.Mode())
	}
	if info.Size() > MaxFile {
		return nil, nil, tooLarge(info.Size())
	}
	text := make([]byte, 0, info.Size()+1)
	text, err = appendAll(text, io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, nil, unopened(err)
	}
	if len(text) > MaxFile {
		return nil, nil, tooLarge(int64(len(text)))
	}
	return text, info, nil
}

// appendAll reads to the end without growing a buffer that is large enough.
func appendAll(buf []byte, r io.Reader) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// unopened says why a file could not be opened.
func unopened(err error) *diagnostic {
	switch {
	case errors.Is(err, syscall.ELOOP):
		return wrong("link", 1, 1, "it is a symbolic link, which is not followed here", "Put the file itself there.")
	case errors.Is(err, syscall.ENXIO):
		return notAFile(fs.ModeSocket)
	}
	return unreadable(err)
}
