package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// told collects notifications of a WebSocket until one fits, by name.
func (p *plain) told(until func(method string, params map[string]any) bool) (all []string, last map[string]any) {
	p.t.Helper()
	for {
		m, err := p.next()
		if err != nil {
			p.t.Fatalf("after %v: %v", all, err)
		}
		method, _ := m["method"].(string)
		params, _ := m["params"].(map[string]any)
		if method == "" || method == rpc.MethodHello || method == rpc.NoteGreeting {
			continue
		}
		all = append(all, method)
		if until(method, params) {
			return all, params
		}
	}
}

func isState(status int) func(string, map[string]any) bool {
	return func(method string, params map[string]any) bool {
		return method == rpc.NoteState && params["status"] == float64(status)
	}
}

func entryRow(run int64, turn int, path string, state sdk.State, outcome sdk.Outcome, phase sdk.Phase, attributes, body string) sdk.JournalRow {
	data, _ := json.Marshal(sdk.EntryChange{State: state, Outcome: outcome, Phase: phase, Attributes: json.RawMessage(attributes)})
	return sdk.JournalRow{Kind: sdk.KindEntrySet, Run: run, Project: 1, Loop: 3, Turn: turn, Path: path, Data: data, Body: &body}
}

func noteRow(kind, data string) sdk.JournalRow {
	return sdk.JournalRow{Kind: kind, Run: 7, Project: 1, Loop: 3, Turn: 1, Data: json.RawMessage(data)}
}

const (
	actionPath = "log://turn_1/bash/ls"
	waitsPath  = "log://turn_1/bash/rm*"
)

// seed is a run with an answer, an action, a proposal and something that it does not know.
func (f *fakeStore) seed() {
	f.entries = []sdk.Entry{
		{Path: "prompt://1", Body: "go", State: sdk.StateResolved, Turn: 1},
		{Path: "unknown://a", Body: "what is a?", State: sdk.StateResolved, Turn: 1},
		{Path: "assistant://1", Body: "I look", State: sdk.StateResolved, Turn: 1, Attributes: json.RawMessage(`{"context":1000,"usage":{"prompt":90,"completion":10,"total":100}}`)},
		{Path: actionPath, Body: "a.go", State: sdk.StateResolved, Phase: sdk.PhaseEnded, Turn: 1, Attributes: json.RawMessage(`{"tool":"bash","arguments":{"command":"ls"}}`)},
		{Path: waitsPath, State: sdk.StateProposed, Phase: sdk.PhaseRecorded, Turn: 1, Attributes: json.RawMessage(`{"tool":"bash","arguments":{"command":"rm x"}}`)},
	}
	f.turns = []sdk.Turn{{ID: 1, Run: 7, Sequence: 1, Closed: true, Usage: &sdk.Usage{Prompt: 90, Completion: 10, Total: 100}}}
}

