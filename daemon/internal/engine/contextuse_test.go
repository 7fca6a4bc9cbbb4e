package engine

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/view/packet"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestALongConversationIsTold once a prompt, to people and not to the model, by what the agent says before what the model
// says, and of the context that the run has.
func TestALongConversationIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		agent, model sdk.ContextUse
		limit        int
		told, pruned bool
	}{
		"there is room":      {},
		"the model's":        {model: sdk.ContextUse{WarnAt: 0.05}, told: true},
		"the agent's before": {agent: sdk.ContextUse{WarnAt: 1}, model: sdk.ContextUse{WarnAt: 0.05}},
		"the run's limit":    {limit: 7000, told: true},
		"until it is pruned": {agent: sdk.ContextUse{PruneAt: 0.01, KeepTurns: 1}, model: sdk.ContextUse{WarnAt: 0.05},
			told: true, pruned: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(call{"read", `{"path":"a"}`}), calls(call{"read", `{"path":"b"}`}), say("done"))
			h.models.context, h.models.use = 100_000, c.model
			h.agents["default"] = sdk.Agent{Mode: sdk.ModeRestricted, Context: c.agent}
			h.start()
			a := h.submit(Submission{Prompt: strings.Repeat("long ", 4500), Options: rpc.RunOptions{ContextLimit: &c.limit}})
			if l := h.await(a); l.Status != sdk.StatusOK {
				t.Fatalf("%+v", l)
			}
			rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{Run: a.Run.ID})
			if err != nil {
				t.Fatal(err)
			}
			told, pruned := 0, 0
			for _, row := range rows {
				switch {
				case row.Kind == sdk.KindNoteWarning && strings.Contains(string(row.Data), "the conversation takes about"):
					told++
				case row.Kind == sdk.KindNotePruned:
					pruned++
				}
			}
			if want := map[bool]int{true: 1}[c.told]; told != want || (pruned > 0) != c.pruned {
				t.Errorf("told %d times, and %d prunings", told, pruned)
			}
			for _, r := range h.models.asked() {
				for _, m := range r.Messages {
					if strings.Contains(m.Text, "the conversation takes") {
						t.Error("the model was told")
					}
				}
			}
			h.check(a.Run.ID)
		})
	}
}

// TestALongPacketIsTold in its own words: nothing of it is left out.
func TestALongPacketIsTold(t *testing.T) {
	h := prepareHouse(t, say("done"))
	h.withVerbs()
	h.config.Views[sdk.ViewPacket] = packet.New(packet.Config{Scheme: h.store.Scheme}, h.config.Hooks)
	h.models.context, h.models.use = 100_000, sdk.ContextUse{WarnAt: 0.01}
	h.agents["packet"] = sdk.Agent{View: sdk.ViewPacket}
	h.start()
	a := h.submit(Submission{Agent: "packet", Prompt: strings.Repeat("long ", 4500)})
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("%+v", l)
	}
	rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{Run: a.Run.ID})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, row := range rows {
		if row.Kind == sdk.KindNoteWarning && strings.Contains(string(row.Data), "what comes into sight is demoted to summaries when it grows") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}
