package host

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestQuota: a plugin that asks for more than its block lets it is refused, which
// is told, though not without end.
func TestQuota(t *testing.T) {
	var told atomic.Int64
	var text atomic.Value
	s := asking(spec("fault", ""), sdk.GrantEntries, sdk.GrantModels)
	s.Quota.Calls = 5
	r := started(t, func(c *Config) {
		c.Services = &fakeDaemon{}
		c.Refused = func(instance, detail string) {
			told.Add(1)
			text.Store(instance + ": " + detail)
		}
	}, s)
	refused := 0
	for range 30 {
		_, err := r.call(t, "back", `{"service":"entry","name":"known"}`)
		if err == nil {
			continue
		}
		refused++
		wantOutcome(t, err, sdk.Unavailable)
		if !strings.Contains(err.Error(), "quota { calls = 10 }") {
			t.Fatal(err)
		}
	}
	if refused < 20 || refused > 25 {
		t.Errorf("%d of 30 were refused, the quota is 5", refused)
	}
	if n := told.Load(); n < 1 || n > 10+1 {
		t.Errorf("%d refusals were told of", n)
	}
	if got, _ := text.Load().(string); !strings.HasPrefix(got, "fault: the plugin fault asks the daemon for more than 5") {
		t.Error(got)
	}
}

// TestCallbackEnds: a callback runs out of time when the call that it serves does,
// and is aborted when that is, on both sides; so is a completion.
func TestCallbackEnds(t *testing.T) {
	for _, c := range []struct {
		service string
		end     func(context.Context) (context.Context, context.CancelFunc)
		want    error
		outcome sdk.Outcome
	}{
		{"wait", after(200 * time.Millisecond), context.DeadlineExceeded, sdk.Timeout},
		{"wait", aborted, context.Canceled, sdk.Aborted},
		{"complete", after(200 * time.Millisecond), context.DeadlineExceeded, sdk.Timeout},
		{"complete", aborted, context.Canceled, sdk.Aborted},
	} {
		daemon := &fakeDaemon{ended: make(chan error, 1), began: make(chan struct{}, 1)}
		r := started(t, func(c *Config) { c.Services = daemon }, asking(spec("fault", ""), sdk.GrantEntries, sdk.GrantModels))
		ctx, cancel := c.end(context.Background())
		defer cancel()
		go func() {
			<-daemon.began
			if errors.Is(c.want, context.Canceled) {
				cancel()
			}
		}()
		arguments, _ := json.Marshal(service{c.service, ""})
		_, err := r.Invoke(ctx, sdk.Invocation{Tool: "back", Arguments: arguments, Run: "run"}, newOut())
		if err != nil || c.service == "complete" {
			wantOutcome(t, err, c.outcome)
		}
		select {
		case got := <-daemon.ended:
			if !errors.Is(got, c.want) {
				t.Errorf("%s: the daemon's side ended with %v, want %v", c.service, got, c.want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the daemon's side still runs", c.service)
		}
	}
}

func after(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

func aborted(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// TestEntriesWithinReach: a glob over every scheme finds nothing of those that
// are out of reach, and what a plugin declares while it runs adds nothing.
func TestEntriesWithinReach(t *testing.T) {
	daemon := &fakeDaemon{all: []sdk.Entry{{Path: "known://a"}, {Path: "log://turn_1/x"}, {Path: "KNOWN://b"}, {Path: "main.go"}, {Path: "fact://c"}}}
	s := spec("fault", "")
	s.Env["FAULT_CALLS"] = `{"schemes":["fact","known"]}`
	s.Schemes = []string{"known"}
	r := started(t, func(c *Config) { c.Services = daemon }, s)
	for glob, want := range map[string]string{"": "2", "*://**": "2", "{known,log}://**": "2", "known://**": "2", "**": "2"} {
		arguments, _ := json.Marshal(service{"entries", glob})
		if res := r.mustCall(t, "back", string(arguments)); res.Output != want {
			t.Errorf("%q finds %s entries, want %s", glob, res.Output, want)
		}
	}
	for _, c := range []service{{"entries", "log://**"}, {"entry", "log://turn_1/x"}, {"write", "fact://x"}, {"write", "log://x"}} {
		arguments, _ := json.Marshal(c)
		_, err := r.call(t, "back", string(arguments))
		wantOutcome(t, err, sdk.Permission)
	}
	r.mustCall(t, "want", ``)
	eventually(t, "the manifest that declares more", func() bool { return slices.Contains(r.schemes("fault"), "log") })
	_, err := r.call(t, "back", `{"service":"entry","name":"log://turn_1/x"}`)
	wantOutcome(t, err, sdk.Permission)
}

// service is what the tool back is asked.
type service struct {
	Service string `json:"service"`
	Name    string `json:"name,omitempty"`
}

// schemes is what the manifest declares now.
func (r *rig) schemes(instance string) []string {
	i, err := r.instance(instance)
	if err != nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.manifest.Calls.Schemes
}
