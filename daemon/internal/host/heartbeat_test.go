package host

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPulse: whatever the daemon does, a plugin that answers within two
// heartbeats never hangs; one that says nothing hangs at the third beat of a
// daemon that is on time.
func TestPulse(t *testing.T) {
	const every = time.Second
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1000, 0)
		p := newHeartbeat(now, every)
		var unheard time.Duration // since the plugin last answered, or the daemon last stood
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"beat", "answer", "late"}).Draw(t, "step") {
			case "answer":
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(p.due.Sub(now))).Draw(t, "after")))
				p.answered(now)
				unheard = 0
			case "late":
				now = p.due.Add(every/2 + time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "stood")))
				if p.beat(now) {
					t.Fatal("the plugin is blamed for what the daemon did")
				}
				unheard = 0
			case "beat":
				unheard += p.due.Sub(now)
				now = p.due
				if hangs, want := p.beat(now), unheard >= missed*every; hangs != want {
					t.Fatalf("silent for %v: hangs %v", unheard, hangs)
				}
				if unheard >= missed*every {
					return
				}
			}
			if wait := p.due.Sub(now); wait <= 0 || wait > every {
				t.Fatalf("the next beat is due in %v", wait)
			}
		}
	})
}

// TestBusy: a plugin whose handlers take every processor answers all the same.
func TestBusy(t *testing.T) {
	r := started(t, nil) // a heartbeat each second: the machine may be busy, too
	pid := fmt.Sprint(r.status(t, "fault").PID)
	if res := r.mustCall(t, "busy", `{"n":4000}`); res.Output != pid {
		t.Errorf("process %s answered, %s was asked", res.Output, pid)
	}
	if st := r.status(t, "fault"); fmt.Sprint(st.PID) != pid || st.Restarts != 0 {
		t.Errorf("it was ended: %+v\n%s", st, r.log)
	}
}

// TestHangsOnce: however many calls find at the same time that a plugin hangs, it
// is ended once, and what it wrote is kept once.
func TestHangsOnce(t *testing.T) {
	r := started(t, nil)
	i, err := r.instance("fault")
	if err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	l := i.link
	i.mu.Unlock()
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() { l.finish("a call did not end", true) })
	}
	calls.Wait()
	kept, err := filepath.Glob(filepath.Join(r.cfg.DataDir, "plugins", "stacks", "fault-*"))
	if err != nil || len(kept) != 1 {
		t.Errorf("kept %q (%v)", kept, err)
	}
}
