package host

import (
	"context"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// TestStopInEachState: whatever a plugin is about, the stop of the daemon ends it
// soon, and leaves no process. That it leaves no goroutine either is seen when all
// tests are over. TestStopDuringReplace and TestStopDuringReconfigure are two more.
func TestStopInEachState(t *testing.T) {
	in := func(s string) func(*testing.T, *rig) {
		return func(t *testing.T, r *rig) {
			eventually(t, "it is "+s, func() bool { return r.status(t, "fault").State == s })
		}
	}
	waits := spec("fault", "")
	waits.Requires = []string{"nobody"}
	for name, c := range map[string]struct {
		spec  inspect.Spec
		until func(*testing.T, *rig)
	}{
		"starting": {spec("fault", "silent"), func(t *testing.T, r *rig) {
			eventually(t, "its process is there", func() bool { return len(r.Processes()) == 1 })
		}},
		"waiting for what it requires": {waits, func(t *testing.T, r *rig) {
			eventually(t, "it waits", func() bool { return r.status(t, "fault").Error != "" })
		}},
		"backoff":  {spec("fault", "dies"), in(Backoff)},
		"broken":   {spec("fault", "version"), in(Broken)},
		"ready":    {spec("fault", ""), in(Ready)},
		"stubborn": {spec("fault", "stubborn"), in(Ready)},
		"a call under way": {spec("fault", ""), func(t *testing.T, r *rig) {
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			under(t, r, ctx)
		}},
		"removed, with a call under way": {spec("fault", ""), func(t *testing.T, r *rig) {
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			under(t, r, ctx)
			r.remove("fault")
		}},
		"just killed": {spec("fault", ""), func(t *testing.T, r *rig) {
			in(Ready)(t, r)
			_, err := r.call(t, "crash", ``)
			wantOutcome(t, err, sdk.PluginCrashed)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.Patience, c.DrainTimeout = time.Millisecond, 300*time.Millisecond })
			r.start(t.Context(), []inspect.Spec{c.spec})
			c.until(t, r)
			r.Stop(t.Context())
			if left := r.Processes(); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
			if kept := r.processes.Len(); kept != 0 {
				t.Errorf("%d processes are kept", kept)
			}
		})
	}
}

// under begins a call that lasts until ctx ends.
func under(t *testing.T, r *rig, ctx context.Context) {
	t.Helper()
	eventually(t, "it is ready", func() bool { return r.status(t, "fault").State == Ready })
	o := newOut()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = r.Invoke(ctx, sdk.Invocation{Tool: "fault__wait"}, o) // how it ends is not the question
	}()
	t.Cleanup(func() { <-ended })
	<-o.told
}
