package engine

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/dialect"
	"github.com/bothyd/bothy/sdk"
)

// TestLostCalls: a claim that all is done is not accepted beside what was meant as a call and is none, and is a strike; beside what was put
// right, or is quoted, it is.
// spec: response_healing wrong_done
func TestLostCalls(t *testing.T) {
	const done = `<update status="200">done</update>`
	for _, c := range []struct {
		name, answer string
		lost         bool
	}{
		{"a tag that is none", "<set the port> " + done, true},
		{"a tag in which the answer ends", done + ` <set path="known://b"`, true},
		{"more than are taken", strings.Repeat(`<set path="known://a">x</set>`, dialect.MaxCalls-1) + done + `<set path="known://b">y</set>`, true},
		{"a broken form", `{"name":"set","arguments":{"path":` + "\n" + done, true},
		{"a form of no tool", `call:nosuch{a:"b"}` + done, true},
		{"a tool that is none", `<known path="b">y</known>` + done, true},
		{"a block of none", "```tool_call\nset b\n```\n" + done, true},
		{"what was put right", `<set path="known://a>x</set>` + "\n" + done[:len(done)-3], false},
		{"what is quoted", "```\n<set path=\"known://a\">x</set>\n```\n" + done, false},
		{"in a span", "`<set the port>` " + done, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := taggedHouse(t, say(c.answer), say(c.answer), say(c.answer), say("never"))
			agent := h.agents["tags"]
			agent.Guards = tags
			h.agents["tags"] = agent
			h.start()
			a := h.submit(Submission{Agent: "tags"})
			l := h.await(a)
			if ended := l.Stop == sdk.StopTerminal; ended == c.lost || !ended && (l.Stop != "max_strikes" || len(h.models.asked()) != 3) {
				t.Errorf("ended %d by %s after %d turns: %s", l.Status, l.Stop, len(h.models.asked()), h.outcomes(a.Run.ID))
			}
			if got := strings.Contains(h.outcomes(a.Run.ID), "update:failed:conflict"); got != c.lost {
				t.Errorf("got %s", h.outcomes(a.Run.ID))
			}
			h.check(a.Run.ID)
		})
	}
}

// TestBehindALostCall: the model is told which call there was none of, and what to do.
func TestBehindALostCall(t *testing.T) {
	h := taggedHouse(t, say(`<set the port><set path="known://b">y</set>`), say(`<update status="200">done</update>`))
	h.start()
	a := h.submit(Submission{Agent: "tags"})
	h.await(a)
	const told = "not made: no call could be made of <set>, before it. If that was meant as one, write it again; then make this call again"
	messages := h.models.asked()[1].Messages
	if last := messages[len(messages)-1].Text; !strings.Contains(last, told) {
		t.Errorf("the model is told %q", last)
	}
	h.check(a.Run.ID)
}

// TestLostCallsOverARestart: that a call was lost is known to the next daemon, in the other dialect too, where what was left out is not kept;
// and what stands behind it stays unmade.
func TestLostCallsOverARestart(t *testing.T) {
	put := call{"put", `{"path":"b"}`}
	native := slices.Repeat([]call{put}, dialect.MaxCalls-1)
	native = append(native, call{"finish", `{}`}, put)
	for name, c := range map[string]struct {
		agent, ends string
		answer      step
	}{
		"tags":  {"tags", "update", say(`<put path="b"/><get the file><put path="c"/><update status="200">done</update>`)},
		"tools": {"default", "finish", calls(native...)},
	} {
		t.Run(name, func(t *testing.T) {
			h := taggedHouse(t, c.answer, say("well"))
			h.tools.add("put", sdk.Annotations{Idempotent: true}, true, sdk.GrantProject)
			h.tools.add("finish", sdk.Annotations{Terminal: true}, true)
			for _, name := range []string{"default", "tags"} {
				agent := h.agents[name]
				agent.Tools, agent.Guards = []string{"put", "finish", "get"}, sdk.Guards{MaxTurns: 9}
				h.agents[name] = agent
			}
			begun := make(chan struct{})
			h.tools.on("put", func(ctx context.Context, _ sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
				close(begun)
				<-ctx.Done()
				return sdk.ToolResult{}, ctx.Err()
			})
			h.start()
			a := h.submit(Submission{Agent: c.agent})
			<-begun
			h.cut()
			h.tools.on("put", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) { return ok("put") })
			h.start()
			h.await(a)
			if got := h.outcomes(a.Run.ID); !strings.Contains(got, "put:resolved") || !strings.Contains(got, c.ends+":failed:conflict") || strings.Contains(got, "put:failed:aborted") != (name == "tags") {
				t.Errorf("got %s", got)
			}
			h.check(a.Run.ID)
		})
	}
}
