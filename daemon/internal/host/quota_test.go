package host

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// TestMeter: in no minute there is more than the bucket and what fills it, and
// who waits as long as was said gets one.
func TestMeter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m meter
		now, most := time.Unix(1, 0), rapid.Int64Range(1, 1000).Draw(t, "most")
		var taken []time.Time
		for range rapid.IntRange(1, 300).Draw(t, "asked") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "later")))
			wait := m.take(most, now)
			if wait == 0 {
				taken = append(taken, now)
				continue
			}
			if now = now.Add(wait + time.Microsecond); m.take(most, now) != 0 {
				t.Fatalf("after %v there is still none", wait)
			}
			taken = append(taken, now)
		}
		for i, from := range taken {
			n := int64(0)
			for _, at := range taken[i:] {
				if at.Sub(from) < time.Minute {
					n++
				}
			}
			if n > 2*most+1 { // a full bucket, and what came into it
				t.Fatalf("%d in a minute, the quota is %d", n, most)
			}
		}
	})
}

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
	if n := told.Load(); n < 1 || n > refusalsPerMinute+1 {
		t.Errorf("%d refusals were told of", n)
	}
	if got, _ := text.Load().(string); !strings.HasPrefix(got, "fault: the plugin fault asks the daemon for more than 5") {
		t.Error(got)
	}
}

// TestCompletionsQuota: completions are counted for the call that is served.
func TestCompletionsQuota(t *testing.T) {
	b := &hostServices{i: &instance{name: "p"}}
	b.allow(reach{spec: inspect.Spec{Instance: "p"}})
	for range 2 {
		r := &running{}
		for range completionsPerCall {
			if err := b.asks(r); err != nil {
				t.Fatal(err)
			}
		}
		err := b.asks(r)
		wantOutcome(t, err, sdk.Unavailable)
		if !strings.Contains(err.Error(), "quota { completions = 40 }") {
			t.Error(err)
		}
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
