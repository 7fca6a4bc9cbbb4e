package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestLoopTurns(t *testing.T) {
	f := newFixture(t)
	f.turn(0)
	first, second := f.enqueue(f.run.ID, "p"), f.enqueue(f.run.ID, "q") // both wait from the beginning
	f.claim(f.run.ID)
	f.turn(first.ID)
	f.turn(0) // a tool call, while the loop runs
	f.turn(first.ID)
	if err := f.end(f.run.ID, first.ID, sdk.StatusOK); err != nil {
		t.Fatal(err)
	}
	f.turn(0)
	f.claim(f.run.ID)
	f.turn(second.ID)
	if err := f.end(f.run.ID, second.ID, sdk.StatusOK); err != nil {
		t.Fatal(err)
	}
	none := f.enqueue(f.run.ID, "r")
	want := map[int64][]int{first.ID: {2, 4}, second.ID: {6}, none.ID: nil, 999: nil}
	look := func(when string) {
		t.Helper()
		for loop, turns := range want {
			if got, err := f.LoopTurns(t.Context(), f.run.ID, loop); err != nil || !slices.Equal(got, turns) {
				t.Errorf("%s: loop %d has the turns %v, %v; want %v", when, loop, got, err, turns)
			}
		}
	}
	look("at first")
	f.commit(sdk.Write{Path: promptPath(1), Body: body("rewritten"), Turn: 4, Writer: sdk.WriterPlugin})
	look("with a prompt rewritten in a later turn")
	f.commit(sdk.Write{Path: promptPath(1), Remove: true, Writer: sdk.WriterPlugin}, sdk.Write{Path: promptPath(2), Remove: true, Writer: sdk.WriterPlugin})
	look("without their prompts")
}

// turn opens a turn of the loop and closes it.
func (f *fixture) turn(loop int64) {
	f.t.Helper()
	turn := &sdk.Turn{Loop: loop}
	for _, c := range []sdk.Change{{OpenTurn: turn}, {CloseTurn: turn}} {
		c.Run = f.run.ID
		if _, err := f.Commit(f.t.Context(), c); err != nil {
			f.t.Fatal(err)
		}
	}
}

// The turns of a loop cost as much in a long run as in a short one: no others are read.
func TestLoopTurnsReadNoOthers(t *testing.T) {
	f := newFixture(t)
	if plan := f.plan(loopTurnsQuery, 1, f.run.ID); !strings.Contains(plan, "turns_loop (loop=?)") || strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("the plan is\n%s", plan)
	}
}

func TestBriefEntriesHaveNoBodies(t *testing.T) {
	f := newFixture(t)
	f.answerWithCalls("1", `{"text":"long"}`)
	f.commit(known("known://a", "text"),
		sdk.Write{Path: "log://turn_1/x/ended", Body: body("out"), Writer: sdk.WriterSystem, State: sdk.StateFailed, Outcome: sdk.Exit(3), Attributes: object(`{"tool":"x"}`)})
	f.commit(sdk.Write{Path: "log://turn_1/write/a", Writer: sdk.WriterSystem, Chunk: &sdk.Chunk{Channel: 1, Text: "so far"}})
	for _, pattern := range []string{"", "log://**", "known://*"} {
		whole, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID, Pattern: pattern})
		if err != nil {
			t.Fatal(err)
		}
		brief, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID, Pattern: pattern, Brief: true})
		if err != nil || len(brief) != len(whole) {
			t.Fatalf("%q: %d entries of %d, %v", pattern, len(brief), len(whole), err)
		}
		for i, b := range brief {
			w := whole[i]
			if strings.Contains(string(b.Attributes), "long") && strings.HasPrefix(b.Path, "log://") {
				t.Errorf("%s brings what it refers to: %s", b.Path, b.Attributes)
			}
			if w.State == sdk.StateStreaming {
				w.Hash, w.Attributes = "", b.Attributes
			}
			w.Body = ""
			if got, want := fmt.Sprintf("%+v", b), fmt.Sprintf("%+v", w); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
	if _, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID, Pattern: "/[/", Brief: true}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a pattern that is none: %v", err)
	}
}

// Stored paths are data: whatever one holds, it is found by its own text, and only it.
func TestEntriesByPattern(t *testing.T) {
	f := newFixture(t)
	paths := []string{"src/[id]/page.tsx", "src/i/page.tsx", "src/(group)/x", "known://a*b", "known://axb", "known://what?", "known://{a,b}", "known://turn", "known://turn/1", "known://turn_1"}
	var writes []sdk.Write
	for _, p := range paths {
		writes = append(writes, known(p, "text"))
	}
	f.commit(writes...)
	for _, tt := range []struct {
		pattern string
		want    []string
	}{
		{"src/[id]/page.tsx", paths[:1]},
		{"src/[id]/*", paths[:1]},
		{"src/*/page.tsx", paths[:2]},
		{"src/(group)/x", paths[2:3]},
		{"known://{a,b}", paths[6:7]},
		{"known://a*b", paths[3:5]},
		{"known://what?", paths[5:6]},
		{"known://turn/**", paths[7:9]},
		{"known://turn**", []string{paths[7], paths[9]}},
		{"/^src/.*x$/", paths[:3]},
		{"!{src,known:}/**", nil},
		{"//a", nil},
		{"$.a", nil},
	} {
		all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID, Pattern: tt.pattern, Brief: true})
		var got []string
		for _, e := range all {
			got = append(got, e.Path)
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s finds %q, %v; it should be %q", tt.pattern, got, err, tt.want)
		}
	}
}
