package host

import (
	"testing"
	"time"
)

// about fails unless a wait is d, give or take the jitter.
func about(t *testing.T, what string, wait, d time.Duration) {
	t.Helper()
	if wait < d*8/10 || wait > d*12/10 {
		t.Errorf("%s: the wait is %v, want about %v", what, wait, d)
	}
}

// TestBackoff: one that had served comes back at once, the first time; from then
// on the waits double, and the fifth crash within the window is the last.
func TestBackoff(t *testing.T) {
	for _, c := range []struct {
		name   string
		served bool
		waits  []time.Duration // in units of the first one
	}{
		{"had served", true, []time.Duration{0, 1, 2, 4}},
		{"never came up", false, []time.Duration{1, 2, 4, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b backoff
			now := time.Now()
			for n, want := range c.waits {
				wait, broken := b.crashed(now, time.Second, c.served)
				if broken {
					t.Fatalf("broken after %d crashes", n+1)
				}
				about(t, c.name, wait, want*firstWait)
				now = now.Add(time.Minute)
			}
			if _, broken := b.crashed(now, time.Second, c.served); !broken {
				t.Errorf("not broken after %d crashes in %v", tooMany, window)
			}
		})
	}
}

// TestBackoffForgets: what ran well for long begins with the first wait again,
// and crashes that lie a window apart count for nothing.
func TestBackoffForgets(t *testing.T) {
	now := time.Now()
	var healthy backoff
	for n := range 100 {
		at := now.Add(time.Duration(n) * 3 * time.Minute)
		wait, broken := healthy.crashed(at, 2*time.Minute, true)
		if broken || wait > firstWait*12/10 {
			t.Fatalf("crash %d after healthy minutes: wait %v, broken %v", n, wait, broken)
		}
	}
	var rare backoff
	for n := range 20 {
		if wait, broken := rare.crashed(now.Add(time.Duration(n)*window), time.Second, true); wait != 0 || broken {
			t.Fatalf("crash %d, a window after the last: wait %v, broken %v", n, wait, broken)
		}
	}
	var failing backoff
	for n := range 20 {
		if wait, _ := failing.crashed(now.Add(time.Duration(n)*window), time.Second, false); wait > longestWait*12/10 {
			t.Fatalf("wait %v", wait)
		}
	}
}
