package engine

import (
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestLeave: the prompt's own, else full in a run that was given it, else the
// agent's; policy hears of it, and of who is there.
func TestLeave(t *testing.T) {
	h := prepareAsking(t)
	h.config.Agents["free"] = sdk.Agent{Leave: sdk.LeaveFull}
	h.config.Attended = func(_ int64, session string) bool { return session == "here" }
	h.start()
	leaveOf := func(a Accepted) (o loopOptions) {
		t.Helper()
		l := h.await(a)
		if err := json.Unmarshal(l.Options, &o); err != nil {
			t.Fatal(err)
		}
		if o.Leave != a.Leave {
			t.Errorf("told %s, kept %s", a.Leave, o.Leave)
		}
		return o
	}
	for _, c := range []struct {
		name     string
		s        Submission
		want     sdk.Leave
		attended bool
		ran      bool
	}{
		{"the agent's", Submission{Run: "a", Agent: "free"}, sdk.LeaveFull, false, true},
		{"none", Submission{Run: "b", Agent: "short"}, sdk.LeaveRestricted, false, false},
		{"its own", Submission{Run: "a", Agent: "free", Leave: sdk.LeaveRestricted}, sdk.LeaveRestricted, false, false},
		{"its own again", Submission{Run: "c", Agent: "short", Leave: sdk.LeaveFull}, sdk.LeaveFull, false, true},
		{"not for good", Submission{Run: "c", Agent: "short"}, sdk.LeaveRestricted, false, false},
		{"yolo", Submission{Run: "d", Agent: "short", Yolo: true}, sdk.LeaveFull, false, true},
		{"yolo for good", Submission{Run: "d", Agent: "short"}, sdk.LeaveFull, false, true},
		{"less in a yolo run", Submission{Run: "d", Agent: "short", Leave: sdk.LeaveRestricted}, sdk.LeaveRestricted, false, false},
		{"with somebody there", Submission{Run: "e", Agent: "short", Leave: sdk.LeaveFull, Session: "here"}, sdk.LeaveFull, true, true},
	} {
		h.models.mu.Lock()
		h.models.steps = []step{calls(numbered("write", 1))}
		h.models.mu.Unlock()
		before := h.ran()
		if o := leaveOf(h.submit(c.s)); o.Leave != c.want || o.Asker == c.s.Session && o.Asker != "" {
			t.Errorf("%s: %+v", c.name, o)
		}
		asked := h.policy.all()
		last := asked[len(asked)-1]
		if last.Leave != c.want || last.Attended != c.attended || (h.ran() != before) != c.ran {
			t.Errorf("%s: policy was asked with %s, attended %v; ran %s", c.name, last.Leave, last.Attended, h.ran())
		}
	}
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "p", Leave: "all"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a leave that is none: %v", err)
	}
	h.untilIdle()
	h.engine.askers.mu.Lock()
	defer h.engine.askers.mu.Unlock()
	if len(h.engine.askers.sessions) != 0 {
		t.Errorf("still known: %v", h.engine.askers.sessions)
	}
}

// TestLeaveIsNotInherited: neither a fork nor a resumed prompt has what was given
// to another.
func TestLeaveIsNotInherited(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newAsking(t, say("done"), silent(begun))
	a := h.submit(Submission{Run: "y", Agent: "short", Yolo: true})
	h.await(a)
	child, err := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID, Alias: "z"})
	if err != nil {
		t.Fatal(err)
	}
	b := h.submit(Submission{Run: child.Alias, Agent: "short", Leave: sdk.LeaveFull})
	<-begun
	if err := h.engine.Abort(t.Context(), child.ID); err != nil {
		t.Fatal(err)
	}
	h.await(b)
	again, err := h.engine.Resume(t.Context(), child.ID)
	if err != nil || again.Leave != sdk.LeaveRestricted {
		t.Errorf("resumed with %s, %v", again.Leave, err)
	}
	h.await(again)
	if c := h.submit(Submission{Run: child.Alias, Agent: "short"}); c.Leave != sdk.LeaveRestricted {
		t.Errorf("the fork has %s", c.Leave)
	} else {
		h.await(c)
	}
}

// TestCallOfAClient that has to be proposed runs when the client may approve it,
// and says who agreed.
func TestCallOfAClient(t *testing.T) {
	h := newAsking(t)
	done := h.callUnapproved(ToolCall{Tool: "write", Arguments: json.RawMessage(`{"path":"a"}`)})
	if done.Result.Success || done.Entry.Outcome != sdk.Permission || h.ran() != "" {
		t.Errorf("%+v", done.Entry)
	}
	done = h.call(ToolCall{Tool: "write", Arguments: json.RawMessage(`{"path":"a"}`)})
	if d := attributes(t, done.Entry).Decision; !done.Result.Success || d.Source != "caller" || d.Verdict != sdk.Allow {
		t.Errorf("%+v by %+v", done.Entry, d)
	}
	h.policy.set(func(sdk.PolicyRequest) sdk.Decision {
		return sdk.Decision{Verdict: sdk.Deny, Rule: "protected", Reason: "no"}
	})
	if done = h.call(ToolCall{Tool: "write"}); done.Result.Success {
		t.Error("what is denied ran")
	}
	h.check(done.Run.ID)
}
