package host

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// TestGuardThatNeverCameUp: what is known of a plugin's subscriptions, from the lock or
// from when it last declared them, is subscribed to by a daemon under which it never
// serves, and its guard denies. Of one that nobody ever saw it is told that nobody knows.
func TestGuardThatNeverCameUp(t *testing.T) {
	subscribed := []sdk.Subscription{{Name: "turn.verdict", Priority: 10, Failure: sdk.FailClosed}}
	serves := func(s *inspect.Spec) {}
	wrongBlock := func(s *inspect.Spec) { s.Body = body(t, `retries = "many"`) }
	missing := func(s *inspect.Spec) { s.Path = "/nowhere/fault" }
	panics := func(s *inspect.Spec) { s.Env["FAULT"] = "exit" }
	refused := func(s *inspect.Spec) { s.SHA256 = strings.Repeat("1", 64) }
	lock := func(change func(*inspect.Spec)) func(*inspect.Spec) {
		return func(s *inspect.Spec) {
			s.Locked = &config.Locked{Digest: strings.Repeat("0", 64), Kinds: []string{"hook"}, Subscriptions: map[string]string{"turn.verdict": "(priority 10, closed)"}}
			change(s)
		}
	}
	for name, c := range map[string]struct {
		before, now func(*inspect.Spec) // before is nil: there was no daemon before this one
		known       bool
	}{
		"another binary than the lock has":     {nil, lock(serves), true},
		"in the lock and missing":              {nil, lock(missing), true},
		"a block that is wrong from the first": {nil, wrongBlock, true},
		"served, then its block is wrong":      {serves, wrongBlock, true},
		"served, then it is missing":           {serves, missing, true},
		"served, then it has no handshake":     {serves, panics, true},
		"served, then another one is pinned":   {serves, refused, true},
		"nobody ever saw it":                   {nil, missing, false},
		"it never had a handshake":             {nil, panics, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			in := func(cfg *Config) { cfg.DataDir, cfg.ReadyWait = data, 100*time.Millisecond }
			if c.before != nil {
				for range 2 { // what was known then is known over more than one restart
					s := spec("guard", "")
					c.before(&s)
					r := newRig(t, in)
					r.start(t.Context(), []inspect.Spec{s})
					r.Stop(context.Background())
					c.before = c.now
				}
			}
			s := spec("guard", "")
			c.now(&s)
			r := newRig(t, in)
			r.start(t.Context(), []inspect.Spec{s})
			hooks := r.Hooks()
			if unseen := r.Unseen(); slices.Contains(unseen, "guard") == c.known {
				t.Errorf("it is known: %v, and told as unseen: %v", c.known, unseen)
			}
			if !c.known {
				if len(hooks) != 0 {
					t.Errorf("hooks %v", hooks)
				}
				return
			}
			if len(hooks) != 1 || !slices.Equal(hooks[0].Subscriptions(), subscribed) {
				t.Fatalf("hooks %v", hooks)
			}
			if _, err := hooks[0].Filter(t.Context(), "turn.verdict", json.RawMessage(`{}`)); sdk.OutcomeOf(err) != sdk.Unavailable {
				t.Errorf("it ruled: %v", err)
			}
		})
	}
}

// TestForgottenSubscriptions: what a plugin subscribed to goes with its block, and what it
// subscribes to no more is not held against it.
func TestForgottenSubscriptions(t *testing.T) {
	data := t.TempDir()
	in := func(cfg *Config) { cfg.DataDir = data }
	r := started(t, in, spec("guard", ""))
	r.Apply(t.Context(), nil)
	r.Stop(context.Background())
	gone := spec("guard", "")
	gone.Path = "/nowhere/fault"
	again := newRig(t, in)
	again.Apply(t.Context(), []inspect.Spec{gone})
	if hooks := again.Hooks(); len(hooks) != 0 {
		t.Errorf("another plugin of the label has its subscriptions: %v", hooks)
	}
	text, err := os.ReadFile(filepath.Join(data, "plugins", "subscriptions"))
	if err != nil || strings.Contains(string(text), "guard") {
		t.Errorf("%s %v", text, err)
	}
}