// TestStates: what a client of the run specification follows, in its shape, from a whole turn.
// spec: notifications
func TestStates(t *testing.T) {
	h := openWeb(t, nil)
	h.store.seed()
	p := h.begin(t, rpc.RoleSubmit)
	if m := p.call("journal/watch", `{"project":"/p/one","states":"whole"}`); m["error"] != nil {
		t.Fatal(m)
	}
	commit := func(rows ...sdk.JournalRow) { h.store.commit(rows...) }

	commit(noteRow(sdk.KindTurnOpened, `{}`))
	all, state := p.told(isState(200)) // as the fake run is
	if all[0] != rpc.NoteProgress || state["telemetry"] != nil {
		t.Errorf("a turn begins with %v, %v", all, state)
	}
	history := state["history"].([]any)
	second := history[1].(map[string]any)
	text, _ := history[2].(map[string]any)["attributes"].(string)
	if len(history) != 4 || second["path"] != "assistant://1" || second["body"] != "I look" || !strings.Contains(text, `"command":"ls"`) {
		t.Errorf("the history is %v", history)
	}
	if fmt.Sprint(state["unknowns"]) != "[map[body:what is a? path:unknown://a]]" || state["run"] != "seven" || state["summary"] != "I look" || state["turn"] != float64(2) {
		t.Errorf("the state is %v", state)
	}

	commit(noteRow(sdk.KindNoteRetry, `{"message":"too many"}`))
	_, said := p.told(func(m string, _ map[string]any) bool { return m == rpc.NoteNotify })
	if said["text"] != "too many" || said["level"] != "warn" {
		t.Errorf("a retry is told as %v", said)
	}
	commit(noteRow(sdk.KindNoteProgress, `{"message":"half"}`))
	if _, said = p.told(func(m string, _ map[string]any) bool { return m == rpc.NoteRender }); said["text"] != "half" || said["append"] != false {
		t.Errorf("a tool's progress is told as %v", said)
	}
	commit(entryRow(7, 1, waitsPath, sdk.StateProposed, "", sdk.PhaseRecorded, "", ""))
	_, said = p.told(func(m string, _ map[string]any) bool { return m == rpc.NoteProposal })
	proposed := said["proposed"].([]any)
	if len(proposed) != 1 || proposed[0].(map[string]any)["path"] != waitsPath || !strings.Contains(fmt.Sprint(proposed[0]), "rm x") {
		t.Errorf("a proposal is told as %v", said)
	}
	commit(entryRow(7, 1, actionPath, sdk.StateCancelled, sdk.Aborted, sdk.PhaseEnded, "", ""))
	if _, said = p.told(func(m string, _ map[string]any) bool { return m == rpc.NoteStreamCancelled }); said["path"] != actionPath || said["reason"] != "aborted" {
		t.Errorf("a cancelled call is told as %v", said)
	}
	commit(noteRow(sdk.KindTurnClosed, `{}`))
	_, state = p.told(func(m string, s map[string]any) bool { return m == rpc.NoteState && s["telemetry"] != nil })
	telemetry := state["telemetry"].(map[string]any)
	if telemetry["context_tokens"] != float64(100) || telemetry["context_size"] != float64(1000) || telemetry["total_tokens"] != float64(100) || telemetry["cached_tokens"] != float64(0) {
		t.Errorf("the telemetry is %v", telemetry)
	}

	// One state for each end of a loop, with numbers, also when two end before anybody looked.
	commit(noteRow(sdk.KindLoopEnded, `{"status":499}`), noteRow(sdk.KindLoopEnded, `{"status":422}`), noteRow(sdk.KindLoopEnded, `{"status":500}`))
	for _, want := range []float64{499, 200, 500} {
		m := p.hears(rpc.NoteState)
		if m["status"] != want || m["telemetry"] == nil {
			t.Errorf("a loop's end is %v, want %v", m, want)
		}
	}

	// getRun has the same members, of the same form.
	detail := p.call("getRun", `{"run":"7"}`)["result"].(map[string]any)
	for name, value := range state {
		if name == "status" {
			continue
		}
		if fmt.Sprint(detail[name]) != fmt.Sprint(value) {
			t.Errorf("getRun has %s as %v, and run/state as %v", name, detail[name], value)
		}
	}
}

