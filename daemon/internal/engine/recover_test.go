package engine

import (
	"context"
	"encoding/json"
	"slices"
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
		l, _, err := h.store.Enqueue(t.Context(), sdk.Loop{Run: r.run.ID, Mode: sdk.ModeAct, Prompt: "p"})
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
	at := answerAttributes{Model: "fake/m", Finish: "calls"}
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
		Attributes: encode(callAttributes{CallID: "id" + string(rune('0'+i)), Tool: tool, Index: i, Arguments: json.RawMessage(`{"path":"f` + string(rune('0'+i)) + `"}`)}),
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

// TestRecovery has a row for every durable point at which a daemon can die, and
// for each what the next one must make of it (cases: faults, section 7).
func TestRecovery(t *testing.T) {
	for name, c := range map[string]struct {
		commits [][]sdk.Write // after the turn was opened; nil when it was not
		settles map[string]sdk.ToolResult
		calls   string // the tools that ran after the start
		actions string
		asked   int // completions, those of the queued loop left out
		status  int
	}{
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
	} {
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

// TestRecoveryOfAPartialStream: what came is kept for people, and never
// executed nor shown to the model, however often it happens.
func TestRecoveryOfAPartialStream(t *testing.T) {
	r := newRuin(t)
	r.opened()
	empty := ""
	for range 2 {
		r.left(sdk.Change{Writes: []sdk.Write{
			{Path: "assistant://1", Body: &empty, State: sdk.StateStreaming, Attributes: encode(answerAttributes{Model: "fake/m"})},
			{Path: "assistant://1", Chunk: &sdk.Chunk{Channel: channelReasoning, Text: "hmm"}},
			{Path: "assistant://1", Chunk: &sdk.Chunk{Channel: channelText, Text: "I will rem"}},
		}})
		begun := make(chan struct{}, 1)
		r.models.steps = []step{silent(begun)}
		r.start()
		<-begun
		r.cut()
	}
	r.start()
	if l := r.await(Accepted{Run: r.run, Loop: r.loops[0]}); l.Status != 200 {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	r.await(Accepted{Run: r.run, Loop: r.loops[1]})
	partials := r.entries(r.run.ID, "assistant://1/partial_")
	if len(partials) != 2 {
		t.Fatalf("%d partial answers are kept", len(partials))
	}
	for _, p := range partials {
		var at answerAttributes
		if err := json.Unmarshal(p.Attributes, &at); err != nil || !at.Partial || at.Reasoning != "hmm" || p.Body != "I will rem" || p.Outcome != sdk.Interrupted {
			t.Errorf("%+v", p)
		}
	}
	for _, req := range r.models.asked() {
		for _, m := range req.Messages {
			if strings.Contains(m.Text, "I will rem") {
				t.Error("the model was shown half an answer")
			}
		}
	}
	r.check(r.run.ID)
}

// TestRecoveryOfAWaitingAction: it still waits, and costs nothing but its
// worker, until somebody decides.
func TestRecoveryOfAWaitingAction(t *testing.T) {
	for name, c := range map[string]struct {
		decision sdk.Write
		calls    string
		actions  string
	}{
		"approved": {
			sdk.Write{State: sdk.StateStreaming, Phase: sdk.PhaseApproved},
			"read write read", "read:resolved write:resolved read:resolved",
		},
		"rejected": {
			sdk.Write{State: sdk.StateFailed, Outcome: sdk.Permission, Phase: sdk.PhaseEnded},
			"read", "read:resolved write:failed:permission read:failed:aborted",
		},
		"cancelled": {
			sdk.Write{State: sdk.StateCancelled, Outcome: sdk.Aborted, Phase: sdk.PhaseEnded},
			"read", "read:resolved write:cancelled:aborted read:failed:aborted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRuin(t)
			r.opened()
			r.left(sdk.Change{Writes: []sdk.Write{answered("read", "write", "read"), recorded(0, "read"),
				at(1, "write", sdk.PhaseRecorded, sdk.StateProposed, ""), recorded(2, "read")}})
			for range 2 { // across one more stop, too
				r.start()
				r.until("the run waits", func() bool { return r.status() == sdk.StatusProposed })
				if got := r.outcomes(r.run.ID); !strings.HasPrefix(got, "read:resolved write:proposed read:streaming") {
					t.Fatal(got)
				}
				r.cut()
			}
			r.start()
			c.decision.Path = "log://turn_1/write/f1"
			r.left(sdk.Change{Writes: []sdk.Write{c.decision}})
			if l := r.await(Accepted{Run: r.run, Loop: r.loops[0]}); l.Status != 200 {
				t.Errorf("ended %d: %s", l.Status, l.Reason)
			}
			if got := strings.Join(r.tools.calledTools(), " "); got != c.calls {
				t.Errorf("called %q, want %q", got, c.calls)
			}
			if got := r.outcomes(r.run.ID); got != c.actions {
				t.Errorf("got  %s\nwant %s", got, c.actions)
			}
			r.await(Accepted{Run: r.run, Loop: r.loops[1]})
			r.check(r.run.ID)
		})
	}
}

func (r *ruin) status() int {
	r.t.Helper()
	run, err := r.store.Run(context.Background(), r.run.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return run.Status
}

// TestRecoveryKeepsWhatAFilterChanged: what runs is what policy judged, not
// what the model wrote.
func TestRecoveryKeepsWhatAFilterChanged(t *testing.T) {
	h := newHouse(t, calls(call{"read", `{"path":"a"}`}, call{"write", `{"path":"secret","n":null}`}))
	h.hooks.EntryRecording.On(10, "test", true, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		if r.Tool == "write" {
			r.Attributes = json.RawMessage(`{"arguments":{"path":"public","n":null}}`)
		}
		return r, nil
	})
	begun := make(chan struct{}, 1)
	h.tools.on("read", waiting(begun))
	a := h.submit(Submission{})
	<-begun
	h.cut()
	h.tools.on("read", nil)
	h.start()
	h.await(a)
	last := h.tools.made[len(h.tools.made)-1]
	if last.Tool != "write" || string(last.Arguments) != `{"path":"public","n":null}` {
		t.Errorf("called %s with %s", last.Tool, last.Arguments)
	}
	h.check(a.Run.ID)
}

// TestRecoveryOfAClientsCall: nobody waits for it any more, so it is not made
// again, whatever it is; what its tool still knows is recorded.
func TestRecoveryOfAClientsCall(t *testing.T) {
	for name, c := range map[string]struct {
		tool    string
		settles map[string]sdk.ToolResult
		want    string
	}{
		"nobody knows":   {"bash", nil, "bash:failed:interrupted"},
		"read-only":      {"read", nil, "read:failed:interrupted"},
		"its tool knows": {"bash", map[string]sdk.ToolResult{"bash": {Success: true, Output: "held"}}, "bash:resolved"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			begun := make(chan struct{}, 1)
			h.tools.on(c.tool, waiting(begun))
			failed := make(chan error, 1)
			go func() {
				_, err := h.engine.CallTool(context.Background(), ToolCall{Project: h.project, Tool: c.tool, Arguments: json.RawMessage(`{"path":"a"}`)})
				failed <- err
			}()
			<-begun
			h.cut()
			if err := <-failed; sdk.OutcomeOf(err) != sdk.Interrupted {
				t.Errorf("the caller was told %v", err)
			}
			h.tools.settles = c.settles
			h.start()
			h.untilClosed(1)
			if got := h.outcomes(1); got != c.want || len(h.tools.calledTools()) != 1 {
				t.Errorf("%s, called %v", got, h.tools.calledTools())
			}
			if asked := h.tools.settled; len(asked) != 1 || asked[0].CallID != h.tools.made[0].CallID || string(asked[0].Arguments) != `{"path":"a"}` {
				t.Errorf("asked about %+v", asked)
			}
			h.check(1)
		})
	}
}

// TestOrderAcrossARestart: what was running goes on first, then the queue in
// its order; a run that takes one prompt at a time is as busy as before.
func TestOrderAcrossARestart(t *testing.T) {
	begun := make(chan struct{}, 2)
	h := newHouse(t, silent(begun), silent(begun))
	one := h.submit(Submission{Run: "r", Agent: "polite", Prompt: "one"})
	<-begun
	var rest []Accepted
	for _, prompt := range []string{"two", "three"} {
		l, _, err := h.store.Enqueue(t.Context(), sdk.Loop{Run: one.Run.ID, Mode: sdk.ModeAct, Prompt: prompt})
		if err != nil {
			t.Fatal(err)
		}
		rest = append(rest, Accepted{Run: one.Run, Loop: l})
	}
	h.cut()
	h.start()
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "r", Prompt: "four"}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a busy run answered %v", err)
	}
	<-begun
	h.cut()
	h.start()
	for _, a := range append([]Accepted{one}, rest...) {
		if l := h.await(a); l.Status != 200 {
			t.Errorf("%d ended %d", l.Sequence, l.Status)
		}
	}
	var prompts []string
	for _, req := range h.models.asked() {
		prompts = append(prompts, req.Messages[len(req.Messages)-1].Text)
	}
	if want := []string{"one", "one", "one", "two", "three"}; !slices.Equal(prompts, want) {
		t.Errorf("order %q, want %q", prompts, want)
	}
	h.check(one.Run.ID)
}
