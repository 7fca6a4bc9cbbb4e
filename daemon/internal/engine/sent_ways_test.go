package engine

import (
	"testing"

	"github.com/bothyd/bothy/daemon/internal/sent"
	"github.com/bothyd/bothy/daemon/internal/view/packet"
	"github.com/bothyd/bothy/sdk"
)

// waysHouse has an agent for each way to write and to read that is not native calls in a conversation.
func waysHouse(t testing.TB, steps ...step) *house {
	h := taggedHouse(t, steps...)
	h.config.Views[sdk.ViewPacket] = packet.New(packet.Config{Scheme: h.store.Scheme}, h.config.Hooks)
	h.agents["packet"] = sdk.Agent{View: sdk.ViewPacket}
	h.agents["both"] = sdk.Agent{View: sdk.ViewPacket, Dialect: sdk.DialectTags}
	return h
}

// rendersAll holds that turns of a run are rendered as their model was sent them.
func (h *house) rendersAll(run sdk.Run, asked []sdk.Request) {
	h.t.Helper()
	r := h.reader()
	r.Views[sdk.ViewPacket] = func() sent.View { return packet.Beside(packet.Config{Scheme: h.store.Scheme}) }
	run, err := h.store.Run(h.t.Context(), run.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, req := range asked {
		p, err := r.Packet(h.t.Context(), run, req.Turn)
		if err != nil {
			h.t.Fatal(err)
		}
		if !p.Same || len(p.Gone) > 0 || sent.Hash("", req.Messages) != p.Hash {
			h.t.Errorf("turn %d: same %v, gone %v\nsent\n%s\nrendered\n%s", req.Turn, p.Same, p.Gone, sent.Text(req.Messages), sent.Text(p.Messages))
		}
	}
}

// Whatever way an agent writes and reads, its turns are rendered as they were sent: with warnings behind an answer that has no call in
// it, with native calls of the agent that the run had before, in a prompt that may only read, and with the figures that a server counted.
func TestATurnIsRenderedInEachWay(t *testing.T) {
	for _, agent := range []string{"tags", "packet", "both"} {
		t.Run(agent, func(t *testing.T) {
			h := waysHouse(t,
				counted(5000, calls(call{"read", `{"path":"a"}`})), counted(6000, say("done")),
				counted(7000, say("I use <tool_call>{broken</tool_call> and <read path=\"b")),
				counted(7500, say("<read path=\"c\"/> <nothing path=\"x\"/>")), counted(9000, say(`<update status="200">done</update>`)), say("plain"), say("plain"))
			h.start()
			a := h.submit(Submission{Agent: "free"})
			h.await(a)
			for n, s := range []Submission{{Prompt: "again"}, {Prompt: "what is it?", ReadOnly: true}} {
				s.Run, s.Agent = a.Run.Alias, agent
				if l := h.run(s); n == 1 && l.Status != sdk.StatusOK {
					t.Errorf("ended %d: %s", l.Status, l.Reason)
				}
			}
			h.rendersAll(a.Run, h.models.asked())
		})
	}
}

// The figures in a packet are by what servers counted in its run: another daemon, which has heard of nothing, sends the same.
func TestAPacketHasTheSameFiguresInEachDaemon(t *testing.T) {
	var texts []string
	for _, c := range []struct {
		counted  int
		restarts bool
	}{{9000, false}, {9000, true}, {20_000, true}} {
		h := waysHouse(t, counted(12_000, calls(call{"read", `{"path":"a"}`})), counted(13_000, say("done")))
		h.start()
		h.run(Submission{Agent: "packet", Prompt: "another run, of which another daemon has not heard"})
		h.models.steps = []step{counted(c.counted, calls(call{"read", `{"path":"a"}`})), counted(c.counted, say("done"))}
		a := h.submit(Submission{Agent: "packet", Run: "r"})
		h.await(a)
		if c.restarts {
			h.anew()
		}
		h.run(Submission{Agent: "packet", Run: "r", Prompt: "again"})
		asked := h.models.asked()
		last := asked[len(asked)-1].Messages
		texts = append(texts, last[len(last)-1].Text)
	}
	if texts[0] != texts[1] {
		t.Errorf("one daemon sends\n%s\nand another one\n%s", texts[0], texts[1])
	}
	if texts[1] == texts[2] {
		t.Error("what a server counts is not told")
	}
}
