package main

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
)

// stepRow is the row of a step of the run's plan.
func stepRow(number int, text, status string) tea.Msg {
	return told(sdk.KindEntrySet, 0, 0, sdk.PlanPath(number), `{"state":"resolved","attributes":{"status":"`+status+`"}}`, text)
}

// TestPlan: the steps stand above the input while a prompt is worked on, those around the next one, and in no more
// lines than there is room for.
func TestPlan(t *testing.T) {
	c := alone(t, 60, 24)
	c.inRun()
	c.takes(startedRow(1))
	if lines := c.planLines(); lines != nil {
		t.Errorf("without a plan there stands %q", lines)
	}
	for i := range 9 {
		c.takes(stepRow(i+1, fmt.Sprintf("step %d %s\nin full", i+1, strings.Repeat("long ", 20)), "open"))
	}
	c.takes(stepRow(1, "Test", "done"), stepRow(2, "Tag", "done"), stepRow(3, "Push", "done"), stepRow(4, "Tell", "doing"))
	lines := strings.Split(bare(strings.Join(c.live.lines(c), "\n")), "\n")
	want := []string{"  Completed 3/9 steps (3 more)", "  ✓ 3. Push", "  ⧗ 4. Tell (in progress)", "  ○ 5. step 5 long long long long long long long long long…"}
	for i, w := range want {
		if lines[i] != w {
			t.Errorf("line %d is %q, and not %q", i, lines[i], w)
		}
	}
	if n := len(c.planLines()); n != 1+planSteps {
		t.Errorf("the plan has %d lines", n)
	}
	c.height = 12
	if n := len(c.planLines()); n != 2 {
		t.Errorf("in a low window the plan has %d lines", n)
	}
	for i := range 9 {
		c.takes(stepRow(i+1, "x", "done"))
	}
	if lines := c.planLines(); lines != nil {
		t.Errorf("a plan that is done stands there: %q", lines)
	}
}
