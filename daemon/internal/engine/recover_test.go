package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// ruin is a store as a dead daemon left it: a run with a loop at 102 and one
// that waits.
type ruin struct {
	*house
	run   sdk.Run
	loops []sdk.Loop
}

func newRuin(t *testing.T, steps ...step) *ruin {
	h := prepareHouse(t, steps...)
	h.tools.add("put", sdk.Annotations{Idempotent: true}, true, sdk.GrantProject)
	h.tools.add("loose_put", sdk.Annotations{Idempotent: true}, false)
	r := &ruin{house: h}
	p, err := h.store.OpenProject(t.Context(), h.project)
	if err != nil {
		t.Fatal(err)
	}
	if r.run, err = h.store.CreateRun(t.Context(), sdk.Run{Project: p.ID, Agent: "free", Model: "fake/m", Alias: "r"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l, _, err := h.store.Enqueue(t.Context(), sdk.Loop{Run: r.run.ID, Prompt: "p"})
		if err != nil {
			t.Fatal(err)
		}
		r.loops = append(r.loops, l)
	}
	if _, ok, err := h.store.ClaimLoop(t.Context(), r.run.ID); err != nil || !ok {
		t.Fatal(ok, err)
	}
	return r
}

// left commits what the dead daemon had committed of its first turn.
func (r *ruin) left(change sdk.Change) {
	r.t.Helper()
	change.Run = r.run.ID
	for i := range change.Writes {
		w := &change.Writes[i]
		w.Writer, w.Loop, w.Turn = sdk.WriterSystem, r.loops[0].ID, 1
	}
	if _, err := r.store.Store.Commit(context.Background(), change); err != nil {
		r.t.Fatal(err)
	}
}

func (r *ruin) opened() {
	r.left(sdk.Change{OpenTurn: &sdk.Turn{Loop: r.loops[0].ID, Model: "fake/m"}})
}

// answered is assistant://1 with a call of each tool.
func answered(tools ...string) sdk.Write {
	text := "I work."
	at := sdk.Reply{Model: "fake/m", Finish: "calls"}
	if len(tools) == 0 {
		at.Finish = "stop"
	}
	for i, tool := range tools {
		at.Calls = append(at.Calls, sdk.Call{ID: "id" + string(rune('0'+i)), Tool: tool, Arguments: `{"path":"f` + string(rune('0'+i)) + `","null":null}`})
	}
	return sdk.Write{Path: "assistant://1", Body: &text, Attributes: encode(at)}
}

// at is the i-th action in a phase; the body is what it had sent, or its end.
func at(i int, tool string, phase sdk.Phase, state sdk.State, outcome sdk.Outcome) sdk.Write {
	w := sdk.Write{
		Path: "log://turn_1/" + tool + "/f" + string(rune('0'+i)), State: state, Outcome: outcome, Phase: phase,
		Attributes: encode(sdk.ActionCall{CallID: "id" + string(rune('0'+i)), Tool: tool, Index: i, Arguments: json.RawMessage(`{"path":"f` + string(rune('0'+i)) + `"}`)}),
	}
	if state.Ended() {
		body := "it came to this"
		w.Body = &body
	}
	return w
}

func recorded(i int, tool string) sdk.Write {
	return at(i, tool, sdk.PhaseRecorded, sdk.StateStreaming, "")
}

func started(i int, tool string) sdk.Write {
	return at(i, tool, sdk.PhaseStarted, sdk.StateStreaming, "")
}

func resolved(i int, tool string) sdk.Write {
	return at(i, tool, sdk.PhaseEnded, sdk.StateResolved, "")
}

// durablePoint is where a daemon died, and what the next one makes of it.
type durablePoint struct {
	commits [][]sdk.Write // after the turn was opened; nil when it was not
	settles map[string]sdk.ToolResult
	calls   string // the tools that ran after the start
	actions string
	asked   int // completions, those of the queued loop left out
	status  int
}

// durablePoints are all that the cases have (faults, section 7), and some more.
var durablePoints = map[string]durablePoint{
	"claimed, no turn": {asked: 1, status: 200},
	"turn open, no answer": {
		commits: [][]sdk.Write{{}}, asked: 1, status: 200,
	},
	"answer stored, calls not planned": {
		commits: [][]sdk.Write{{answered("write", "read")}},
		calls:   "write read", actions: "write:resolved read:resolved", asked: 1, status: 200,
	},
	"a plain answer stored, no verdict": {
		commits: [][]sdk.Write{{answered()}}, status: 200,
	},
	"recorded, nothing started": {
		commits: [][]sdk.Write{{answered("write", "read"), recorded(0, "write"), recorded(1, "read")}},
		calls:   "write read", actions: "write:resolved read:resolved", asked: 1, status: 200,
	},
	"recorded, and the tool is gone": {
		commits: [][]sdk.Write{{answered("gone", "read"), recorded(0, "gone"), recorded(1, "read")}},
		calls:   "read", actions: "gone:failed:not_found read:resolved", asked: 1, status: 200,
	},
	"recorded, and policy refuses it today": {
		commits: [][]sdk.Write{{answered("loose", "read"), recorded(0, "loose"), recorded(1, "read")}},
		actions: "loose:failed:permission read:failed:aborted", asked: 1, status: 200,
	},
	"approved, not started": {
		commits: [][]sdk.Write{{answered("write", "read"), at(0, "write", sdk.PhaseApproved, sdk.StateStreaming, ""), recorded(1, "read")}},
		calls:   "write read", actions: "write:resolved read:resolved", asked: 1, status: 200,
	},
	"approved, and policy refuses it today": {
		commits: [][]sdk.Write{{answered("loose_put"), at(0, "loose_put", sdk.PhaseApproved, sdk.StateStreaming, "")}},
		actions: "loose_put:failed:permission", asked: 1, status: 200,
	},
	"started, read-only": {
		commits: [][]sdk.Write{{answered("read", "read"), started(0, "read"), started(1, "read")}},
		calls:   "read read", actions: "read:resolved read:resolved", asked: 1, status: 200,
	},
	"started, idempotent": {
		commits: [][]sdk.Write{{answered("put", "write"), started(0, "put"), recorded(1, "write")}},
		calls:   "put write", actions: "put:resolved write:resolved", asked: 1, status: 200,
	},
	"started, idempotent on nobody's word": {
		commits: [][]sdk.Write{{answered("loose_put"), started(0, "loose_put")}},
		actions: "loose_put:failed:interrupted", asked: 1, status: 200,
	},
	"started, with a side effect": {
		commits: [][]sdk.Write{{answered("bash", "read"), started(0, "bash"), recorded(1, "read")}},
		actions: "bash:failed:interrupted read:failed:aborted", asked: 1, status: 200,
	},
	"started, and the plugin knows its end": {
		commits: [][]sdk.Write{{answered("bash", "read"), started(0, "bash"), recorded(1, "read")}},
		settles: map[string]sdk.ToolResult{"bash": {Success: true, Output: "held"}},
		calls:   "read", actions: "bash:resolved read:resolved", asked: 1, status: 200,
	},
	"started, and the plugin knows that it failed": {
		commits: [][]sdk.Write{{answered("bash", "read"), started(0, "bash"), recorded(1, "read")}},
		settles: map[string]sdk.ToolResult{"bash": {Output: "held", Error: "exit status 3", Outcome: sdk.Exit(3)}},
		actions: "bash:failed:exit:3 read:failed:aborted", asked: 1, status: 200,
	},
	"started, and its tool is gone": {
		commits: [][]sdk.Write{{answered("gone"), started(0, "gone")}},
		actions: "gone:failed:interrupted", asked: 1, status: 200,
	},
	"one result stored, the next started": {
		commits: [][]sdk.Write{{answered("write", "bash", "read"), started(0, "write"), recorded(1, "bash"), recorded(2, "read")},
			{resolved(0, "write"), started(1, "bash")}},
		actions: "write:resolved bash:failed:interrupted read:failed:aborted", asked: 1, status: 200,
	},
	"one result stored, the next not started": {
		commits: [][]sdk.Write{{answered("write", "bash"), started(0, "write"), recorded(1, "bash")}, {resolved(0, "write")}},
		calls:   "bash", actions: "write:resolved bash:resolved", asked: 1, status: 200,
	},
	"a failure stored, the rest not given up": {
		commits: [][]sdk.Write{{answered("write", "bash"), at(0, "write", sdk.PhaseEnded, sdk.StateFailed, sdk.Exit(1)), recorded(1, "bash")}},
		actions: "write:failed:exit:1 bash:failed:aborted", asked: 1, status: 200,
	},
	"all results stored, no verdict": {
		commits: [][]sdk.Write{{answered("write"), resolved(0, "write")}},
		actions: "write:resolved", asked: 1, status: 200,
	},
	"a terminal call ended, no verdict": {
		commits: [][]sdk.Write{{answered("finish"), resolved(0, "finish")}},
		actions: "finish:resolved", status: 200,
	},
}

// TestRecovery dies at every durable point.
func TestRecovery(t *testing.T) {
	for name, c := range durablePoints {
		t.Run(name, func(t *testing.T) {
			r := newRuin(t)
			for i, writes := range c.commits {
				if i == 0 {
					r.opened()
				}
				r.left(sdk.Change{Writes: writes})
			}
			r.tools.settles = c.settles
			r.start()
			l := r.await(Accepted{Run: r.run, Loop: r.loops[0]})
			if l.Status != c.status {
				t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
			}
			if next := r.await(Accepted{Run: r.run, Loop: r.loops[1]}); next.Status != 200 {
				t.Errorf("what was queued ended %d %q", next.Status, next.Stop)
			}
			if got := strings.Join(r.tools.calledTools(), " "); got != c.calls {
				t.Errorf("called %q, want %q", got, c.calls)
			}
			if got := r.outcomes(r.run.ID); got != c.actions {
				t.Errorf("got  %s\nwant %s", got, c.actions)
			}
			if got := len(r.models.asked()) - 1; got != c.asked {
				t.Errorf("the model was asked %d times, want %d", got, c.asked)
			}
			for _, req := range r.models.asked() {
				checkRequest(t, req)
			}
			for _, made := range r.tools.made {
				if strings.Contains(made.CallID, "-1-") && !strings.Contains(string(made.Arguments), `"null":null`) {
					t.Errorf("%s was called with %s, which is not what the model wrote", made.Tool, made.Arguments)
				}
			}
			r.check(r.run.ID)
		})
	}
}
