package show

import (
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

// TestTimes: a time that goes on counts in whole seconds, and that of an end is as wide
// whatever it is, below ten seconds.
func TestTimes(t *testing.T) {
	began := time.Now()
	for _, tt := range []struct {
		took         time.Duration
		going, ended string
	}{
		{40 * time.Millisecond, "0s", "0.1s"},
		{999 * time.Millisecond, "0s", "1.0s"},
		{5 * time.Second, "5s", "5.0s"},
		{65 * time.Second, "1m05s", "1m5s"},
		{62 * time.Minute, "1h02m", "1h2m0s"},
	} {
		l := &timeline.Loop{Began: began, Last: began.Add(tt.took), End: &sdk.LoopEnd{Stop: sdk.StopAnswer, Status: sdk.StatusOK}}
		if got := Going(tt.took); got != tt.going {
			t.Errorf("%v goes on as %s, want %s", tt.took, got, tt.going)
		}
		if got := End(l, "", "").String(); !strings.HasSuffix(got, ", "+tt.ended+")") {
			t.Errorf("%v ends as %s, want %s", tt.took, got, tt.ended)
		}
	}
}

// TestThousands: what is small is told exactly.
func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 9999: "9999", 10_000: "10k", 12_999: "12k"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
