package builtin

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// small lets entries of known:// have 10 tokens.
func (b *bench) small() *bench {
	b.Bounded(func() int { return 10 })
	return b
}

// TestKnownHoldsOneFact is the size gate of {#budget_enforcement} in the rummy spec, by whichever verb.
func TestKnownHoldsOneFact(t *testing.T) {
	fits, over := strings.Repeat("é", 20), strings.Repeat("é", 21)
	half := strings.Repeat("x", 11)
	for name, c := range map[string]struct {
		call sdk.EntryCall
		want sdk.Outcome
	}{
		"set":                       {sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://new", Body: &over}, sdk.Overflow},
		"set of what fits":          {sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://new", Body: &fits}, ""},
		"set with capitals":         {sdk.EntryCall{Verb: sdk.VerbSet, Path: "KNOWN://new", Body: &over}, sdk.Overflow},
		"set to be archived":        {sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://new", Body: &over, Visibility: sdk.Archived}, sdk.Overflow},
		"set over what was longer":  {sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://old", Body: &fits}, ""},
		"append":                    {sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://half", Body: &half, Append: true}, sdk.Overflow},
		"append to nothing":         {sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://new", Body: &half, Append: true}, ""},
		"pattern":                   {sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://h*", Body: &over, Pattern: true}, sdk.Overflow},
		"append by a pattern":       {sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://h*", Body: &half, Pattern: true, Append: true}, sdk.Overflow},
		"cp from another scheme":    {sdk.EntryCall{Verb: sdk.VerbCopy, Path: "unknown://long", To: "known://new"}, sdk.Overflow},
		"cp of what was longer":     {sdk.EntryCall{Verb: sdk.VerbCopy, Path: "known://old", To: "known://new"}, sdk.Overflow},
		"cp out of it":              {sdk.EntryCall{Verb: sdk.VerbCopy, Path: "known://old", To: "unknown://new"}, ""},
		"mv":                        {sdk.EntryCall{Verb: sdk.VerbMove, Path: "unknown://long", To: "known://new"}, sdk.Overflow},
		"mv out of it":              {sdk.EntryCall{Verb: sdk.VerbMove, Path: "known://old", To: "unknown://new"}, ""},
		"another scheme":            {sdk.EntryCall{Verb: sdk.VerbSet, Path: "unknown://new", Body: &over}, ""},
		"levels of what was longer": {sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://old", Visibility: sdk.Summarized}, ""},
		"summary":                   {sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://old", Summary: "what it was"}, ""},
		"get":                       {sdk.EntryCall{Verb: sdk.VerbGet, Path: "known://old"}, ""},
		"rm":                        {sdk.EntryCall{Verb: sdk.VerbRemove, Path: "known://old"}, ""},
	} {
		for _, writer := range []sdk.Writer{sdk.WriterModel, sdk.WriterClient, sdk.WriterPlugin} {
			t.Run(name+" by "+string(writer), func(t *testing.T) {
				b := newBench(t)
				b.has("known://old", strings.Repeat("o", 99))
				b.has("known://half", half)
				b.has("unknown://long", over)
				b = b.small().as(writer)
				before := b.at("known://new") + b.at("known://half")
				_, err := b.do(c.call)
				if got := sdk.OutcomeOf(err); err != nil && got != c.want || err == nil && c.want != "" {
					t.Errorf("it came to %q, and not %q: %v", got, c.want, err)
				}
				if err != nil && b.at("known://new")+b.at("known://half") != before {
					t.Error("what was refused is there")
				}
			})
		}
	}
}

// TestTheGateSaysWhatToDo tells the sizes, and how to do it otherwise.
func TestTheGateSaysWhatToDo(t *testing.T) {
	b := newBench(t).small()
	_, err := b.do(sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://all", Body: new(strings.Repeat("x", 41))})
	for _, want := range []string{"known://all would have 21 tokens", "holds 10", "20 characters", "one fact in each"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it does not say %q: %v", want, err)
		}
	}
	if sdk.Status(sdk.StateFailed, sdk.OutcomeOf(err)) != sdk.StatusOverflow {
		t.Errorf("it is no 413: %v", err)
	}
}

// TestTheGateOfAnUnboundedKnown lets everything by where nothing is set.
func TestTheGateOfAnUnboundedKnown(t *testing.T) {
	for _, b := range []*bench{newBench(t), newBench(t)} {
		b.must(sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://all", Body: new(strings.Repeat("x", 5000))})
		b.Bounded(func() int { return 0 })
		b.must(sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://all", Body: new(strings.Repeat("x", 5000)), Append: true})
	}
}

// TestTheGateCountsWhatIsPlanned holds that calls of one answer are counted together.
func TestTheGateCountsWhatIsPlanned(t *testing.T) {
	b := newBench(t).small()
	part := strings.Repeat("x", 9)
	grow := sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://a", Body: &part, Append: true}
	plans := b.Plan(t.Context(), b.use, []sdk.EntryCall{grow, grow, grow, {Verb: sdk.VerbSet, Path: "known://a", Body: &part}})
	for i, want := range []sdk.Outcome{"", "", sdk.Overflow, ""} {
		if err := plans[i].Err; err != nil && sdk.OutcomeOf(err) != want || err == nil && want != "" {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// TestTheGateOfStreams counts what has come of an entry that grows.
func TestTheGateOfStreams(t *testing.T) {
	b := newBench(t).small().as(sdk.WriterPlugin)
	part := strings.Repeat("x", 12)
	b.must(sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://s", Body: new(""), State: sdk.StateStreaming})
	b.must(sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://s", Body: &part, Append: true})
	if _, err := b.do(sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://s", Body: &part, Append: true}); sdk.OutcomeOf(err) != sdk.Overflow {
		t.Error(err)
	}
}

// TestTheGateOfPlainWrites is of what a plugin writes without a verb.
func TestTheGateOfPlainWrites(t *testing.T) {
	b := newBench(t).small()
	b.has("known://a", strings.Repeat("a", 15))
	chunk := sdk.Write{Path: "known://a", Chunk: &sdk.Chunk{Channel: 1, Text: "123"}}
	for name, c := range map[string]struct {
		writes []sdk.Write
		fits   bool
	}{
		"a body":         {[]sdk.Write{{Path: "known://b", Body: new(strings.Repeat("b", 20))}}, true},
		"a long body":    {[]sdk.Write{{Path: "known://b", Body: new(strings.Repeat("b", 21))}}, false},
		"the second":     {[]sdk.Write{{Path: "wiki://b", Body: new(strings.Repeat("b", 21))}, {Path: "Known://b", Body: new(strings.Repeat("b", 21))}}, false},
		"a piece":        {[]sdk.Write{chunk}, true},
		"pieces":         {[]sdk.Write{chunk, chunk}, false},
		"pieces, anew":   {[]sdk.Write{{Path: "known://a", Body: new("")}, chunk, chunk}, true},
		"no body":        {[]sdk.Write{{Path: "known://a", State: sdk.StateFailed}}, true},
		"what is looked": {[]sdk.Write{{Path: "known://a", Look: true, Visibility: sdk.Visible}}, true},
		"what goes":      {[]sdk.Write{{Path: "known://a", Remove: true, Body: new(strings.Repeat("b", 21))}}, true},
	} {
		err := b.Fits(t.Context(), b.use.Run, c.writes)
		if c.fits != (err == nil) || err != nil && sdk.OutcomeOf(err) != sdk.Overflow {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheGateHoldsWhateverIsAppended grows an entry in random pieces from two sides: what is planned before something else
// was written is refused by the store, so that no order of them makes it longer than one may be.
func TestTheGateHoldsWhateverIsAppended(t *testing.T) {
	b := newBench(t).small()
	rapid.Check(t, func(r *rapid.T) {
		b.must(sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://a", Body: new("x")})
		for range rapid.IntRange(1, 6).Draw(r, "calls") {
			var plans []sdk.EntryPlan
			for range 2 {
				c := sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://a", Body: new(strings.Repeat("y", rapid.IntRange(0, 12).Draw(r, "length"))), Append: true}
				plans = append(plans, b.Plan(t.Context(), b.use, []sdk.EntryCall{c})[0])
			}
			for _, p := range plans {
				if p.Err == nil {
					_, _ = b.s.Commit(t.Context(), sdk.Change{Run: b.use.Run.ID, Writes: p.Writes}) // it may be too late
				}
			}
			all, err := b.s.Entries(t.Context(), sdk.EntryQuery{Run: b.use.Run.ID, Path: "known://a"})
			if err != nil || len(all) != 1 || len(all[0].Body) > 20 {
				r.Fatalf("it has %d characters (%v)", len(all[0].Body), err)
			}
		}
	})
}

// has puts an entry into the run that is as long as it likes.
func (b *bench) has(path, body string) {
	b.t.Helper()
	b.commit(sdk.Write{Path: path, Body: &body, Writer: sdk.WriterModel, State: sdk.StateResolved, Visibility: sdk.Visible, Turn: 1})
}
