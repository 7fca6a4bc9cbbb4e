package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// eventful is a run in which everything happened that can be told.
func eventful(project string) fakeRun {
	usage := func(in, cached, out int, cost float64) *sdk.Usage {
		return &sdk.Usage{Prompt: in, Cached: cached, Completion: out, Total: in + out, Cost: &cost}
	}
	arguments := func(v map[string]any) json.RawMessage { return data(map[string]any{"arguments": v}) }
	long := "The test fails because parseRange splits before it trims. I shall trim first, then split, and add a case for the empty range."
	return fakeRun{
		root: project,
		runs: []sdk.Run{
			{ID: 7, Project: 1, Alias: "brave-1", Parent: 5, Agent: "default", Model: "ollama/qwen3", Status: 102, Turns: 6, Updated: epoch},
			{ID: 8, Project: 1, Alias: "brave-2", Parent: 7, Status: 200},
			{ID: 9, Project: 1, Alias: "bold-3", Parent: 7, Status: 200},
		},
		loops: []sdk.Loop{
			{ID: 3, Run: 7, Sequence: 2, Prompt: "fix the test\nand say why it failed", Status: 499, Stop: "aborted", Reason: "aborted by a person", Created: epoch, Ended: epoch.Add(95 * time.Second)},
			{ID: 4, Run: 7, Sequence: 3, Prompt: "Go on.", Status: 102, Options: data(map[string]int{"resumes": 3}), Created: epoch.Add(2 * time.Minute)},
			{ID: 5, Run: 7, Sequence: 4, ReadOnly: true, Prompt: "what else is there?\nmore", Status: 100},
		},
		turns: []sdk.Turn{
			{Sequence: 3, Loop: 3, Model: "ollama/qwen3", Closed: true, Finish: "calls", Duration: 3450 * time.Millisecond, Usage: usage(12345, 4000, 321, 0.01234)},
			{Sequence: 4, Loop: 3, Model: "ollama/qwen3", Closed: true, Duration: 61 * time.Second},
			{Sequence: 5, Closed: true},
			{Sequence: 6, Loop: 4, Model: "ollama/qwen3"},
		},
		entries: []sdk.Entry{
			{Path: "prompt://1", Turn: 1, Body: "of the parent", State: sdk.StateResolved},
			{Path: "assistant://1", Turn: 1, Body: "said in the parent", State: sdk.StateResolved},
			{Path: "log://turn_1/bash/call", Turn: 1, Body: "done in the parent", State: sdk.StateResolved},
			{Path: "prompt://2", Turn: 3, Body: "fix the test", State: sdk.StateResolved},
			{Path: "assistant://3", Turn: 3, Body: long + "\n\n- one\n- two", State: sdk.StateResolved, Attributes: data(map[string]any{"reasoning": "It must be the order."})},
			{Path: "log://turn_3/bash/call", Turn: 3, Body: "FAIL\n" + strings.Repeat("x", 100) + "\nexit status 1", State: sdk.StateFailed, Outcome: sdk.Exit(1),
				Attributes: data(map[string]any{"arguments": map[string]any{"command": "go test ./pkg/store -run 'TestParseRange/(empty|full|reversed)' -count=1 -v -timeout 30s"}, "duration_ms": 2100, "error": "exit status 1"})},
			{Path: "log://turn_3/write_file/a", Turn: 3, Body: "wrote a.go", State: sdk.StateResolved, Attributes: arguments(map[string]any{"path": "a.go", "content": "package a\n\nfunc A() {}\n"})},
			{Path: "assistant://4/partial_1", Turn: 4, Body: "I was about to", State: sdk.StateFailed, Outcome: sdk.Interrupted, Attributes: data(map[string]any{"partial": true})},
			{Path: "log://turn_4/bash/call", Turn: 4, Body: "what it did is unknown", State: sdk.StateFailed, Outcome: sdk.Interrupted, Attributes: data(map[string]any{"arguments": map[string]any{"command": "sleep 100"}, "error": "what it did is unknown"})},
			{Path: "log://turn_4/bash/call_2", Turn: 4, Body: "this call was not made", State: sdk.StateCancelled, Outcome: sdk.Aborted, Attributes: arguments(map[string]any{"command": "ls"})},
			{Path: "log://turn_5/read_file/x", Turn: 5, Body: "contents", State: sdk.StateResolved, Attributes: arguments(map[string]any{"path": "x"})},
		},
		notes: []sdk.JournalRow{
			{Seq: 1, Run: 7, Kind: sdk.KindRunCreated, Data: data(map[string]any{"turns": 2, "alias": "brave-1"})},
			{Seq: 2, Run: 7, Kind: "note.pruned", Loop: 3, Turn: 3, Data: data(map[string]any{"before": 9000, "after": 6000, "answers": 3, "prompts": 1, "shortened": 2})},
			{Seq: 3, Run: 7, Kind: "note.retry", Loop: 3, Turn: 3, Data: data(map[string]any{"message": "HTTP 429", "attempt": 1, "wait_ms": 1500})},
			{Seq: 4, Run: 7, Kind: "note.recovered", Loop: 3, Turn: 4, Data: data(map[string]any{"message": "taken up after a crash"})},
			{Seq: 5, Run: 7, Kind: sdk.KindRunRenamed, Time: epoch, Data: data(map[string]any{"from": "old", "to": "brave-1"})},
			{Seq: 6, Run: 7, Kind: sdk.KindRunReset, Time: epoch},
		},
	}
}