// TestStateIncrements: who asks for them gets of the history what changed.
func TestStateIncrements(t *testing.T) {
	h := openWeb(t, nil)
	h.store.seed()
	p := h.begin(t, rpc.RoleSubmit)
	if m := p.call("journal/watch", `{"run":"7","states":"some"}`); m["error"] == nil {
		t.Error("any word is a form of states")
	}
	p.call("journal/watch", `{"run":"7","states":"increments"}`)
	h.store.commit(entryRow(7, 1, actionPath, sdk.StateResolved, "", sdk.PhaseEnded, `{"tool":"bash"}`, "a.go"), entryRow(8, 1, actionPath, sdk.StateResolved, "", sdk.PhaseEnded, "", "of another"))
	m := p.hears(rpc.NoteState)
	history := m["history"].([]any)
	if len(history) != 1 || history[0].(map[string]any)["body"] != "a.go" || history[0].(map[string]any)["attributes"] != `{"tool":"bash"}` || m["telemetry"] != nil {
		t.Errorf("the state is %v", m)
	}
	h.store.commit(entryRow(7, 1, "unknown://a", sdk.StateResolved, "", sdk.PhaseNone, "", "what?"))
	if m = p.hears(rpc.NoteState); len(m["history"].([]any)) != 0 || len(m["unknowns"].([]any)) != 1 {
		t.Errorf("the state is %v", m)
	}
	long := strings.Repeat("a", rowBody+1)
	h.store.entries[3].Body = long
	row := entryRow(7, 1, actionPath, sdk.StateResolved, "", sdk.PhaseEnded, "", long)
	row.BodyHash = "hash"
	h.store.commit(row)
	if e := p.hears(rpc.NoteState)["history"].([]any)[0].(map[string]any); e["cut"] != float64(len(long)-historyBody) || len(e["body"].(string)) != historyBody {
		t.Errorf("a body that is too long for a row is told with %d bytes, and %v are cut", len(e["body"].(string)), e["cut"])
	}
	h.store.commit(noteRow(sdk.KindLoopEnded, `{"status":200}`))
	if m = p.hears(rpc.NoteState); len(m["history"].([]any)) != 0 || m["telemetry"] == nil || m["summary"] != "I look" {
		t.Errorf("the last state is %v", m)
	}
}

// TestStatesOfASlowClient: who does not read has the end of each loop all the same, and the others
// do not wait.
func TestStatesOfASlowClient(t *testing.T) {
	h := openWeb(t, func(c *Config) { c.Limits.RingRows = 4 })
	h.store.seed()
	p := h.begin(t, rpc.RoleSubmit)
	p.call("journal/watch", `{"project":"/p/one","states":"whole"}`)
	const loops = 500
	for range loops {
		h.store.commit(noteRow(sdk.KindTurnClosed, `{}`), noteRow(sdk.KindLoopEnded, `{"status":499}`))
	}
	if err := h.client(t).Ping(context.Background()); err != nil {
		t.Error(err)
	}
	for range loops {
		p.told(isState(499))
	}
}

// TestAttributes: on the wire they are a text; what older daemons sent is read.
func TestAttributes(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{`"{\"a\":1}"`, `"{\"a\":1}"`}, {`{"a":1}`, `"{\"a\":1}"`}, {`""`, `"{}"`}, {`null`, `"{}"`}, {`"{}"`, `"{}"`}, {`{"a":"<b>"}`, `"{\"a\":\"\u003cb\u003e\"}"`},
	} {
		var a rpc.Attributes
		if err := json.Unmarshal([]byte(c.in), &a); err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if out, err := json.Marshal(a); err != nil || string(out) != c.out {
			t.Errorf("%s: %s, %v", c.in, out, err)
		}
	}
	var a rpc.Attributes
	if json.Unmarshal([]byte(`"["`), &a) == nil {
		t.Error("no object is read")
	}
}

// TestALookIsNoState: what a run has in sight is no part of its state, and an old action is not told again.
func TestALookIsNoState(t *testing.T) {
	row := entryRow(7, 1, actionPath, sdk.StateResolved, "", sdk.PhaseEnded, `{}`, "")
	row.Data, _ = json.Marshal(sdk.EntryChange{State: sdk.StateResolved, Phase: sdk.PhaseEnded, Look: true})
	if x := newStates(nil, rpc.StatesIncrements); !x.take(row) || len(x.of) > 0 {
		t.Errorf("it tells %+v", x.of[7])
	}
}

// TestEventCountsWhatIsLeft: also what was not even read of a body.
func TestEventCountsWhatIsLeft(t *testing.T) {
	if e := event(sdk.Entry{Path: actionPath, Body: strings.Repeat("a", historyBody+1), Left: 5}); e.Cut != 6 || len(e.Body) != historyBody {
		t.Errorf("%d are cut of %d", e.Cut, len(e.Body))
	}
}
