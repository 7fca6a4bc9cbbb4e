//go:build linux

package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

// started is a background command with what it printed.
type started struct {
	*sandbox.Background
	mu     sync.Mutex
	out    strings.Builder
	wakeup chan struct{}
}

// background starts a script beside the other commands of the run.
func (f *fixture) background(script string) *started {
	f.t.Helper()
	s := &started{wakeup: make(chan struct{}, 1)}
	var err error
	s.Background, err = f.manager.Start(f.t.Context(), f.run, sandbox.Command{Argv: []string{"bash", "-c", script}}, func(_ int, data []byte) {
		s.mu.Lock()
		s.out.Write(data)
		s.mu.Unlock()
		select {
		case s.wakeup <- struct{}{}:
		default:
		}
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { s.Stop(); <-s.Done() })
	return s
}

// until waits until the command has printed a text, and returns all that it printed.
func (s *started) until(t *testing.T, text string) string {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		s.mu.Lock()
		out := s.out.String()
		s.mu.Unlock()
		if strings.Contains(out, text) {
			return out
		}
		select {
		case <-s.wakeup:
		case <-s.Done():
			s.mu.Lock()
			defer s.mu.Unlock()
			if out := s.out.String(); strings.Contains(out, text) {
				return out
			}
			t.Fatalf("it ended without %q: %s", text, s.out.String())
		case <-limit:
			t.Fatalf("it never printed %q: %s", text, out)
		}
	}
}