func TestTheWholeStory(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail = eventful(b.project)
	b.c.outTTY = true
	b.want(t, exitOK, "runs", "show", "brave-1")
	b.golden(t, "runs-show-eventful")
	for _, line := range strings.Split(b.out.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > 80 && !strings.Contains(line, b.project) {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	b.want(t, exitOK, "runs", "show", "brave-1", "--turn", "3")
	b.golden(t, "runs-show-turn")
	b.want(t, exitOK, "runs", "show", "brave-1", "--turn", "3", "--json")
	if out := b.out.String(); strings.Contains(out, "assistant://1") || !strings.Contains(out, "It must be the order.") {
		t.Errorf("%s", out)
	}
	b.want(t, exitUsage, "runs", "show", "brave-1", "--turn", "1")
	if !strings.Contains(b.err.String(), "bothy runs show 5 --turn 1") {
		t.Error(b.err.String())
	}
	b.want(t, exitUsage, "runs", "show", "brave-1", "--turn", "9")
	b.want(t, exitUsage, "runs", "show", "brave-1", "--turn", "-1")
	b.want(t, exitOK, "runs", "list")
	if !strings.Contains(b.out.String(), "running, 1 queued") {
		t.Error(b.out.String())
	}
	b.c.outTTY = false
	b.want(t, exitOK, "runs", "show", "brave-1")
	if !strings.Contains(b.out.String(), "and add a case for the empty range.\n") {
		t.Errorf("a pipe gets folded lines: %s", b.out.String())
	}
}

// TestAnAnswerTakenUp: what a dead daemon had of it is told before what the next
// one got, whatever order the entries are in.
func TestAnAnswerTakenUp(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail = fakeRun{
		root: b.project, runs: []sdk.Run{{ID: 7, Project: 1, Alias: "brave-1", Status: 200, Turns: 1}},
		loops: []sdk.Loop{{ID: 3, Run: 7, Sequence: 1, Prompt: "x", Status: 200}},
		turns: []sdk.Turn{{Sequence: 1, Loop: 3, Closed: true}},
		entries: []sdk.Entry{
			{Path: "assistant://1", Turn: 1, Body: "Anew.", State: sdk.StateResolved},
			{Path: "assistant://1/partial_1", Turn: 1, Body: "I was", State: sdk.StateFailed, Attributes: data(map[string]any{"partial": true})},
		},
	}
	b.want(t, exitOK, "runs", "show")
	if cut, anew := strings.Index(b.out.String(), "I was"), strings.Index(b.out.String(), "Anew."); cut < 0 || anew < cut || strings.Count(b.out.String(), "I was") != 1 {
		t.Error(b.out.String())
	}
}

func TestVerbsOfARun(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail = eventful(b.project)
	for _, c := range []struct {
		args      []string
		did, says string
	}{
		{[]string{"abort", "brave-1"}, "", "aborted run brave-1; 1 prompt of it waited and comes now"},
		{[]string{"fork", "brave-1"}, `fork 7 as "" after 0`, `run brave-2 begins with run brave-1 as it was after turn 2; go on with it: bothy run -r brave-2 "..."`},
		{[]string{"fork", "--as", "x", "--turn", "2"}, `fork 7 as "x" after 2`, "run brave-2 begins"},
		{[]string{"reset", "brave-1"}, "reset 7", "reset run brave-1"},
		{[]string{"rename", "brave-1", "better"}, "rename 7 to better", "run brave-1 is called better now"},
		{[]string{"config", "brave-1"}, "configure 7", "left out       nothing"},
		{[]string{"config", "brave-1", "--temperature", "0.2", "--no-web", "--no-repo=false", "--persona", "a pirate"}, "configure 7", "left out       web"},
		{[]string{"config", "brave-1", "--context-limit", "32000", "-m", "x/y"}, "configure 7", "context limit  32000 tokens"},
		{[]string{"inject", "brave-1", "and", "then?"}, "", "run brave-1 works on it as prompt 1"},
		{[]string{"rm", "brave-1", "-y"}, "delete 7", "deleted run brave-1"},
	} {
		for _, asJSON := range []bool{false, true} {
			args := append([]string{"runs"}, c.args...)
			if asJSON {
				args = append(args, "--json")
			}
			b.daemon.done = nil
			b.want(t, exitOK, args...)
			if got := strings.Join(b.daemon.done, ", "); got != c.did {
				t.Errorf("%v: the daemon did %s", args, got)
			}
			if asJSON != json.Valid([]byte(b.out.String())) || !asJSON && !strings.Contains(b.out.String(), c.says) {
				t.Errorf("%v printed %s", args, b.out.String())
			}
		}
	}
	for name, args := range map[string][]string{
		"reset needs a name": {"reset"}, "rm needs a name": {"rm"}, "rename needs two": {"rename", "brave-1"},
		"no such run": {"reset", "nope"}, "turn": {"fork", "--turn", "-1"}, "no terminal": {"rm", "brave-1"},
		"one of them is not there": {"rm", "-y", "brave-1", "nope"}, "no newest run is meant": {"undo", "-y", ""},
		"nor here": {"abort", ""}, "empty": {"rm", "-y", "brave-1", ""},
	} {
		b.daemon.done = nil
		b.want(t, exitUsage, append([]string{"runs"}, args...)...)
		if len(b.daemon.done) != 0 {
			t.Errorf("%s: the daemon did %v", name, b.daemon.done)
		}
	}
	b.daemon.refuse = sdk.Errorf(sdk.Conflict, "it is at work")
	b.want(t, exitFailed, "runs", "rm", "brave-1", "--yes")
	if !strings.Contains(b.err.String(), "it is at work") {
		t.Error(b.err.String())
	}
}

// TestDeletingSeveral: a run is deleted once however often it is named, and what
// was deleted before a failure is told all the same.
func TestDeletingSeveral(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail = eventful(b.project)
	b.want(t, exitOK, "runs", "rm", "-y", "brave-1", "7", "brave-1", "brave-2", "--json")
	if got := strings.Join(b.daemon.done, ", "); got != "delete 7, delete 8" || strings.Count(b.out.String(), `"run"`) != 2 {
		t.Errorf("%s: %s", got, b.out.String())
	}
	b.daemon.busy = 8
	b.want(t, exitFailed, "runs", "rm", "-y", "brave-1", "brave-2", "bold-3", "--json")
	var deleted []rpc.Changed
	if err := json.Unmarshal([]byte(b.out.String()), &deleted); err != nil || len(deleted) != 1 || deleted[0].ID != 7 {
		t.Errorf("%v: %s", err, b.out.String())
	}
}

func TestResumeIsFollowed(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.daemon.detail = eventful(b.project)
	b.want(t, exitOK, "runs", "resume", "brave-1")
	if b.out.String() != "You are 1000.\x07\n" || b.daemon.done[0] != "resume 7" {
		t.Errorf("%q, %v", b.out.String(), b.daemon.done)
	}
	b.want(t, exitOK, "runs", "resume", "--json")
	if !strings.Contains(b.out.String(), `"answer": "You are 1000.`) {
		t.Error(b.out.String())
	}
}

func TestCompactIsFollowed(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.daemon.detail = eventful(b.project)
	b.want(t, exitOK, "runs", "compact", "brave-1")
	if !strings.HasSuffix(b.out.String(), "You are 1000.\x07\n") || b.daemon.done[0] != "compact 7" {
		t.Errorf("%q, %v", b.out.String(), b.daemon.done)
	}
}

func TestDeletingAsks(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail = eventful(b.project)
	b.c.inTTY = true
	for answer, want := range map[string]int{"y\n": exitOK, "YES\n": exitOK, "n\n": exitAborted, "\n": exitAborted, "": exitAborted, "yo\n": exitAborted} {
		b.daemon.done = nil
		b.c.in = strings.NewReader(answer)
		b.want(t, want, "runs", "rm", "brave-1", "brave-2")
		if !strings.Contains(b.err.String(), "Delete brave-1 (6 turns), brave-2 (0 turns) for good? [y/N]") || (len(b.daemon.done) == 2) != (want == exitOK) {
			t.Errorf("%q: asked %q, did %v", answer, b.err.String(), b.daemon.done)
		}
	}
}

func TestAQueuedPromptIsLeftAtTheFirstInterrupt(t *testing.T) {
	b := withDaemon(t, func(*fakeDaemon, int64) {})
	b.daemon.ahead = 2
	b.signals <- os.Interrupt
	b.want(t, exitAborted, "run", "x")
	if out := b.err.String(); len(b.daemon.aborts) != 0 || !strings.Contains(out, "queued behind 2 prompts of this run") || !strings.Contains(out, "stays in the queue") {
		t.Errorf("aborts %v: %s", b.daemon.aborts, out)
	}
}

func TestAPullThatIsGivenUpSaysSo(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.pulling = func() { b.signals <- os.Interrupt }
	b.want(t, exitAborted, "models", "pull", "endless")
	if out := b.err.String(); !strings.Contains(out, "endless was given up") || strings.Contains(out, "context canceled") {
		t.Error(out)
	}
}

func TestJournal(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail = eventful(b.project)
	b.daemon.commit(sdk.JournalRow{Kind: sdk.KindRunCreated, Data: json.RawMessage(`{"alias":"brave-1","agent":"default","model":"m","parent":5,"turns":2}`)})
	b.daemon.commit(sdk.JournalRow{Kind: sdk.KindRunStatus, Data: json.RawMessage(`{"from":100,"to":102}`)})
	b.daemon.commit(sdk.JournalRow{Kind: sdk.KindLoopQueued, Loop: 1, Data: json.RawMessage(`{"sequence":1,"mode":"act","model":"m"}`)})
	twoTurns(b.daemon, 1)
	b.daemon.commit(sdk.JournalRow{Kind: sdk.KindRunRenamed, Data: json.RawMessage(`{"from":"brave-1","to":"better"}`)})
	b.daemon.commit(sdk.JournalRow{Kind: sdk.KindEntryRemoved, Path: "known://x"})
	b.daemon.commit(sdk.JournalRow{Kind: sdk.KindRunDeleted, Data: json.RawMessage(`{"reason":"rested for longer than 31 days"}`)})
	b.daemon.commit(sdk.JournalRow{Kind: "of.the.future", Data: json.RawMessage(`{"a":"\u001b[2J"}`)})
	b.want(t, exitOK, "journal")
	b.golden(t, "journal")
	b.want(t, exitOK, "journal", "--after", "3", "--json")
	lines := strings.Split(strings.TrimSpace(b.out.String()), "\n")
	for i, line := range lines {
		var row sdk.JournalRow
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Seq != int64(i+4) {
			t.Errorf("line %d: %s", i, line)
		}
	}
	b.c.outTTY = true
	b.want(t, exitOK, "journal")
	for _, line := range strings.Split(b.out.String(), "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("too long for a terminal: %s", line)
		}
	}
	b.want(t, exitUsage, "journal", "--after", "-2")
	b.want(t, exitUsage, "journal", "--global", "--run", "x")
	b.want(t, exitUsage, "journal", "--after", "10000")
}

func TestJournalOfNothing(t *testing.T) {
	b := withDaemon(t, nil)
	for _, flags := range [][]string{{}, {"--global"}, {"--json"}} {
		b.want(t, exitOK, append([]string{"journal"}, flags...)...)
		if !strings.Contains(b.err.String(), "nothing in the journal yet") || b.out.String() != "" {
			t.Errorf("%v: %s%s", flags, b.out.String(), b.err.String())
		}
	}
}

func TestJournalIsFollowedUntilCtrlC(t *testing.T) {
	b := withDaemon(t, nil)
	for i := range 3 {
		b.daemon.commit(sdk.JournalRow{Kind: "note.x", Data: data(map[string]any{"message": fmt.Sprint("old ", i)})})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !strings.Contains(b.out.String(), "old 2") {
			time.Sleep(time.Millisecond)
		}
		b.daemon.commit(sdk.JournalRow{Kind: "note.x", Data: data(map[string]any{"message": "new"})})
		for !strings.Contains(b.out.String(), "x: new") {
			time.Sleep(time.Millisecond)
		}
		b.signals <- os.Interrupt
	}()
	b.want(t, exitOK, "journal", "-f", "--global", "--after", "1")
	<-done
	if out := b.out.String(); strings.Contains(out, "old 0") || strings.Count(out, "\n") != 3 || b.err.String() != "" {
		t.Errorf("%s%s", out, b.err.String())
	}
}

func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[ ]{0,4}([a-zé]{1,12}[ ]{1,2}){0,12}`).Draw(t, "line")
		width := rapid.IntRange(-1, 30).Draw(t, "width")
		pieces := show.Fold(line, width)
		if got, want := strings.Fields(strings.Join(pieces, " ")), strings.Fields(line); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("the words are %q, want %q", got, want)
		}
		for _, p := range pieces {
			if width > 0 && utf8.RuneCountInString(p) > width && len(strings.Fields(p)) > 1 {
				t.Fatalf("%q is longer than %d", p, width)
			}
		}
	})
}
