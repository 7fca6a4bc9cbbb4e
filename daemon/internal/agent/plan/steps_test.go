package plan

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func TestRange(t *testing.T) {
	p := Plan{Goal: "g", Steps: []Step{{Action: "a"}, {Action: "b"}, {Action: "c"}}}
	for _, c := range []struct {
		r    Range
		bad  bool
		want string
	}{
		{Range{}, false, "ooo"}, {Range{2, 0}, false, "-oo"}, {Range{0, 2}, false, "oo-"}, {Range{2, 2}, false, "-o-"}, {Range{1, 3}, false, "ooo"},
		{Range{4, 0}, true, ""}, {Range{0, 4}, true, ""}, {Range{3, 2}, true, ""}, {Range{-1, 0}, true, ""},
	} {
		if err := c.r.Check(p); (err != nil) != c.bad {
			t.Errorf("%v: %v", c.r, err)
		}
		if c.bad {
			continue
		}
		got := ""
		for _, s := range p.InRun(c.r) {
			if s.Status == sdk.PlanNotAsked {
				got += "-"
			} else {
				got += "o"
			}
		}
		if got != c.want {
			t.Errorf("%v asks for %s, and not %s", c.r, got, c.want)
		}
		if left := strings.Contains(p.Prompt(c.r), "(not asked for)"); left != strings.Contains(c.want, "-") {
			t.Errorf("%v: the prompt says\n%s", c.r, p.Prompt(c.r))
		}
	}
}

func TestApply(t *testing.T) {
	steps := []sdk.PlanStep{{Number: 1, Text: "a", Status: sdk.PlanDone, Version: 3}, {Number: 2, Text: "b", Status: sdk.PlanOpen, Version: 1}, {Number: 3, Text: "c", Status: sdk.PlanNotAsked, Version: 1}}
	for _, c := range []struct {
		name  string
		edits []Edit
		want  string // the progress, or what is wrong
	}{
		{"mark", []Edit{{Number: 2, Status: sdk.PlanDoing}}, "Completed 1/2 steps:\n✓ 1. a\n⧗ 2. b (in progress)\n- 3. c (not asked for)"},
		{"add, note and reword", []Edit{{Text: "d\nmore"}, {Number: 2, Text: "B", Status: sdk.PlanDropped, Note: "no need"}}, "Completed 1/3 steps:\n✓ 1. a\n✗ 2. B (dropped): no need\n- 3. c (not asked for)\n○ 4. d"},
		{"nothing", nil, "Completed 1/2 steps:\n✓ 1. a\n○ 2. b\n- 3. c (not asked for)"},
		{"no such step", []Edit{{Number: 9, Status: sdk.PlanDone}}, "there is no step 9: the plan has the steps 1 to 3"},
		{"not asked for", []Edit{{Number: 3, Status: sdk.PlanDone}}, "step 3 is not asked for"},
		{"no such status", []Edit{{Number: 1, Status: "finished"}}, `a step can be open, doing, done or dropped, not "finished"`},
		{"a person's status", []Edit{{Number: 1, Status: sdk.PlanNotAsked}}, "a step can be open"},
		{"no text", []Edit{{Status: sdk.PlanDone}}, "a step without a number is a new one"},
		{"blank text", []Edit{{Number: 1, Text: " "}}, "the text of step 1 is empty"},
		{"long note", []Edit{{Number: 1, Note: strings.Repeat("a", longestNote+1)}}, "the text of a step takes 16384 bytes"},
		{"one is wrong", []Edit{{Number: 2, Status: sdk.PlanDone}, {Number: 9}}, "there is no step 9"},
	} {
		all, _, err := Apply(steps, c.edits)
		got := Progress(all)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	if _, err := sdk.PlanStepOf(sdk.Entry{Path: "plan://01"}); err {
		t.Error("plan://01 is a step")
	}
}

// What a call changes is what differs afterwards, and the rest stays as it was.
func TestApplyChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var steps []sdk.PlanStep
		for i := range rapid.IntRange(0, 5).Draw(t, "steps") {
			steps = append(steps, sdk.PlanStep{Number: i + 1, Text: "x", Status: rapid.SampledFrom(sdk.PlanStatuses()).Draw(t, "status"), Version: 1})
		}
		edits := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Edit {
			return Edit{
				Number: rapid.IntRange(0, 6).Draw(t, "number"), Text: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "text"),
				Status: rapid.SampledFrom(append(sdk.PlanStatuses(), "")).Draw(t, "to"), Note: rapid.SampledFrom([]string{"", "n"}).Draw(t, "note"),
			}
		}), 0, 4).Draw(t, "edits")
		before := slices.Clone(steps)
		all, changed, err := Apply(steps, edits)
		if !slices.Equal(before, steps) {
			t.Fatal("the steps that were given are others")
		}
		if err != nil {
			if all != nil || changed != nil {
				t.Fatal("an error changes something")
			}
			return
		}
		for i, s := range all {
			if s.Number != i+1 {
				t.Fatalf("step %d has the number %d", i+1, s.Number)
			}
			other := i >= len(steps) || s != steps[i]
			if other != slices.Contains(changed, s) {
				t.Fatalf("%v: changed are %v of %v", s, changed, all)
			}
			if i < len(steps) && steps[i].Status == sdk.PlanNotAsked && other {
				t.Fatal("a step that is not asked for is another")
			}
		}
	})
}
