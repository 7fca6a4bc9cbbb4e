package engine

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func to[T any](v T) *T { return &v }

// TestWhatARunHasOfItsOwn: the request of each prompt has what the run has then.
func TestWhatARunHasOfItsOwn(t *testing.T) {
	h := prepareHouse(t)
	h.models.context = 100_000
	h.agents["default"] = sdk.Agent{Persona: "the agent's own", Temperature: to(0.9)}
	h.start()
	a := h.submit(Submission{Run: "r"})
	h.await(a)
	configure := func(p rpc.RunConfig) (sdk.Run, error) { return h.engine.ConfigureRun(t.Context(), a.Run.ID, p) }
	if r, err := configure(rpc.RunConfig{Model: "fake/other", RunOptions: rpc.RunOptions{Temperature: to(0.1), ContextLimit: to(50_000)}}); err != nil || r.Model != "fake/other" {
		t.Fatalf("%+v, %v", r, err)
	}
	if l := h.run(Submission{Run: "r"}); l.Model != "fake/other" {
		t.Errorf("the second prompt had the model %s", l.Model)
	}
	h.run(Submission{Run: "r", Options: rpc.RunOptions{Temperature: to(-1.0), ContextLimit: to(200_000)}})
	h.run(Submission{Run: "other", Options: rpc.RunOptions{Persona: to("a pirate")}})
	asked := h.models.asked()
	for i, want := range []struct {
		temperature float64
		context     int
		persona     string
	}{{0.9, 100_000, "the agent's own"}, {0.1, 50_000, "the agent's own"}, {0.9, 100_000, "the agent's own"}, {0.9, 100_000, "a pirate"}} {
		if r := asked[i]; *r.Temperature != want.temperature || r.Context != want.context || !strings.Contains(r.Messages[0].Text, "# Persona\n\n"+want.persona) {
			t.Errorf("prompt %d was asked with %v, %d and %q", i+1, *r.Temperature, r.Context, r.Messages[0].Text)
		}
	}
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "r", Prompt: "x", Options: rpc.RunOptions{Persona: to("a poet")}}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a persona of a run that has begun: %v", err)
	}
	if _, err := configure(rpc.RunConfig{Model: "missing"}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a model that is not there: %v", err)
	}
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "new", Prompt: "x", Options: rpc.RunOptions{Temperature: to(3.0)}}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a temperature that is none: %v", err)
	}
	if _, err := h.store.RunByAlias(t.Context(), a.Run.Project, "new"); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("the run that was refused: %v", err)
	}
	h.check(a.Run.ID)
}

// TestRefusedPromptChangesNothing: an ask with options that is refused leaves its run as it was.
func TestRefusedPromptChangesNothing(t *testing.T) {
	h := prepareHouse(t)
	h.agents["busy"] = sdk.Agent{Busy: "refuse"}
	h.start()
	a := h.submit(Submission{Run: "r", Options: rpc.RunOptions{Persona: to("a pirate")}})
	h.await(a)
	before := h.store.Seq()
	for name, s := range map[string]Submission{
		"another persona": {Options: rpc.RunOptions{Persona: to("a poet"), NoWeb: to(true)}},
		"no temperature":  {Options: rpc.RunOptions{Temperature: to(3.0), NoWeb: to(true)}},
		"no cassette":     {Replay: "/nowhere", Options: rpc.RunOptions{NoWeb: to(true)}},
		"no mode":         {Mode: "all", Options: rpc.RunOptions{NoWeb: to(true)}},
	} {
		s.Project, s.Run, s.Prompt, s.Yolo = h.project, "r", "x", true
		if _, err := h.engine.Submit(t.Context(), s); err == nil {
			t.Errorf("%s: taken", name)
		}
		r, err := h.store.Run(t.Context(), a.Run.ID)
		if err != nil || r.NoWeb || r.Persona != "a pirate" || h.store.Seq() != before {
			t.Errorf("%s: %+v, %v, and %d rows", name, r, err, h.store.Seq()-before)
		}
		if all, err := h.engine.grantedAll(t.Context(), r); all || err != nil {
			t.Errorf("%s: the run has full mode for good, %v", name, err)
		}
	}
	h.check(a.Run.ID)
}

