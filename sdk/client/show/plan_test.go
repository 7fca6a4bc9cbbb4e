package show

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestPlan(t *testing.T) {
	var steps []sdk.PlanStep
	for i, status := range []sdk.PlanStatus{sdk.PlanDone, sdk.PlanDropped, sdk.PlanDoing, sdk.PlanOpen, sdk.PlanNotAsked} {
		steps = append(steps, sdk.PlanStep{Number: i + 1, Text: fmt.Sprintf("step\x1b %d\nin full", i+1), Status: status})
	}
	steps[1].Note = "no need"
	var lines []string
	for _, l := range Plan(steps) {
		lines = append(lines, l.String())
	}
	const want = `Completed 1/4 steps
✓ 1. step\x1b 1
✗ 2. step\x1b 2 (dropped): no need
⧗ 3. step\x1b 3 (in progress)
○ 4. step\x1b 4
- 5. step\x1b 5 (not asked for)`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("drawn is\n%s", got)
	}
	if Plan(nil) != nil {
		t.Error("something is drawn where there is no plan")
	}
	for _, c := range []struct {
		most int
		want string
	}{{5, "1-5 0 0"}, {3, "2-4 1 1"}, {1, "2-2 1 3"}, {4, "2-5 1 0"}} {
		some, before, behind := PlanWindow(steps, c.most)
		if got := fmt.Sprintf("%d-%d %d %d", some[0].Number, some[len(some)-1].Number, before, behind); got != c.want {
			t.Errorf("%d lines show %s", c.most, got)
		}
	}
}
