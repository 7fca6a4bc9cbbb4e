package engine

import (
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestMode: the prompt's own, else full in a run that was given it, else the
// agent's; policy hears of it, and of who is there.
// spec: yolo_mode
func TestMode(t *testing.T) {
	h := prepareAsking(t)
	h.agents["free"] = sdk.Agent{Mode: sdk.ModeFull}
	h.config.Attended = func(_ int64, session string) bool { return session == "here" }
	h.start()
	modeOf := func(a Accepted) (o loopOptions) {
		t.Helper()
		l := h.await(a)
		if err := json.Unmarshal(l.Options, &o); err != nil {
			t.Fatal(err)
		}
		if o.Mode != a.Mode {
			t.Errorf("told %s, kept %s", a.Mode, o.Mode)
		}
		return o
	}
	for _, c := range []struct {
		name     string
		s        Submission
		want     sdk.Mode
		attended bool
		ran      bool
	}{
		{"the agent's", Submission{Run: "a", Agent: "free"}, sdk.ModeFull, false, true},
		{"none", Submission{Run: "b", Agent: "short"}, sdk.ModeRestricted, false, false},
		{"its own", Submission{Run: "a", Agent: "free", Mode: sdk.ModeRestricted}, sdk.ModeRestricted, false, false},
		{"its own again", Submission{Run: "c", Agent: "short", Mode: sdk.ModeFull}, sdk.ModeFull, false, true},
		{"not for good", Submission{Run: "c", Agent: "short"}, sdk.ModeRestricted, false, false},
		{"yolo", Submission{Run: "d", Agent: "short", Yolo: true}, sdk.ModeFull, false, true},
		{"yolo for good", Submission{Run: "d", Agent: "short"}, sdk.ModeFull, false, true},
		{"less in a yolo run", Submission{Run: "d", Agent: "short", Mode: sdk.ModeRestricted}, sdk.ModeRestricted, false, false},
		{"with somebody there", Submission{Run: "e", Agent: "short", Mode: sdk.ModeFull, Session: "here"}, sdk.ModeFull, true, true},
	} {
		h.models.mu.Lock()
		h.models.steps = []step{calls(numbered("write", 1))}
		h.models.mu.Unlock()
		before := h.ran()
		if o := modeOf(h.submit(c.s)); o.Mode != c.want || o.Asker == c.s.Session && o.Asker != "" {
			t.Errorf("%s: %+v", c.name, o)
		}
		asked := h.policy.all()
		last := asked[len(asked)-1]
		if last.Mode != c.want || last.Attended != c.attended || (h.ran() != before) != c.ran {
			t.Errorf("%s: policy was asked with %s, attended %v; ran %s", c.name, last.Mode, last.Attended, h.ran())
		}
	}
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "p", Mode: "all"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a mode that is none: %v", err)
	}
	h.untilIdle()
	h.engine.askers.sessions.Range(func(name, session any) bool {
		t.Errorf("still known: %v, %v", name, session)
		return true
	})
}

// TestModeIsNotInherited: neither a fork nor a resumed prompt has what was given
// to another.
func TestModeIsNotInherited(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newAsking(t, say("done"), silent(begun))
	a := h.submit(Submission{Run: "y", Agent: "short", Yolo: true})
	h.await(a)
	child, err := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID, Alias: "z"})
	if err != nil {
		t.Fatal(err)
	}
	b := h.submit(Submission{Run: child.Alias, Agent: "short", Mode: sdk.ModeFull})
	<-begun
	if err := h.engine.Abort(t.Context(), child.ID); err != nil {
		t.Fatal(err)
	}
	h.await(b)
	again, err := h.engine.Resume(t.Context(), child.ID)
	if err != nil || again.Mode != sdk.ModeRestricted {
		t.Errorf("resumed with %s, %v", again.Mode, err)
	}
	h.await(again)
	if c := h.submit(Submission{Run: child.Alias, Agent: "short"}); c.Mode != sdk.ModeRestricted {
		t.Errorf("the fork has %s", c.Mode)
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
