package main

import (
	"bytes"
	"context"
	"flag"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/rpc"
)

var update = flag.Bool("update", false, "write the golden files anew")

// bench is a console in a project of its own, with or without a daemon.
type bench struct {
	c        *console
	out, err safeBuffer
	project  string
	signals  chan os.Signal
	daemon   *fakeDaemon
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *safeBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }
func (s *safeBuffer) Reset()         { s.mu.Lock(); defer s.mu.Unlock(); s.b.Reset() }

func newBench(t *testing.T) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{project: filepath.Join(root, "home", "proj"), signals: make(chan os.Signal, 4)}
	for _, dir := range []string{filepath.Join(b.project, ".git"), filepath.Join(b.project, "sub"), filepath.Join(root, "x")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.c = &console{
		in: strings.NewReader(""), out: &b.out, err: &b.err, dir: b.project, exe: filepath.Join(root, "bin", "bothy"),
		environ:    []string{"XDG_RUNTIME_DIR=" + filepath.Join(root, "x"), "HOME=" + filepath.Join(root, "home"), "XDG_STATE_HOME=" + filepath.Join(root, "state"), "PATH=" + os.Getenv("PATH")},
		interrupts: func() (<-chan os.Signal, func()) { return b.signals, func() {} },
	}
	return b
}

// withDaemon serves a fake daemon at the console's socket.
func withDaemon(t *testing.T, play func(*fakeDaemon, int64)) *bench {
	t.Helper()
	b := newBench(t)
	b.daemon = newFakeDaemon()
	b.daemon.play = play
	socket, err := rpc.SocketPath(b.c.env)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.daemon.serve(socket) }()
	t.Cleanup(func() {
		b.daemon.Stop(false)
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	deadline := time.Now().Add(time.Minute)
	for {
		if c, err := net.Dial("unix", socket); err == nil {
			_ = c.Close()
			return b
		}
		if time.Now().After(deadline) {
			t.Fatal("the fake daemon does not listen")
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (b *bench) run(args ...string) int {
	b.out.Reset()
	b.err.Reset()
	defer func(dir string) { b.c.dir = dir }(b.c.dir) // -C moves it
	return b.c.run(context.Background(), args)
}

func (b *bench) want(t *testing.T, code int, args ...string) {
	t.Helper()
	if got := b.run(args...); got != code {
		t.Fatalf("bothy %q exits with %d, want %d\nstdout: %s\nstderr: %s", args, got, code, b.out.String(), b.err.String())
	}
}

// golden compares both streams with testdata/NAME.golden.
func (b *bench) golden(t *testing.T, name string) {
	t.Helper()
	got := "-- stdout --\n" + b.out.String() + "-- stderr --\n" + b.err.String()
	got = strings.ReplaceAll(got, filepath.Dir(filepath.Dir(b.project)), "ROOT")
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test -update writes it anew\n--- got\n%s\n--- want\n%s", file, got, want)
	}
	if strings.ContainsAny(b.err.String(), "\x1b\x07") || strings.Contains(b.err.String(), "\u202e") {
		t.Errorf("control characters reached standard error: %q", b.err.String())
	}
}