func (s *started) ended(t *testing.T) sandbox.Result {
	t.Helper()
	s.Stop()
	select {
	case <-s.Done():
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	r, err := s.Result()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBackgroundServer: other commands reach a server that runs in the background, it
// sees what they change, and its own changes go with it.
func TestBackgroundServer(t *testing.T) {
	f := viewFixture(t)
	f.gitInit()
	f.write(".gitignore", "cache/\nnew/\n")
	f.write("page", "one")
	f.write("cache/kept", "person's")
	s := f.background(`echo own >cache/own && rm cache/kept && ! touch page 2>/dev/null && ! mkdir new 2>/dev/null && ls cache && exec python3 -u -m http.server 8123 --bind 127.0.0.1`)
	if got := strings.Join(s.Writable, " "); got != "cache" {
		t.Errorf("it can write to %q", got)
	}
	if out := s.until(t, "8123"); !strings.HasPrefix(out, "own\n") {
		t.Errorf("it printed %q", out)
	}
	const get = `curl -sf http://127.0.0.1:8123/page || python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:8123/page").read().decode(), end="")'`
	if got := f.ok(get); got != "one" {
		t.Errorf("the server answers %q", got)
	}
	f.ok("echo two >page")
	if got := f.ok(get); got != "two" {
		t.Errorf("after the change the server answers %q", got)
	}
	if err := f.manager.Drop(t.Context(), f.run.RunID); err != nil { // another container
		t.Fatal(err)
	}
	if got := f.ok(get); got != "two" {
		t.Errorf("from another container the server answers %q", got)
	}
	if r := s.ended(t); r.ExitCode == 0 {
		t.Errorf("got %+v", r)
	}
	if out := f.bash(get); out.ExitCode == 0 {
		t.Errorf("a stopped server answers %q", out.stdout)
	}
	if got := f.read("cache/kept"); got != "person's" {
		t.Errorf("the project has %q", got)
	}
	if _, err := os.Lstat(f.path("cache/own")); err == nil {
		t.Error("what it wrote is in the project")
	}
}

// TestBackgroundIsGone: nothing is left of a command that has ended, and one that
// ended by itself says how.
func TestBackgroundIsGone(t *testing.T) {
	cfg := config(t, shortDir(t))
	cfg.View, cfg.Judge = buildView(t), judgeByName{}
	f := newFixture(t, open(t, cfg))
	s := f.background(`echo out; echo err >&2; exit 3`)
	<-s.Done()
	if r, err := s.Result(); err != nil || r.ExitCode != 3 || r.TimedOut {
		t.Errorf("got %+v, %v", r, err)
	}
	if out := s.until(t, "err"); !strings.Contains(out, "out") {
		t.Errorf("it printed %q", out)
	}
	for _, pattern := range []string{"views/*/writable", "state/views/*/writable"} {
		if left, err := filepath.Glob(filepath.Join(cfg.StateDir, pattern)); err != nil || len(left) > 0 {
			t.Errorf("%q stay, %v", left, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(cfg.Dir, "s", "*")); err != nil || len(left) != 2 { // the run's own folder and lock
		t.Errorf("%q stay, %v", left, err)
	}
}

// TestBackgroundEndsWithTheManager, and one that is started then fails.
func TestBackgroundEndsWithTheManager(t *testing.T) {
	f := newFixture(t, open(t, config(t, shortDir(t))))
	s := f.background(`echo begun; sleep 600`)
	s.until(t, "begun")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := f.manager.Close(ctx); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if _, err := f.manager.Start(ctx, f.run, sandbox.Command{Argv: []string{"true"}}, nil); sandbox.Code(err) != sandbox.CodeUnavailable {
		t.Errorf("got %v", err)
	}
}

// TestBackgroundWall: a background command can write where every command can, and to the
// overlays, and nowhere else.
func TestBackgroundWall(t *testing.T) {
	f := viewFixture(t)
	f.gitInit()
	f.write(".gitignore", "cache/\n")
	f.write("cache/kept", "")
	const places = `for at in $(awk '{ print $5 }' /proc/self/mountinfo | sort -u); do ( : >"$at/.written" ) 2>/dev/null && echo "$at" && rm -f "$at/.written"; done; ls /sys; echo over`
	usual := f.ok(places)
	s := f.background(places)
	got := s.until(t, "over\n")
	want := []string{}
	for place := range strings.Lines(usual + "\n") {
		switch place = strings.TrimSpace(place); {
		case place == "over", strings.HasPrefix(place, "/") && place != "/workspace" && place != f.run.Project:
			want = append(want, place)
		}
	}
	for _, place := range append([]string{"/workspace/cache"}, want...) {
		if !strings.Contains(got, place+"\n") {
			t.Errorf("it cannot write to %s: %q", place, got)
		}
	}
	for place := range strings.Lines(got) {
		if place = strings.TrimSpace(place); !slices.Contains(want, place) && !strings.HasSuffix(place, "/cache") && place != "fs" && place != "firmware" {
			t.Errorf("there is %q besides: %q, usually %q", place, got, usual)
		}
	}
}

// TestBackgroundLeftovers: what background commands of a manager that died have written
// goes with the next start.
func TestBackgroundLeftovers(t *testing.T) {
	cfg := config(t, shortDir(t))
	cfg.View, cfg.Judge = buildView(t), judgeByName{}
	left := filepath.Join(cfg.StateDir, "views", "0123456789ab", "writable", "x", "u")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	open(t, cfg)
	if _, err := os.Lstat(filepath.Join(cfg.StateDir, "views", "0123456789ab")); err == nil {
		t.Error("it is still there")
	}
}

// TestBackgroundHasADay, or the time that it was given.
func TestBackgroundHasADay(t *testing.T) {
	f := viewFixture(t)
	b, err := f.manager.Start(t.Context(), f.run, sandbox.Command{Argv: []string{"sleep", "600"}, Timeout: 50 * time.Millisecond}, func(int, []byte) {})
	if err != nil {
		t.Fatal(err)
	}
	<-b.Done()
	if r, err := b.Result(); err != nil || !r.TimedOut || r.Timeout != 50*time.Millisecond {
		t.Errorf("got %+v, %v", r, err)
	}
	s := f.background("true")
	<-s.Done()
	if r, err := s.Result(); err != nil || r.Timeout != 24*time.Hour {
		t.Errorf("got %+v, %v", r, err)
	}
}