// TestPromptForAFork: a prompt goes to a fork of its run, once for each key.
func TestPromptForAFork(t *testing.T) {
	h := prepareHouse(t)
	h.start()
	a := h.submit(Submission{Run: "r"})
	h.await(a)
	s := Submission{Project: h.project, Run: "r", Fork: true, Prompt: "and now?", Key: "k"}
	b, err := h.engine.Submit(t.Context(), s)
	if err != nil || b.Run.Parent != a.Run.ID || b.Run.Alias == "r" || b.Loop.Sequence != 2 {
		t.Fatalf("%+v, %v", b, err)
	}
	h.await(b)
	if again, err := h.engine.Submit(t.Context(), s); err != nil || again.Loop.ID != b.Loop.ID {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	loops, err := h.store.Loops(t.Context(), a.Run.ID)
	if err != nil || len(loops) != 1 {
		t.Errorf("its parent has %d prompts, %v", len(loops), err)
	}
	for name, c := range map[string]struct {
		run  string
		want sdk.Outcome
	}{"of no run": {"", sdk.Validation}, "of one that is not there": {"nobody", sdk.NotFound}} {
		if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: c.run, Fork: true, Prompt: "x"}); sdk.OutcomeOf(err) != c.want {
			t.Errorf("a fork %s: %v", name, err)
		}
	}
	h.check(a.Run.ID, b.Run.ID)
}

// TestToolsThatARunLeavesOut are not offered, and a call of one is refused with a reason.
// spec: mode_enforcement
func TestToolsThatARunLeavesOut(t *testing.T) {
	h := prepareHouse(t, calls(call{"bash", "{}"}))
	h.start()
	a := h.submit(Submission{Run: "r", Options: rpc.RunOptions{NoProposals: to(true)}})
	h.await(a)
	for _, tool := range h.models.asked()[0].Tools {
		if tool.Name == "bash" {
			t.Error("bash is offered")
		}
	}
	x := h.actions(a.Run.ID)[0]
	if x.Outcome != sdk.Permission || !strings.Contains(string(x.Attributes)+x.Body, "was given without") {
		t.Errorf("the call ended as %s %s: %s", x.State, x.Outcome, x.Body)
	}
	h.run(Submission{Run: "r", Options: rpc.RunOptions{NoProposals: to(false)}})
	asked := h.models.asked()
	found := false
	for _, tool := range asked[len(asked)-1].Tools {
		found = found || tool.Name == "bash"
	}
	if !found {
		t.Error("bash is not offered again")
	}
	h.check(a.Run.ID)
}

// TestARunThatProposesNothing denies what a person would be asked about.
func TestARunThatProposesNothing(t *testing.T) {
	h := newAsking(t, calls(call{"write", "{}"}))
	a := h.submit(Submission{Run: "r", Mode: sdk.ModeInteractive, Options: rpc.RunOptions{NoProposals: to(true)}})
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Errorf("ended %d %s: %s", l.Status, l.Stop, l.Reason)
	}
	if got := h.outcomes(a.Run.ID); got != "write:failed:permission" {
		t.Errorf("the call is %s", got)
	}
}

// TestARunThatAsksNobody: a plugin's question is none that can be asked.
func TestARunThatAsksNobody(t *testing.T) {
	for _, o := range []rpc.RunOptions{{NoInteraction: to(true)}, {NoProposals: to(true)}} {
		h := inquiring(t, asksWhere, calls(call{"wrap", "{}"}))
		h.start()
		a := h.submit(Submission{Run: "r", Options: o})
		h.await(a)
		if got := h.actions(a.Run.ID); len(got) != 1 || !strings.Contains(got[0].Body, "nobody is asked") {
			t.Errorf("%d actions: %+v", len(got), got)
		}
	}
}
