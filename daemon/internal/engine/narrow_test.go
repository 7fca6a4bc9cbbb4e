package engine

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestNarrow: a workspace's agent and model are taken when nothing else names
// one, and its limits hold for whichever agent works.
func TestNarrow(t *testing.T) {
	h := prepareHouse(t, many("read", 3)...)
	var asked string
	h.config.Narrow = func(project string) Narrowing {
		asked = project
		return Narrowing{Agent: "polite", Model: "narrow/one", Guards: func(g sdk.Guards) sdk.Guards {
			g.MaxTurns = 1
			return g
		}}
	}
	h.start()
	accepted := h.submit(Submission{})
	if accepted.Loop.Agent != "polite" || !strings.Contains(accepted.Why, "workspace") || asked == "" {
		t.Errorf("agent %q, model %q because %q, for %q", accepted.Loop.Agent, accepted.Model, accepted.Why, asked)
	}
	if l := h.await(accepted); l.Stop != "max_turns" {
		t.Errorf("the loop ended by %q: %s", l.Stop, l.Reason)
	}
	named := h.submit(Submission{Agent: "free", Model: "other/two"})
	if named.Loop.Agent != "free" || strings.Contains(named.Why, "workspace") {
		t.Errorf("agent %q because %q", named.Loop.Agent, named.Why)
	}
	h.await(named)
}

// TestNarrowToNobody: where a workspace chooses an agent that there is not, nobody else works in its place, who may do more;
// a prompt that names one has that one.
func TestNarrowToNobody(t *testing.T) {
	h := prepareHouse(t, say("done"))
	h.config.Narrow = func(string) Narrowing { return Narrowing{Agent: "nobody"} }
	h.start()
	_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "x"})
	if sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), "workspace block") || !strings.Contains(err.Error(), `no agent "nobody"`) {
		t.Errorf("said %v", err)
	}
	h.await(h.submit(Submission{Agent: "polite"}))
}

// TestUnknownSkillsAreToldOnce: a prompt of an agent that names a skill that there is not says so at its beginning, and works.
func TestUnknownSkillsAreToldOnce(t *testing.T) {
	h := prepareHouse(t, calls(call{"read", `{}`}), say("done"), say("done"))
	h.agents["skilled"] = sdk.Agent{Mode: sdk.ModeRestricted, Skills: []string{"tidy", "missing"}}
	h.agents["plain"] = sdk.Agent{Mode: sdk.ModeRestricted, Skills: []string{"tidy"}}
	h.start()
	for _, c := range []struct {
		name string
		want int
	}{{"skilled", 1}, {"plain", 0}} {
		a := h.submit(Submission{Agent: c.name})
		h.await(a)
		rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{Run: a.Run.ID})
		if err != nil {
			t.Fatal(err)
		}
		warned := 0
		for _, row := range rows {
			if row.Kind == sdk.KindNoteWarning && strings.Contains(string(row.Data), "names skills that there are not, and works without them: missing ") {
				warned++
			}
		}
		if warned != c.want {
			t.Errorf("%s was warned of %d times", c.name, warned)
		}
	}
}
