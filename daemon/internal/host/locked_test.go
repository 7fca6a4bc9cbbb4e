package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// locked is a spec with the lock that the inspector makes of it.
func locked(t testing.TB, s *inspect.Inspector, spec inspect.Spec) inspect.Spec {
	t.Helper()
	_, l, err := s.Declared(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.Locked = &l
	return spec
}

func offers(r *rig, tool string) bool {
	return slices.ContainsFunc(r.Tools(), func(x sdk.Tool) bool { return x.Name == tool })
}

// Fault 13, by the lock: what is not what a person locked does not run, and the
// one diagnostic shows what is different and what to do.
func TestLockedStart(t *testing.T) {
	other := func(l config.Locked) *config.Locked {
		l.Digest = strings.Repeat("0", 64)
		l.Version = "1.0.0"
		return &l
	}
	for name, c := range map[string]struct {
		change func(*inspect.Spec)
		want   []string // of the diagnostic; empty: it runs
	}{
		"as it was": {func(*inspect.Spec) {}, nil},
		"another file": {func(s *inspect.Spec) { s.Locked = other(*s.Locked) },
			[]string{"bothy.lock has 0000", "of version 1.0.0", "plugins lock --check x", "call `bothy plugins lock x`"}},
		"another tool": {func(s *inspect.Spec) { s.Env["FAULT_SCHEMA"] = `{"type":"object"}` },
			[]string{"not what bothy.lock says", "Its file is the same", ": + tool unusable.", "`bothy plugins lock x`"}},
		"another name": {func(s *inspect.Spec) { s.Env["FAULT_NAME"] = "other" }, []string{"~ plugin fault -> other"}},
		"another grant": {func(s *inspect.Spec) { l := *s.Locked; l.Grants = []string{"tools"}; s.Locked = &l },
			[]string{"- grant tools, + grant entries"}},
		"another schema": {func(s *inspect.Spec) { l := *s.Locked; l.Tools = map[string]string{"noop": "x"}; s.Locked = &l },
			[]string{"~ schema of tool noop changed"}},
		"the block agrees":    {func(s *inspect.Spec) { s.SHA256 = "sha256:" + s.Locked.Digest }, nil},
		"the block disagrees": {func(s *inspect.Spec) { s.SHA256 = strings.Repeat("1", 64) }, []string{"its block pins sha256 1111", "and bothy.lock has"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			s := locked(t, r.inspect, spec("x", ""))
			c.change(&s)
			found := r.start(context.Background(), []inspect.Spec{s, spec("healthy", "")})
			r.mustCall(t, "healthy__noop", ``)
			found = slices.DeleteFunc(found, inspect.Diagnostic.Warning) // of the names that the two share
			if len(c.want) == 0 {
				if st := r.status(t, "x"); len(found) > 0 || !st.Pinned || st.Digest != s.Locked.Digest || st.Origin != "path" {
					t.Fatalf("%v %+v", found, st)
				}
				r.mustCall(t, "x__noop", ``)
				return
			}
			if len(found) != 1 {
				t.Fatalf("%d diagnostics, want one: %v", len(found), found)
			}
			for _, w := range c.want {
				if whole := found[0].Summary + ": " + found[0].Detail; !strings.Contains(whole, w) {
					t.Errorf("%q lacks %q", whole, w)
				}
			}
			eventually(t, "it is broken", func() bool { return r.status(t, "x").State == Broken })
		})
	}
}

// TestLockedWhileItRuns: what a plugin declares besides while it runs is not
// offered, is told once, and comes in force by a new lock without a new process.
func TestLockedWhileItRuns(t *testing.T) {
	var mu sync.Mutex
	told := map[string]int{}
	count := func(by int) func(inspect.Diagnostic) {
		return func(d inspect.Diagnostic) { mu.Lock(); told[d.Detail] += by; mu.Unlock() }
	}
	r := newRig(t, func(cfg *Config) { cfg.Diagnose, cfg.Mended = count(1), count(-1) })
	s := locked(t, r.inspect, spec("x", ""))
	if found := r.start(context.Background(), []inspect.Spec{s}); len(found) > 0 {
		t.Fatal(found)
	}
	pid := r.status(t, "x").PID
	said := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for detail, times := range told {
			if strings.HasPrefix(detail, "While it ran, it declared something else: + tool grown. What is new is not used.") {
				n += times
			}
		}
		return n
	}
	r.mustCall(t, "grow", ``)
	eventually(t, "it is told", func() bool { return said() == 1 })
	r.mustCall(t, "grow", ``)
	if _, err := r.call(t, "grown", ``); sdk.OutcomeOf(err) != sdk.NotFound || offers(r, "grown") {
		t.Errorf("the new tool is there: %v", err)
	}
	eventually(t, "what it became is kept", func() bool {
		_, l, err := r.inspect.Declared(context.Background(), s)
		return err == nil && l.Tools["grown"] != ""
	})
	if said() != 1 {
		t.Errorf("it is told %d times", said())
	}
	again := locked(t, r.inspect, s)
	if a := r.replace(t, again); a.How != Unchanged {
		t.Errorf("what runs is not what was locked: %+v", a)
	}
	r.mustCall(t, "grown", ``)
	if said() != 0 || r.status(t, "x").PID != pid {
		t.Errorf("told %d, pid %d, was %d", said(), r.status(t, "x").PID, pid)
	}
	other := *again.Locked
	other.Grants = nil
	again.Locked = &other
	if a := r.replace(t, again); a.How != Kept {
		t.Errorf("a lock that it does not satisfy is taken: %+v", a)
	}
	again.Locked = nil
	if a := r.replace(t, again); a.How != Unchanged || r.status(t, "x").Pinned || r.Tools()[0].Pinned || r.status(t, "x").PID != pid {
		t.Errorf("without the lock it is still pinned, or another process: %+v", a)
	}
}

