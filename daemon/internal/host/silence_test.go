package host

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// TestSilence: a call that hangs is ended and its caller told in one sentence, with
// what its block says or without; one that tells of itself, or waits for the daemon, is not.
func TestSilence(t *testing.T) {
	const ended = "the call hung and was ended: nothing came of it for "
	short, boxed := spec("short", ""), spec("boxed", "")
	short.Limits.Call = 800 * time.Millisecond
	boxed.Grants = append(boxed.Grants, sdk.GrantSandbox)
	skill := pinnedSpec(t, "skill")
	r := started(t, func(cfg *Config) {
		cfg.Silence, cfg.CancelGrace = 900*time.Millisecond, 200*time.Millisecond
	}, short, skill, boxed)
	for _, c := range []struct {
		name string
		call func(context.Context) error
		says []string
	}{
		{"waits", func(ctx context.Context) error {
			_, err := r.Invoke(ctx, sdk.Invocation{Tool: "short__wait"}, newOut())
			return err
		}, []string{ended + "800ms", "limits { call }", "short"}},
		{"is deaf", func(ctx context.Context) error {
			_, err := r.Invoke(ctx, sdk.Invocation{Tool: "short__hang"}, newOut())
			return err
		}, []string{ended + "800ms", "it was killed"}},
		{"a skill by the default", func(ctx context.Context) error {
			_, err := r.Execute(ctx, "skill", sdk.SkillCall{Skill: "wait"}, newOut())
			return err
		}, []string{ended + "900ms", "skill"}},
		{"a provider", func(ctx context.Context) error {
			err := r.Complete(ctx, "short", sdk.Request{Model: "mute"}, func(sdk.Delta) error { return nil })
			if failed := (*sdk.ProviderError)(nil); errors.As(err, &failed) && failed.Class == sdk.ClassGateway && !failed.Streamed {
				err = sdk.Errorf(sdk.Timeout, "%s", failed.Message)
			}
			return err
		}, []string{"did not begin to answer within 800ms"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			err := c.call(ctx)
			for _, s := range c.says {
				if err == nil || !strings.Contains(err.Error(), s) {
					t.Errorf("%v does not say %q", err, s)
				}
			}
			wantOutcome(t, err, sdk.Timeout)
		})
	}
	if _, err := r.call(t, "short__tell", `{"n":1200}`); err != nil {
		t.Errorf("a call that tells of itself: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 1200*time.Millisecond)
	defer cancel()
	if _, err := r.Invoke(ctx, sdk.Invocation{Tool: "boxed__wait"}, newOut()); err == nil || strings.Contains(err.Error(), "hung") {
		t.Errorf("a call of what runs containers: %v", err)
	}
}

// TestSilenceOfServices: what the daemon does for a call is no silence of it.
func TestSilenceOfServices(t *testing.T) {
	s := asking(spec("fault", ""), sdk.GrantEntries)
	s.Limits = config.Limits{Call: 800 * time.Millisecond}
	r := started(t, func(cfg *Config) { cfg.Services = &fakeDaemon{slow: 1200 * time.Millisecond} }, s)
	if res := r.mustCall(t, "back", `{"service":"entry","name":"known"}`); !strings.HasPrefix(res.Output, "fault run") {
		t.Errorf("answered %+v", res)
	}
}

// TestHangingHook: a hook that hangs is an error within its limit, and costs its
// plugin the process; one that ends with its context does not.
func TestHangingHook(t *testing.T) {
	s := spec("fault", "")
	s.Limits.Call = 100 * time.Millisecond
	r := started(t, func(cfg *Config) { cfg.CancelGrace, cfg.DrainTimeout = 500*time.Millisecond, 200*time.Millisecond }, s)
	ask := func(value string) {
		t.Helper()
		_, err := r.Hooks()[0].Filter(t.Context(), "turn.verdict", json.RawMessage(value))
		wantOutcome(t, err, sdk.Timeout)
		if err.Error() != "the plugin did not answer within 100ms" {
			t.Error(err)
		}
	}
	boxed := spec("boxed", "")
	boxed.Limits.Call, boxed.Grants = 100*time.Millisecond, append(boxed.Grants, sdk.GrantSandbox)
	r.start(t.Context(), []inspect.Spec{boxed})
	_, err := r.Hooks()[1].Filter(t.Context(), "turn.verdict", json.RawMessage(`"hang"`))
	wantOutcome(t, err, sdk.Timeout)
	pid, kept := r.status(t, "fault").PID, r.status(t, "boxed").PID
	ask(`"wait"`)
	if st := r.status(t, "fault"); st.Error != "its subscriber of turn.verdict: the plugin did not answer within 100ms" {
		t.Errorf("the status of a plugin that does not hear: %q", st.Error)
	}
	if _, err := r.Hooks()[0].Filter(t.Context(), "turn.verdict", json.RawMessage(`1`)); err != nil || r.status(t, "fault").Error != "" {
		t.Errorf("the status of one that hears again: %q, %v", r.status(t, "fault").Error, err)
	}
	ask(`"hang"`)
	eventually(t, "the process is gone", func() bool { return gone(pid) })
	eventually(t, "another one serves", func() bool {
		st := r.status(t, "fault")
		return st.State == Ready && st.Restarts == 1
	})
	if r.status(t, "boxed").PID != kept {
		t.Error("what runs containers was ended too")
	}
	if log := r.log.String(); !strings.Contains(log, "its subscriber of turn.verdict did not end within 500ms of its limit; where it stood is in ") {
		t.Error("the log does not say why it was ended")
	}
}
