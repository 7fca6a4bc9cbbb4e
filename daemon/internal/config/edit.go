package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/sdk"
)

// edit exchanges the file at path for what change makes of it, and reports whether that is
// another text. It is exchanged whole or not at all, where it lies when path is a link.
func edit(path string, change func(text []byte) ([]byte, error)) (bool, error) {
	file, err := editable(path)
	if err != nil {
		return false, err
	}
	done, err := editAlone(filepath.Dir(file))
	if err != nil {
		return false, err
	}
	defer done()
	for range editTries {
		text, mode, err := readWhole(file)
		if err != nil {
			return false, err
		}
		edited, err := change(text)
		if err != nil || bytes.Equal(edited, text) {
			return false, err
		}
		if len(edited) > MaxFile {
			return false, sdk.Errorf(sdk.Overflow, "%s has no room for that: it may have 1 MiB", path)
		}
		if err := exchange(file, text, edited, mode); !errors.Is(err, errAnother) {
			return err == nil, err
		}
	}
	return false, sdk.Errorf(sdk.Conflict, "%s is being written by somebody else again and again: try again", path)
}

// editTries is how often an edit is made anew because the file was another one when it was done.
const editTries = 5

// editPatience is how long an edit waits for others of Bothy, each of which takes moments.
const editPatience = 5 * time.Second

// editAlone keeps all of Bothy's edits of files in a folder apart, those of other processes too: between the last look at a file and its
// exchange another would be lost. Where a folder takes no lock that look is all there is, as it is for editors.
func editAlone(dir string) (done func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}, nil //nolint:nilerr // whether it can be written to is found out later
	}
	for begin := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		switch err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case errors.Is(err, syscall.EINTR):
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return func() { _ = f.Close() }, nil // nothing was written to it
		case time.Since(begin) > editPatience:
			_ = f.Close()
			return nil, sdk.Errorf(sdk.Conflict, "another process has been editing the configuration in %s for %s: nothing was written, try again", dir, editPatience)
		}
	}
}

// editable is the file behind path, whose folder is there.
func editable(path string) (string, error) {
	file, err := filepath.EvalSymlinks(path)
	if err == nil {
		return file, nil
	}
	if _, there := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || there == nil {
		return "", sdk.Errorf(sdk.Conflict, "find the configuration: %w; make what the link %s leads to, or remove the link", err, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", sdk.Errorf(sdk.Unavailable, "make a folder for the configuration: %w", err)
	}
	return path, nil
}

// readWhole reads a file that may be edited, and the mode that it must keep; one that is not there is empty.
func readWhole(file string) (text []byte, mode fs.FileMode, err error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0o600, nil
	}
	if err == nil {
		switch mode = info.Mode().Perm(); {
		case !info.Mode().IsRegular():
			return nil, 0, sdk.Errorf(sdk.Conflict, "%s is no regular file, so that it is not edited", file)
		case mode&0o200 == 0:
			return nil, 0, sdk.Errorf(sdk.Permission, "%s may not be written, so that it is not edited: write the block where that file is made, or `chmod u+w` it", file)
		case info.Size() > MaxFile:
			return nil, 0, sdk.Errorf(sdk.Overflow, "%s has more than 1 MiB; a configuration that long is a mistake", file)
		}
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, 0, sdk.Errorf(sdk.Unavailable, "read the configuration: %w", err)
	}
	return text, mode, nil
}

// errAnother is that a file is not the one any more that was read.
var errAnother = errors.New("it was written meanwhile")

// exchange puts a new text in the place of the old one. errAnother is that it is another by now.
func exchange(file string, old, text []byte, mode fs.FileMode) error {
	err := durable.Exchange(file, text, mode, func() error {
		if now, _, err := readWhole(file); err != nil || !bytes.Equal(now, old) {
			return errAnother
		}
		return nil
	})
	if err != nil && !errors.Is(err, errAnother) {
		err = sdk.Errorf(sdk.Unavailable, "edit the configuration: %w; see that its folder can be written to, or write the block yourself", err)
	}
	return err
}
