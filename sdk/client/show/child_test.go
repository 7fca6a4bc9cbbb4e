package show

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

func childRow(run, loop int64, path string, state sdk.State, phase sdk.Phase, attributes string) sdk.JournalRow {
	data, _ := json.Marshal(sdk.EntryChange{State: state, Phase: phase, Attributes: json.RawMessage(attributes)})
	return sdk.JournalRow{Kind: sdk.KindEntrySet, Run: run, Loop: loop, Turn: 1, Path: path, Data: data}
}

func TestDelegatedWorkIsFolded(t *testing.T) {
	var tree timeline.Tree
	child := sdk.ActionChild{Run: 2, Alias: "worker\x1b-1", Loop: 21, Agent: "worker"}
	text, _ := json.Marshal(child)
	tree.Take(sdk.JournalRow{Kind: sdk.KindLoopStarted, Run: 1, Loop: 11, Data: json.RawMessage(`{}`)})
	given := tree.Take(childRow(1, 11, "log://turn_1/delegate/a", sdk.StateStreaming, sdk.PhaseStarted, fmt.Sprintf(`{"tool":"delegate","child":%s}`, text)))
	work := func() string { return Work(child, tree.Delegated(given.Action)) }
	if got := work(); got != "worker in worker\\x1b-1" {
		t.Errorf("nothing was read, and it is %q", got)
	}
	tree.Take(sdk.JournalRow{Kind: sdk.KindLoopStarted, Run: 2, Loop: 21, Data: json.RawMessage(`{}`)})
	call := tree.Take(childRow(2, 21, "log://turn_1/bash/a", sdk.StateStreaming, sdk.PhaseStarted, `{"tool":"bash","arguments":{"command":"go test ./..."}}`))
	if got := work(); got != "worker in worker\\x1b-1, 1 call: bash go test ./..." {
		t.Errorf("at work it is %q", got)
	}
	waits := tree.Take(childRow(2, 21, "log://turn_1/bash/b", sdk.StateProposed, sdk.PhaseRecorded, `{"tool":"bash","arguments":{"command":"rm x"}}`))
	if got := work(); got != "worker in worker\\x1b-1, 2 calls: waits for you" {
		t.Errorf("when it waits it is %q", got)
	}
	chain, _ := tree.Chain(call.Loop, given.Loop)
	if got := Below(chain, &waits.Action.Action, 0).String(); got != "  worker\\x1b-1 ? bash rm x" {
		t.Errorf("a call of it is %q", got)
	}
	if got := Below(chain, &call.Action.Action, 30).String(); Width(got) > 30 {
		t.Errorf("on 30 columns it is %q", got)
	}
}

func TestAProposalNamesItsChain(t *testing.T) {
	p := sdk.Proposal{Alias: "worker-1", Chain: []string{"chat", "lead-1"}, Tool: "bash", Command: "ls", Bytes: 2, Decision: sdk.Decision{Reason: "it is asked"}}
	lines, _ := Question(p, 0, 5)
	if got := Draw(lines, nil); got != "? ls\n  chat > lead-1 > worker-1: it is asked\n" {
		t.Errorf("the question is %q", got)
	}
	if got := Details(p, 0, false)[0].String(); got != "run chat > lead-1 > worker-1 asks before it goes on" {
		t.Errorf("the details begin with %q", got)
	}
}

// TestWhatIsNoCall: a failure stands out, and what the engine tells the model does not.
func TestWhatIsNoCall(t *testing.T) {
	for path, want := range map[string]string{sdk.CorrectionPath(2): "~ look", sdk.ActionPath{Turn: 2, Tool: sdk.ErrorTool, Slug: "provider"}.String(): "! look"} {
		a := &sdk.Action{Path: path, Body: "look"}
		if got := Action(a, View{})[0].String(); got != want {
			t.Errorf("%s is drawn as %q", path, got)
		}
		if got := Below(nil, a, 0).String(); got != "   "+want {
			t.Errorf("%s of a child is drawn as %q", path, got)
		}
	}
}
