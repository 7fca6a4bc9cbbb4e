// Package lock keeps those apart who change the files of a project: the files
// tools, what commands changed when it is applied, and undo. Each project has one
// lock for all processes of a person, whichever daemon they belong to.
package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Wait is how long one waits for a lock that somebody else holds. Who holds one
// applies changes that are ready, which takes moments.
const Wait = 30 * time.Second

// Project takes the lock of the project whose folder has this device and inode.
// The caller unlocks, and takes it once: it does not have it twice. When somebody
// else holds it for longer than [Wait], the outcome is conflict.
func Project(ctx context.Context, device, inode uint64) (unlock func(), err error) {
	dir, err := folder(os.Getenv)
	if err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "the project cannot be locked: %w", err)
	}
	return take(ctx, filepath.Join(dir, fmt.Sprintf("%d-%d.lock", device, inode)), Wait)
}

// Folder is [Project] for a folder that is open.
func Folder(ctx context.Context, root *os.Root) (unlock func(), err error) {
	info, err := root.Stat(".")
	if err != nil {
		return nil, fmt.Errorf("look at the project: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, sdk.Errorf(sdk.Unavailable, "the project cannot be locked: its folder has no inode")
	}
	return Project(ctx, uint64(st.Dev), st.Ino)
}

// File takes the lock of the file at a path at once, or fails when somebody else holds it.
// The file is made when it is missing; who holds its lock may remove it.
func File(path string) (unlock func(), err error) {
	f, err := try(path)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return func() { _ = f.Close() }, nil // nothing was written to it
}

// folder is where the locks lie: beside the socket that a daemon has by itself,
// also when this one's was put elsewhere.
func folder(getenv func(string) string) (string, error) {
	socket, err := rpc.SocketPath(func(name string) string {
		if name == "BOTHY_LISTEN_SOCKET" {
			return ""
		}
		return getenv(name)
	})
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(socket), "projects"), nil
}

// The pauses between two looks at a lock.
const (
	firstPause = time.Millisecond
	mostPause  = 20 * time.Millisecond
)

// take waits for the lock at a path, at most as long as given.
func take(ctx context.Context, path string, most time.Duration) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "the project cannot be locked: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		f, err := try(path)
		if err == nil {
			return func() { _ = f.Close() }, nil // nothing was written to it
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, sdk.Errorf(sdk.Unavailable, "the project cannot be locked: %w", err)
		}
		select {
		case <-bounded.Done(): // also when ctx has
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, sdk.Errorf(sdk.Conflict, "something else has been changing files of the project for %s (what a command changed is being applied, a file is being written, or something is being taken back); nothing was done, try again", most)
		case <-time.After(pause):
		}
	}
}

// try locks the file at a path, which is made when it is missing. Somebody may
// clean the folder up: the lock counts when the path leads to the file still.
func try(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		mine, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		there, err := os.Lstat(path)
		if err == nil && os.SameFile(mine, there) {
			return f, nil
		}
		if closed := f.Close(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, closed)
		}
	}
}
