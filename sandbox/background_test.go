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
	"github.com/bothyd/bothy/sdk/lock"
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
	s.Background, _, err = f.manager.Start(f.t.Context(), f.run, sandbox.Command{Argv: []string{"bash", "-c", script}}, func(_ int, data []byte) {
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
	if _, _, err := f.manager.Start(ctx, f.run, sandbox.Command{Argv: []string{"true"}}, nil); sandbox.Code(err) != sandbox.CodeUnavailable {
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
	b, _, err := f.manager.Start(t.Context(), f.run, sandbox.Command{Argv: []string{"sleep", "600"}, Timeout: 50 * time.Millisecond}, func(int, []byte) {})
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

// inBackground begins the script of a child that is a background command.
const inBackground = "in the background: "

// TestBackgroundAfterACrash: nothing is left of what a background command of a manager
// that died has written, nor of its container.
func TestBackgroundAfterACrash(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	cfg.View = buildView(t)
	f := newFixture(t, nil)
	f.gitInit()
	f.write(".gitignore", "cache/\n")
	f.write("cache/kept", "")
	startChild(t, cfg, f.run, inBackground+"echo much >cache/own; echo ready; sleep 600")()
	if wrote, err := filepath.Glob(filepath.Join(cfg.StateDir, "views/*/writable/*/u/own")); err != nil || len(wrote) == 0 {
		t.Fatalf("it wrote nothing, %v", err)
	}
	f.manager = open(t, cfg)
	f.ok("true")
	left, err := filepath.Glob(filepath.Join(cfg.StateDir, "views/*/writable"))
	folders, folderErr := filepath.Glob(filepath.Join(cfg.Dir, "s", "*"))
	if err != nil || folderErr != nil || len(left) != 0 || len(folders) != 2 { // the run's own folder and lock
		t.Errorf("%q and %q stay, %v, %v", left, folders, err, folderErr)
	}
}

// TestBackgroundFoldersThatAreSwapped: a run on the folder above puts a link in the place
// of an ignored folder while the container is made; the command has what was there, or
// nothing.
func TestBackgroundFoldersThatAreSwapped(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	cfg.View, cfg.Judge, cfg.Lock = buildView(t), judgeByName{}, lock.Project
	m := open(t, cfg)
	f := newFixture(t, m)
	f.gitInit()
	f.write(".gitignore", "cache/\n")
	f.write("cache/kept", "")
	secret := t.TempDir()
	if err := os.WriteFile(filepath.Join(secret, "key"), []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.ok("true")
	other := &fixture{t: t, manager: m, run: sandbox.RunSpec{RunID: "above", Project: filepath.Dir(f.run.Project), RunDir: filepath.Join(t.TempDir(), "run")}}
	t.Cleanup(func() { _ = m.Drop(context.Background(), other.run.RunID) })
	other.ok("true")
	made := 0
	m.BeforeMount(func() {
		if made++; made == 1 {
			other.ok("cd " + filepath.Base(f.run.Project) + " && rm -r cache && ln -s " + secret + " cache")
		}
	})
	s := f.background("ls -R /workspace/cache /workspace/; cat /workspace/cache/key; echo over")
	if out := s.until(t, "over"); strings.Contains(out, "SECRET") {
		t.Errorf("it read what lies outside: %s", out)
	}
	if made == 0 {
		t.Error("nothing was swapped")
	}
}

// TestBackgroundThatEndsWhileANeighbourIsMade costs the run's container nothing.
func TestBackgroundThatEndsWhileANeighbourIsMade(t *testing.T) {
	needPodman(t)
	f, home := homeFixture(t, true)
	m := f.manager
	s := f.background("echo begun; sleep 600")
	s.until(t, "begun")
	if err := m.Drop(t.Context(), f.run.RunID); err != nil {
		t.Fatal(err)
	}
	made := 0
	m.BeforeMount(func() {
		if made++; made == 1 {
			s.Stop()
			<-s.Done()
		}
	})
	f.ok("touch " + home + "/go/pkg/mod/new")
	if made != 2 {
		t.Errorf("%d containers were made", made)
	}
}

// TestBackgroundTellsNothingAway: what is told late, and what was found of protected
// paths, comes with the start of a background command.
func TestBackgroundTellsNothingAway(t *testing.T) {
	f := viewFixture(t)
	f.ok("true")
	f.manager.TellLate(f.run.RunID, "late")
	b, asked, err := f.manager.Start(t.Context(), f.run, sandbox.Command{Argv: []string{"true"}}, func(int, []byte) {})
	if err != nil {
		t.Fatal(err)
	}
	<-b.Done()
	if len(asked.Changes) != 1 || asked.Changes[0].Path != "late" {
		t.Errorf("got %+v", asked)
	}

	cfg := config(t, shortDir(t))
	f = newFixture(t, nil)
	startChild(t, cfg, f.run, "mkdir -p .bothy && echo evil >.bothy/config.hcl; echo ready; sleep 600")()
	f.manager = open(t, cfg)
	if b, asked, err = f.manager.Start(t.Context(), f.run, sandbox.Command{Argv: []string{"true"}}, func(int, []byte) {}); err != nil {
		t.Fatal(err)
	}
	<-b.Done()
	if len(asked.Violations) != 1 || asked.Direct == "" {
		t.Errorf("got %+v", asked)
	}
}

// TestBackgroundFolders: a folder that git does not ignore itself is watched as it is.
func TestBackgroundFolders(t *testing.T) {
	f := viewFixture(t)
	f.gitInit()
	f.write(".gitignore", "ig*\n")
	for _, name := range []string{"gen/ig/x", "ig space/x", "ig\nnl/x", "ig,comma/x", "igdeep/igdeep/x"} {
		f.write(name, "")
	}
	if err := os.Symlink("ig space", f.path("iglink")); err != nil {
		t.Fatal(err)
	}
	s := f.background(`for d in gen gen/ig ig* igdeep/igdeep; do touch "$d/own" 2>/dev/null && printf '%q ' "$d"; done; echo over`)
	out := s.until(t, "over")
	if got, want := out, `gen/ig $'ig\nnl' ig\ space ig\,comma igdeep iglink igdeep/igdeep over`; strings.Join(slices.Sorted(slices.Values(strings.Fields(got))), " ") != strings.Join(slices.Sorted(slices.Values(strings.Fields(want))), " ") {
		t.Errorf("it could write to %s, want %s", got, want)
	}
}

// TestAContainerWithLimitsOfItsOwnIsTakenOver by the next manager.
func TestAContainerWithLimitsOfItsOwnIsTakenOver(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	f := newFixture(t, nil)
	f.run.Limits = &sandbox.Limits{Pids: 77}
	startChild(t, cfg, f.run, "echo kept >/tmp/mark; echo ready; sleep 600")()
	f.manager = open(t, cfg)
	if got := f.ok("cat /tmp/mark; ulimit -u"); got != "kept\n77" {
		t.Errorf("got %q", got)
	}
}
