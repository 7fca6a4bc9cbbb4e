package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/pidlock"
	"github.com/bothyd/bothy/sdk/loopback"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Listener is the daemon's socket together with the lock that makes it the
// only one. The lock comes first: whoever has it may clear a stale socket,
// nobody else touches it. The tokens of the roles lie beside it.
type Listener struct {
	path   string
	tokens tokens

	mu     sync.Mutex
	lock   *pidlock.Lock
	socket *net.UnixListener
	file   os.FileInfo // the socket's file as it was bound
	closed bool

	web net.Listener // of HTTP; nil when it is off
}

// Listen takes the lock beside path, clears what a dead daemon left, and
// listens: directory 0700 and the caller's own, socket 0600. A running daemon
// is a *pidlock.HeldError.
func Listen(path string) (*Listener, error) {
	if len(path) > rpc.MaxSocketPath {
		return nil, fmt.Errorf("socket path %s is %d bytes long, and a Unix socket's may have %d: choose a shorter one",
			path, len(path), rpc.MaxSocketPath)
	}
	l := &Listener{path: path, tokens: newTokens(path)}
	if err := l.bind(); err != nil {
		return nil, err
	}
	return l, nil
}

// Path is where the socket lies.
func (l *Listener) Path() string { return l.path }

// ListenWeb listens for WebSockets at an address of this machine as well, such as
// 127.0.0.1:8378. It is called before the listener is served.
func (l *Listener) ListenWeb(ctx context.Context, address string) error {
	web, err := loopback.Listen(ctx, address)
	if err != nil {
		return err
	}
	l.web = web
	return nil
}

// Web is the address at which WebSockets are served; empty when they are not.
func (l *Listener) Web() string {
	if l.web == nil {
		return ""
	}
	return l.web.Addr().String()
}

// Secrets are the texts of the tokens, for whoever keeps them out of what is
// written.
func (l *Listener) Secrets() []string {
	var list []string
	for _, t := range l.tokens {
		list = append(list, t.text)
	}
	return list
}

func (l *Listener) bind() error {
	dir := filepath.Dir(l.path)
	if err := prepareDirectory(dir); err != nil {
		return err
	}
	if l.lock == nil {
		lock, err := pidlock.Take(filepath.Join(dir, rpc.LockName))
		if err != nil {
			return err
		}
		l.lock = lock
	}
	if err := l.open(); err != nil {
		return errors.Join(err, l.tokens.remove(), l.unlock())
	}
	return nil
}

// open makes the tokens and then the socket. It is called with the lock held.
func (l *Listener) open() error {
	if err := clearStale(l.path); err != nil {
		return err
	}
	if err := l.tokens.write(); err != nil {
		return err
	}
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: l.path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listening on %s: %w", l.path, err)
	}
	// Go would remove the path on close, even when it is another daemon's by then.
	socket.SetUnlinkOnClose(false)
	if err := os.Chmod(l.path, 0o600); err != nil {
		return errors.Join(fmt.Errorf("socket %s: %w", l.path, err), socket.Close())
	}
	file, err := os.Lstat(l.path)
	if err != nil {
		return errors.Join(fmt.Errorf("socket %s: %w", l.path, err), socket.Close())
	}
	l.socket, l.file = socket, file
	return nil
}

func (l *Listener) unlock() error {
	if l.lock == nil {
		return nil
	}
	lock := l.lock
	l.lock = nil
	return lock.Release()
}

// accept waits for a connection. It returns net.ErrClosed only when the
// listener was stopped, not when its socket was bound anew.
func (l *Listener) accept() (*net.UnixConn, error) {
	for {
		l.mu.Lock()
		socket, closed := l.socket, l.closed
		l.mu.Unlock()
		if closed {
			return nil, net.ErrClosed
		}
		c, err := socket.AcceptUnix()
		if err == nil || !errors.Is(err, net.ErrClosed) {
			return c, err
		}
	}
}

