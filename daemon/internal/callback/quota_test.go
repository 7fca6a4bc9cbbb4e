package callback

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/hashicorp/go-hclog"
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

// TestCompletionsQuota: completions are counted for the call that is served.
func TestCompletionsQuota(t *testing.T) {
	b := New(Config{Services: &daemon{}}).Plugin("p", hclog.NewNullLogger()).Process()
	b.Allow(inspect.Spec{Instance: "p"}, &sdk.Manifest{})
	for range 2 {
		r := &running{}
		for range completionsPerCall {
			if err := b.asks(r); err != nil {
				t.Fatal(err)
			}
		}
		err := b.asks(r)
		if sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "quota { completions = 40 }") {
			t.Error(err)
		}
	}
}
