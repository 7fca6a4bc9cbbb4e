package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/bothyd/bothy/sdk"
)

// sniffed is how much of a file's beginning decides whether it is binary.
const sniffed = 8 << 10

// openRegular opens a file for reading, and nothing else: a fifo would make us
// wait, a device or socket could do anything. O_NONBLOCK keeps the open itself
// from waiting, and what was opened is judged, not what was there before.
func openRegular(dir *os.Root, base, name string) (*os.File, fs.FileInfo, error) {
	f, err := dir.OpenFile(base, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fault("read", name, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = wantRegular(info, name)
	}
	if err != nil {
		_ = f.Close() // it was not read from
		return nil, nil, fault("read", name, err)
	}
	return f, info, nil
}

// wantRegular refuses what is not an ordinary file.
func wantRegular(info fs.FileInfo, name string) error {
	switch kind := kindOf(info.Mode()); kind {
	case "file":
		return nil
	case "directory":
		return sdk.Errorf(sdk.Validation, "%s is a directory, not a file; list_files shows what is in it", shown(name))
	default:
		return sdk.Errorf(sdk.Validation, "%s is a %s; only ordinary files can be used", shown(name), kind)
	}
}

// kindOf names a kind of file in one word.
func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "link"
	case fs.ModeNamedPipe:
		return "fifo"
	case fs.ModeSocket:
		return "socket"
	default:
		return "device"
	}
}

// looksBinary tells whether a NUL is among the first bytes of what r will read,
// and returns those bytes. The reader's buffer must hold that many.
func looksBinary(r *bufio.Reader) (bool, []byte, error) {
	head, err := r.Peek(sniffed)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return bytes.IndexByte(head, 0) >= 0, head, err
}
