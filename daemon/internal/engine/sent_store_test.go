package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/sent"
	"github.com/bothyd/bothy/daemon/internal/view/packet"
	"github.com/bothyd/bothy/sdk"
)

// What a model is sent is a function of the store, in each way to write and to read: a daemon that has made all of it before sends what
// is rendered from the journal by a view that has seen nothing, one that takes up a turn in the middle asks the same again, and a
// fork is asked what its parent is.
// spec: materialization
func TestWhatIsSentIsOfTheStore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := waysHouse(t)
		agent := rapid.SampledFrom([]string{"free", "tags", "packet", "both"}).Draw(rt, "agent")
		native := h.agents[agent].Dialect != sdk.DialectTags
		h.models.context = rapid.SampledFrom([]int{0, 8_000, 14_000, 200_000}).Draw(rt, "context")
		h.start()
		var run sdk.Run
		for prompt := range rapid.IntRange(1, 3).Draw(rt, "prompts") {
			var reached chan struct{}
			for range rapid.IntRange(0, 4).Draw(rt, "turns") {
				if reached == nil && rapid.IntRange(0, 4).Draw(rt, "cut") == 0 {
					reached = make(chan struct{})
					h.models.then(hangs(reached))
				}
				h.models.then(counted(rapid.IntRange(100, 14_000).Draw(rt, "counted"), works(rt, native)))
			}
			h.models.then(ends(native))
			a := h.submit(Submission{Agent: agent, Run: "r", Prompt: fmt.Sprint("prompt ", prompt), ReadOnly: rapid.Bool().Draw(rt, "read only")})
			run = a.Run
			ended := make(chan struct{})
			go func() { h.await(a); close(ended) }()
			select {
			case <-reached:
				h.anew()
			case <-ended: // also where a packet did not fit, and nobody was asked any more
			}
			<-ended
			h.untilIdle()
			h.models.forget()
		}
		h.sentOfStore(rt, run)
		if _, err := h.engine.Fork(t.Context(), Fork{Run: run.ID, Alias: "fork"}); err != nil {
			rt.Fatal(err)
		}
		var texts []string
		for _, alias := range []string{"r", "fork"} {
			h.models.then(ends(native))
			before := len(h.models.asked())
			h.run(Submission{Agent: agent, Run: alias, Prompt: "and now?"})
			h.models.forget()
			text := ""
			for _, req := range h.models.asked()[before:] {
				text += sent.Text(req.Messages)
			}
			texts = append(texts, text)
		}
		if agent != "tags" && texts[0] != texts[1] { // there results end with a mark of the run's own
			rt.Fatalf("a fork is asked\n%s\nand its parent\n%s", texts[1], texts[0])
		}
		h.untilIdle()
		h.cut()
	})
}

// hangs is a step that answers nothing until its daemon ends.
func hangs(reached chan struct{}) step {
	return func(ctx context.Context, _ sdk.Request, _ func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		close(reached)
		<-ctx.Done()
		return context.Cause(ctx)
	}
}

// forget lets go of the steps that nobody asked for.
func (m *fakeModels) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = nil
}

// ends is a step that ends the work.
func ends(native bool) step {
	if native {
		return say("done")
	}
	return say(`<update status="200">done</update>`)
}

// works draws an answer with some calls.
func works(rt *rapid.T, native bool) step {
	var all []call
	text := "On it."
	for range rapid.IntRange(1, 3).Draw(rt, "calls") {
		path := "known://" + rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "path")
		body := strings.Repeat(rapid.StringMatching(`[a-z<>&" \n]{0,30}[a-z]`).Draw(rt, "body"), rapid.SampledFrom([]int{1, 30}).Draw(rt, "times"))
		tool, arguments := "set", map[string]string{"path": path}
		switch rapid.IntRange(0, 5).Draw(rt, "kind") {
		case 0:
			tool = "get"
		case 1:
			tool = "rm"
		case 2:
			tool = "read"
		case 3:
			arguments["visibility"] = rapid.SampledFrom([]string{"visible", "summarized", "archived"}).Draw(rt, "level")
		default:
			arguments["body"] = body
		}
		raw, _ := json.Marshal(arguments)
		all = append(all, call{tool, string(raw)})
		text += fmt.Sprintf("\n<%s path=%q", tool, path)
		if level := arguments["visibility"]; level != "" {
			text += fmt.Sprintf(" visibility=%q", level)
		}
		if tool == "set" && arguments["body"] != "" {
			text += ">" + body + "</set>"
		} else {
			text += "/>"
		}
	}
	if native {
		return calls(all...)
	}
	return say(text + "\n" + `<update status="102">going on</update>`)
}

// anew ends the engine in the middle of what it does, and starts one that has rendered nothing.
func (h *house) anew() {
	h.cut()
	h.hooks = hook.New(hclog.NewNullLogger())
	h.config.Hooks = h.hooks
	h.config.Views[sdk.ViewPacket] = packet.New(packet.Config{Scheme: h.store.Scheme}, h.hooks)
	h.start()
}

// sentOfStore holds that what was asked in a turn more than once was the same, and that each turn is rendered as it was asked.
func (h *house) sentOfStore(rt *rapid.T, run sdk.Run) {
	run, err := h.store.Run(h.t.Context(), run.ID)
	if err != nil {
		rt.Fatal(err)
	}
	r := h.reader()
	r.Views[sdk.ViewPacket] = func() sent.View { return packet.Beside(packet.Config{Scheme: h.store.Scheme}) }
	asked := h.models.asked()
	for i, req := range asked {
		if j := slices.IndexFunc(asked[:i], func(was sdk.Request) bool { return was.Turn == req.Turn }); j >= 0 && sent.Hash("", asked[j].Messages) != sent.Hash("", req.Messages) {
			rt.Fatalf("in turn %d a model was asked\n%s\nand after a restart\n%s", req.Turn, sent.Text(asked[j].Messages), sent.Text(req.Messages))
		}
		p, err := r.Packet(h.t.Context(), run, req.Turn)
		if err != nil {
			rt.Fatal(err)
		}
		if !p.Same && len(p.Gone) == 0 {
			rt.Fatalf("turn %d was\n%s\nand is rendered as\n%s", req.Turn, sent.Text(req.Messages), sent.Text(p.Messages))
		}
	}
}

// What is removed and written again stands behind what was there, in the daemon that saw it go as in another.
func TestWhatIsWrittenAgainStandsAtTheEnd(t *testing.T) {
	set := func(name string) call { return call{"set", fmt.Sprintf(`{"path":"known://%s","body":"text"}`, name)} }
	h := waysHouse(t, calls(set("a"), set("b")), calls(call{"rm", `{"path":"known://a"}`}, set("c"), set("a")), say("done"))
	h.start()
	a := h.submit(Submission{Agent: "packet"})
	h.await(a)
	asked := h.models.asked()
	text := asked[2].Messages[len(asked[2].Messages)-1].Text
	if at := strings.Index(text, `"known://a"`); at < strings.Index(text, `"known://b"`) || at < strings.Index(text, `"known://c"`) {
		t.Errorf("the packet is\n%s", text)
	}
	h.rendersAll(a.Run, asked[2:])
}
