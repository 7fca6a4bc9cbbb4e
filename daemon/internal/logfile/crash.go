package logfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// CrashName is the file in the folder of the daemon's state to which the runtime
// writes why the process dies, should it die by a mistake of its own: a panic that
// nobody answers for, or a signal such as SIGQUIT.
const CrashName = "bothyd.crash"

// crashShown is how much of it is read.
const crashShown = 64 << 10

// WatchCrash has the runtime write to path why this process dies, until stop.
func WatchCrash(path string) (stop func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(debug.SetCrashOutput(f, debug.CrashOptions{}), f.Close())
	}
	return func() error {
		return errors.Join(debug.SetCrashOutput(nil, debug.CrashOptions{}), os.Remove(path))
	}, err
}

// Crash reads what a crash left at path, its beginning when it is long. Empty is
// that the process before this one ended in order.
func Crash(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // read only
	text, err := io.ReadAll(io.LimitReader(f, crashShown))
	if err != nil {
		return fmt.Sprintf("%s cannot be read: %v", path, err)
	}
	return string(bytes.TrimSpace(text))
}