// keep looks every so often whether the socket's file is still there, for
// cleaners of temporary directories remove such files, and binds it anew when
// it is not; the tokens likewise, which somebody may have changed. It fails when
// another daemon has taken the place.
func (l *Listener) keep(ctx context.Context, every time.Duration, log hclog.Logger, alarm *alarm) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	told := false // that a token cannot be made
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		again, err := l.restore()
		if err != nil {
			l.stop()
			return fmt.Errorf("the socket was removed and cannot be made again: %w", err)
		}
		if again {
			log.Warn("the socket's file was removed; made it again", "socket", l.path)
		}
		roles, err := l.restoreTokens()
		for _, role := range roles {
			if !told {
				alarm.raise(EventTokenReplaced, "the file with the token of the role %s was changed or removed; it is written again", role)
			}
		}
		if told = err != nil; told {
			log.Error("a token cannot be written, so nobody new can approve", "error", err)
		}
	}
}

func (l *Listener) restore() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false, nil
	}
	there, err := os.Lstat(l.path)
	if err == nil && os.SameFile(there, l.file) {
		return false, nil
	}
	if !l.lock.Current() {
		if err := l.unlock(); err != nil {
			return false, err
		}
	}
	old := l.socket
	if err := l.bind(); err != nil {
		return false, err
	}
	return true, old.Close()
}

// restoreTokens writes the tokens again that are not what was written, unless
// the directory is another daemon's by now.
func (l *Listener) restoreTokens() ([]rpc.Role, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || !l.lock.Current() {
		return nil, nil
	}
	return l.tokens.restore()
}

// stop ends accepting; the file and the lock stay.
func (l *Listener) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		_ = l.socket.Close() // AcceptUnix returns net.ErrClosed, which is all that is wanted
		if l.web != nil {
			_ = l.web.Close() // the same
		}
	}
}

// Close stops accepting, removes the files of the socket and the tokens if they
// are still this listener's, and then gives the lock up.
func (l *Listener) Close() error {
	l.stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return nil
	}
	var failed error
	if there, err := os.Lstat(l.path); err == nil && os.SameFile(there, l.file) && there.ModTime().Equal(l.file.ModTime()) { // a successor's may have the same inode
		failed = os.Remove(l.path)
	}
	return errors.Join(failed, l.tokens.remove(), l.unlock())
}

func clearStale(path string) error {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("socket %s: %w", path, err)
	}
	if fi.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is in the way and is no socket: move it elsewhere", path)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("removing the socket of an earlier daemon: %w", err)
	}
	return nil
}

// prepareDirectory makes the socket's directory, or checks one that is there:
// a real directory, the caller's own, closed to everybody else.
func prepareDirectory(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("directory of the socket: %w; set XDG_RUNTIME_DIR to a directory of yours", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("directory of the socket: %w; set XDG_RUNTIME_DIR to a directory of yours", err)
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("directory of the socket: %w", err)
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	switch {
	case fi.Mode().Type() == fs.ModeSymlink:
		return fmt.Errorf("%s is a symbolic link, and the socket's directory must be a real one: remove the link", dir)
	case !fi.IsDir():
		return fmt.Errorf("%s is no directory: move it elsewhere", dir)
	case !ok || int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to uid %d, not to you: remove it or set XDG_RUNTIME_DIR to a directory of yours", dir, st.Uid)
	case fi.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s has mode %04o and must be closed to others: run `chmod 700 %s`", dir, fi.Mode().Perm(), dir)
	}
	return checkParent(filepath.Dir(dir))
}

// checkParent refuses a parent in which somebody else could swap the
// directory: writable by everyone, and without the sticky bit.
func checkParent(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("directory of the socket: %w", err)
	}
	if fi.Mode().Perm()&0o002 != 0 && fi.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("%s is writable by everyone, so the socket's directory could be swapped: run `chmod o-w %s`", dir, dir)
	}
	return nil
}
