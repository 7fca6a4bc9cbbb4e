package server

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/pidlock"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// spec: wrong_open_socket
func TestListenModes(t *testing.T) {
	path := filepath.Join(shortDir(t), "new", rpc.SocketName)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, filepath.Join(filepath.Dir(path), rpc.LockName): 0o600} {
		if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %o", file, fi.Mode(), err, want)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket's file is still there")
	}
}

func TestListenRefusesDirectories(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dir string)
		says    string
	}{
		"open to others": {func(t *testing.T, dir string) { must(t, os.Mkdir(dir, 0o755)); must(t, os.Chmod(dir, 0o755)) }, "chmod 700"},
		"group writable": {func(t *testing.T, dir string) { must(t, os.Mkdir(dir, 0o700)); must(t, os.Chmod(dir, 0o770)) }, "chmod 700"},
		"a link": {func(t *testing.T, dir string) {
			real := filepath.Join(shortDir(t), "real")
			must(t, os.Mkdir(real, 0o700))
			must(t, os.Symlink(real, dir))
		}, "symbolic link"},
		"a dangling link":                   {func(t *testing.T, dir string) { must(t, os.Symlink(filepath.Join(shortDir(t), "none"), dir)) }, "symbolic link"},
		"a file":                            {func(t *testing.T, dir string) { must(t, os.WriteFile(dir, nil, 0o600)) }, "no directory"},
		"a parent that everybody writes to": {func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Dir(dir), 0o777)) }, "writable by everyone"},
		"something else in the socket's place": {func(t *testing.T, dir string) {
			must(t, os.Mkdir(dir, 0o700))
			must(t, os.WriteFile(filepath.Join(dir, rpc.SocketName), []byte("mine"), 0o600))
		}, "no socket"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(shortDir(t), "bothy")
			c.prepare(t, dir)
			l, err := Listen(filepath.Join(dir, rpc.SocketName))
			if err == nil {
				_ = l.Close()
				t.Fatal("it listens")
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q does not say %q", err, c.says)
			}
		})
	}
	long := filepath.Join(shortDir(t), strings.Repeat("x", 100), rpc.SocketName)
	if _, err := Listen(long); err == nil || !strings.Contains(err.Error(), "bytes long") {
		t.Errorf("a long path: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestStaleSocketIsReclaimed(t *testing.T) {
	path := filepath.Join(shortDir(t), "b", rpc.SocketName)
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	must(t, err)
	dead.SetUnlinkOnClose(false)
	must(t, dead.Close())
	l, err := Listen(path)
	must(t, err)
	must(t, l.Close())
}

// TestTwoStarters starts 8 at once, 50 times: always exactly one has the
// socket, and the others know its pid.
func TestTwoStarters(t *testing.T) {
	path := filepath.Join(shortDir(t), "b", rpc.SocketName)
	for range 50 {
		var mu sync.Mutex
		var won []*Listener
		var starters sync.WaitGroup
		begin := make(chan struct{})
		for range 8 {
			starters.Go(func() {
				<-begin
				l, err := Listen(path)
				mu.Lock()
				defer mu.Unlock()
				var held *pidlock.HeldError
				switch {
				case err == nil:
					won = append(won, l)
				case !errors.As(err, &held):
					t.Errorf("a loser was told: %v", err)
				case held.PID != os.Getpid():
					t.Errorf("the holder's pid is %d, not %d", held.PID, os.Getpid())
				}
			})
		}
		close(begin)
		starters.Wait()
		if len(won) != 1 {
			t.Fatalf("%d starters have the socket", len(won))
		}
		c, err := net.Dial("unix", path)
		must(t, err)
		must(t, c.Close())
		must(t, won[0].Close())
	}
}

// TestOldCloseLeavesNewSocket: a daemon that ends late removes nothing of its
// successor's.
func TestOldCloseLeavesNewSocket(t *testing.T) {
	path := filepath.Join(shortDir(t), "b", rpc.SocketName)
	old, err := Listen(path)
	must(t, err)
	must(t, os.RemoveAll(filepath.Dir(path))) // takes the lock file along
	successor, err := Listen(path)
	must(t, err)
	must(t, old.Close())
	c, err := net.Dial("unix", path)
	must(t, err)
	must(t, c.Close())
	must(t, successor.Close())
}

func TestSocketIsMadeAgain(t *testing.T) {
	h := open(t, func(cfg *Config) { cfg.Limits.Watchdog = 20 * time.Millisecond })
	reachable := func() bool {
		c := &client.Client{Socket: h.path}
		defer func() { _ = c.Close() }()
		return c.Ping(context.Background()) == nil
	}
	must(t, os.Remove(h.path))
	eventually(t, "the socket is back", reachable)
	dir := filepath.Dir(h.path)
	must(t, os.Rename(dir, dir+".gone")) // in one step: the daemon makes the socket in what is half removed
	eventually(t, "the directory is back", reachable)
	if _, err := pidlock.Take(filepath.Join(filepath.Dir(h.path), rpc.LockName)); err == nil {
		t.Error("the lock is free while the daemon runs")
	}
}

func TestSocketTakenByAnother(t *testing.T) {
	h := open(t, func(cfg *Config) { cfg.Limits.Watchdog = 300 * time.Millisecond })
	must(t, os.RemoveAll(filepath.Dir(h.path)))
	successor, err := Listen(h.path)
	must(t, err)
	var held *pidlock.HeldError
	if err := <-h.served; !errors.As(err, &held) {
		t.Errorf("serve ended with %v", err)
	}
	h.served <- nil
	must(t, successor.Close())
}

// TestLockEndsWithItsProcess: there is no stale lock, whatever the file says.
// TestFileDescriptorsRunOut: accepting waits, does not spin, and goes on when
// there is room.
func TestFileDescriptorsRunOut(t *testing.T) {
	if os.Getenv("BOTHY_TEST_FDS") == "" {
		cmd := exec.Command("/bin/sh", "-c", `ulimit -n 64 && exec "$0" -test.run '^TestFileDescriptorsRunOut$'`, os.Args[0])
		cmd.Env = append(os.Environ(), "BOTHY_TEST_FDS=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	h := open(t, func(cfg *Config) { cfg.Limits.Connections = 1000 })
	var held []net.Conn
	for {
		c, err := net.Dial("unix", h.path)
		if err != nil {
			break // this process itself has no descriptors left
		}
		held = append(held, c)
	}
	if len(held) < 10 {
		t.Fatalf("only %d connections", len(held))
	}
	for _, c := range held {
		_ = c.Close()
	}
	eventually(t, "the server accepts again", func() bool { return h.client(t).Ping(context.Background()) == nil })
}

// shortDir is a directory whose path leaves room for a socket's name, which a
// TempDir named after its test may not.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bl-")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	return dir
}
