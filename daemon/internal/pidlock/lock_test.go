package pidlock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestLockEndsWithItsProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, []byte("12345\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Take(path); !errors.As(err, &held) || held.PID != os.Getpid() || held.Holder() != fmt.Sprintf("process %d", os.Getpid()) {
		t.Errorf("taken twice: %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != fmt.Sprintf("%d\n", os.Getpid()) {
		t.Errorf("the lock file says %q, %v", text, err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// TestLockOutlivesItsHolder: a child that a killed holder left between fork and
// exec keeps the lock for a moment; whoever comes then waits for it.
func TestLockOutlivesItsHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(f, dead.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if err := flock(f); err != nil {
		t.Fatal(err)
	}
	taken := make(chan error, 1)
	go func() {
		l, err := Take(path)
		if err == nil {
			err = l.Release()
		}
		taken <- err
	}()
	select {
	case err := <-taken:
		t.Fatalf("the lock is held, and taking it answers %v", err)
	case <-time.After(150 * time.Millisecond): // longer than the holder is asked for
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Error(err)
	}
}
