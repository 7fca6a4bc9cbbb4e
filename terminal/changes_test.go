package main

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

func TestPartOf(t *testing.T) {
	for _, c := range []struct {
		text string
		want part
		bad  bool
	}{
		{text: "", want: part{}},
		{text: "3", want: part{prompt: 3}},
		{text: "turn 4", want: part{turn: 4}},
		{text: "file", want: part{pick: true}},
		{text: "src/main.go", want: part{path: "src/main.go"}},
		{text: "@./src/main.go", want: part{path: "./src/main.go"}},
		{text: "turnip.txt", want: part{path: "turnip.txt"}},
		{text: "0", bad: true},
		{text: "-1", bad: true},
		{text: "turn x", bad: true},
	} {
		got, err := partOf(c.text)
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
}

func TestLiteral(t *testing.T) {
	for path, want := range map[string]string{"src/main.go": "src/main.go", "a[1]*?.{x}": `a\[1\]\*\?.\{x\}`, `a\b`: `a\\b`} {
		if got := literal(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestPromptsOf(t *testing.T) {
	c := &conversation{line: &timeline.Timeline{Loops: []*timeline.Loop{
		{ID: 1, Turns: []*timeline.Turn{{Number: 1}, {Number: 2}}}, {ID: 2, Turns: []*timeline.Turn{{Number: 3}}},
	}}}
	for _, x := range []struct {
		turns []int
		want  int
	}{{nil, 0}, {[]int{1}, 1}, {[]int{1, 2}, 1}, {[]int{2, 3}, 2}} {
		if got := c.promptsOf(rpc.Changes{Differences: []sdk.Difference{{Turns: x.turns}}}); got != x.want {
			t.Errorf("turns %v: %d, want %d", x.turns, got, x.want)
		}
	}
}

// TestOthers: what other runs do stands in a line, those first that ask, and of a question
// that is new one is told.
func TestOthers(t *testing.T) {
	asks := func(id int64, name, proposal string) rpc.RunSummary {
		return rpc.RunSummary{Run: sdk.Run{ID: id, Alias: name, Status: sdk.StatusProposed}, Waiting: []rpc.Waiting{{ID: proposal}}}
	}
	works := rpc.RunSummary{Run: sdk.Run{ID: 2, Alias: "fix-2", Status: sdk.StatusRunning}}
	out := &output{holds: true}
	c := &conversation{runID: 1, width: 80, out: out}
	for i, x := range []struct {
		runs  []rpc.RunSummary
		line  string
		rings bool
	}{
		{nil, "", false},
		{[]rpc.RunSummary{works, asks(1, "this", "p")}, "fix-2 works", false},
		{[]rpc.RunSummary{works, asks(7, "default-7", "q")}, "default-7 asks · fix-2 works  alt-r answers", true},
		{[]rpc.RunSummary{works, asks(7, "default-7", "q")}, "default-7 asks · fix-2 works  alt-r answers", false},
		{[]rpc.RunSummary{asks(7, strings.Repeat("x", 100), "q")}, strings.Repeat("x", 78) + "…", false},
	} {
		out.held.Reset()
		c.tookBeside(besideCame{runs: x.runs})
		rings := strings.Contains(out.held.String(), "bothy: default-7 asks")
		if got := c.besideLine(); got != x.line || rings != x.rings {
			t.Errorf("%d: %q, %v", i, got, rings)
		}
	}
}
