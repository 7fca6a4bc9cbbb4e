package host

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// TestARestIsACall: what a plugin is told of a rest it may ask the daemon about, and that it dies, or is given up, is an
// error that says so.
func TestARestIsACall(t *testing.T) {
	d := &fakeDaemon{}
	s := spec("fault", "")
	s.Grants = []string{sdk.GrantEntries}
	r := newRig(t, func(cfg *Config) { cfg.Services = d })
	d.s = r.Supervisor
	r.start(t.Context(), []inspect.Spec{s})
	tell := func(ctx context.Context, why string) error {
		payload, err := json.Marshal(sdk.Rest{ID: "key-rest-1", Run: sdk.Run{Key: "key"}, RunDir: t.TempDir(), From: 1, To: 1, Why: why})
		if err != nil {
			t.Fatal(err)
		}
		return r.Hooks()[0].Event(ctx, "run.rested", payload)
	}
	is := func(err error, outcome sdk.Outcome, text string) {
		t.Helper()
		if err == nil || sdk.OutcomeOf(err) != outcome || text != "" && err.Error() != text {
			t.Errorf("%s: %v", sdk.OutcomeOf(err), err)
		}
	}
	if err := tell(t.Context(), sdk.RestIdle); err != nil {
		t.Error(err)
	}
	is(tell(t.Context(), "ask"), sdk.Conflict, "it has fault key 1")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	is(tell(ctx, "wait"), sdk.Timeout, "")
	is(tell(t.Context(), "die"), sdk.PluginCrashed, "")
	if err := tell(t.Context(), sdk.RestIdle); err != nil {
		t.Errorf("the next process: %v", err)
	}
}

// TestAwaitReady: a plugin is waited for that was not begun, that cannot start and that comes at last.
func TestAwaitReady(t *testing.T) {
	r := newRig(t, nil)
	there := make(chan error, 1)
	go func() { there <- r.AwaitReady(t.Context(), "fault") }()
	broken := spec("fault", "")
	broken.Path = "/nowhere/fault"
	r.start(t.Context(), []inspect.Spec{broken})
	select {
	case err := <-there:
		t.Fatalf("a plugin without a file is there: %v", err)
	default:
	}
	r.Apply(t.Context(), []inspect.Spec{spec("fault", "")})
	if err := <-there; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.AwaitReady(ctx, "none"); sdk.OutcomeOf(err) != sdk.Aborted {
		t.Errorf("it was given up: %v", err)
	}
}
