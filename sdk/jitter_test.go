package sdk

import (
	"testing"
	"time"
)

// TestJittered: a wait stays near what it was, and two are hardly the same.
func TestJittered(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 1000 {
		d := Jittered(time.Second)
		if d < 800*time.Millisecond || d > 1200*time.Millisecond {
			t.Fatal(d)
		}
		seen[d] = true
	}
	if len(seen) < 900 {
		t.Errorf("%d of 1000 differ", len(seen))
	}
	if d := Jittered(0); d != 0 {
		t.Error(d)
	}
}