// TestLockedSource: dynamic tools come and go as long as their source is locked.
func TestLockedSource(t *testing.T) {
	r := newRig(t, nil)
	s := spec("x", "")
	s.Env["FAULT_SOURCE"] = "mcp:somewhere"
	if found := r.start(context.Background(), []inspect.Spec{s}); len(found) > 0 {
		t.Fatal(found)
	}
	l := *locked(t, r.inspect, s).Locked
	r.mustCall(t, "grow", ``)
	eventually(t, "its source is known", func() bool {
		_, grown, err := r.inspect.Declared(context.Background(), s)
		l.Sources = grown.Sources
		return err == nil && slices.Equal(l.Sources, []string{"mcp:somewhere"}) && grown.Tools["grown"] == ""
	})
	for _, known := range []bool{true, false} {
		next := newRig(t, nil)
		with, now := s, l
		if !known {
			now.Sources = []string{"mcp:elsewhere"}
		}
		with.Locked = &now
		if found := next.start(context.Background(), []inspect.Spec{with}); len(found) > 0 {
			t.Fatal(found)
		}
		next.mustCall(t, "grow", ``)
		if !known {
			eventually(t, "it is logged", func() bool { return len(next.instances()[0].wrong()) > 0 })
		} else {
			eventually(t, "it is offered", func() bool { return offers(next, "grown") })
		}
		if offers(next, "grown") != known {
			t.Errorf("source known: %v, offered: %v", known, !known)
		}
	}
}

// TestNoRace: what was verified is what is started, whatever its path names by
// then; what is written into it is found before it is trusted with anything.
func TestNoRace(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, nil)
	path := copyOf(t, 0o700)
	s := inspect.Spec{Instance: "x", Plugin: "fault", Path: path, SHA256: sha256Of(t, path)}
	b, fail := r.inspect.Verified(s)
	if fail != nil {
		t.Fatal(fail)
	}
	defer b.Close()
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\nexit 66\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(evil, path); err != nil {
		t.Fatal(err)
	}
	l, fail := newInstance(r.Supervisor, s).connect(ctx, s, b, 1)
	if fail != nil {
		t.Fatal(fail)
	}
	defer l.close()
	if fail := l.describe(ctx); fail != nil || l.manifest.Load().Name != "fault" {
		t.Errorf("started was the other: %v", fail)
	}
	if _, fail := r.inspect.Verified(s); fail == nil {
		t.Error("the other is taken at the next start")
	}
}

func TestWrittenInto(t *testing.T) {
	r := newRig(t, nil)
	path := filepath.Join(t.TempDir(), "bothy-plugin-script")
	script(t, path, "exec "+faultBinary+` "$@"`)
	s := inspect.Spec{Instance: "x", Plugin: "fault", Path: path}
	b, fail := r.inspect.Verified(s)
	if fail != nil {
		t.Fatal(fail)
	}
	defer b.Close()
	script(t, path, "exec "+faultBinary+` "$@" # evil`)
	i := newInstance(r.Supervisor, s)
	if fail := i.prepare(context.Background(), i.newLink(s, b, 1)); fail == nil || !strings.Contains(fail.Error(), "changed while it was started") {
		t.Errorf("not found: %v", fail)
	}
}

func script(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestScript: a script is started by its open file as well, and it is said that
// its digest covers no more than that.
func TestScript(t *testing.T) {
	r := newRig(t, nil)
	path := filepath.Join(t.TempDir(), "bothy-plugin-script")
	script(t, path, fmt.Sprintf("[ \"$(readlink \"$0\")\" = %q ] || exit 7\nexec %s \"$@\"", path, faultBinary))
	s := locked(t, r.inspect, inspect.Spec{Instance: "x", Plugin: "script", Path: path, Grants: []string{sdk.GrantEntries}})
	if found := r.start(context.Background(), []inspect.Spec{s}); len(found) > 0 {
		t.Fatal(found)
	}
	r.mustCall(t, "noop", ``)
	if st := r.status(t, "x"); !st.Script || !s.Locked.Script || st.PinnedBy != string(inspect.PinLock) {
		t.Errorf("%+v", st)
	}
}
