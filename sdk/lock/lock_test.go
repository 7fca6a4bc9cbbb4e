package lock

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// holdsFor makes the test binary a process that holds the lock of a folder until
// its input ends.
const holdsFor = "BOTHY_TEST_HOLDS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdsFor); dir != "" {
		os.Exit(hold(dir))
	}
	os.Exit(m.Run())
}

func hold(dir string) int {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 1
	}
	if _, err := Folder(context.Background(), root); err != nil {
		return 2
	}
	_, _ = os.Stdout.WriteString("held\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// TestTwoProcesses: whichever process has the lock, the other one waits, and gets
// it when the first is killed.
func TestTwoProcesses(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	project := t.TempDir()
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), holdsFor+"="+project)
	in, err := other.StdinPipe()
	must(t, err)
	defer func() { _ = in.Close() }()
	out, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	root, err := os.OpenRoot(project)
	must(t, err)
	defer func() { _ = root.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Folder(ctx, root); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("two processes have the lock: %v", err)
	}
	must(t, other.Process.Kill())
	_ = other.Wait() // it was killed
	unlock, err := Folder(context.Background(), root)
	must(t, err)
	unlock()
}

// TestWait: who holds a lock for too long is told of.
func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "projects", "1-2.lock")
	unlock, err := take(context.Background(), path, Wait)
	must(t, err)
	if _, err := take(context.Background(), path, time.Millisecond); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("got %v", err)
	}
	unlock()
	unlock, err = take(context.Background(), path, time.Millisecond)
	must(t, err)
	unlock()
}

// TestRemoved: a lock whose file is gone keeps nobody out, and two never have the
// one that is there.
func TestRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1-2.lock")
	var all sync.WaitGroup
	var mu sync.Mutex
	for range 8 {
		all.Go(func() {
			for range 50 {
				unlock, err := take(context.Background(), path, Wait)
				if err != nil {
					t.Error(err)
					return
				}
				if !mu.TryLock() {
					t.Error("two have the lock")
					return
				}
				mu.Unlock()
				unlock()
			}
		})
	}
	all.Wait()
	old, err := take(context.Background(), path, Wait)
	must(t, err)
	must(t, os.Remove(path))
	unlock, err := take(context.Background(), path, Wait)
	must(t, err)
	unlock()
	old()
}

// TestFile: who comes second does not wait, and gets the lock when it is free.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	unlock, err := File(path)
	must(t, err)
	if _, err := File(path); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("got %v", err)
	}
	unlock()
	unlock, err = File(path)
	must(t, err)
	unlock()
}

// TestFolder: two daemons of a person share the folder of locks, wherever the
// socket of one was put.
func TestFolder(t *testing.T) {
	for _, env := range []map[string]string{
		{"XDG_RUNTIME_DIR": "/run/user/7"},
		{"XDG_RUNTIME_DIR": "/run/user/7", "BOTHY_LISTEN_SOCKET": "/tmp/other.sock"},
	} {
		if dir, err := folder(func(name string) string { return env[name] }); err != nil || dir != "/run/user/7/bothy/projects" {
			t.Errorf("%v: %q, %v", env, dir, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
