package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// mostWrites is more than a daemon makes here until its work is done.
const mostWrites = 14

// byConversation asks once for calls and then answers, however often it is asked.
func byConversation(cs ...call) (steps []step) {
	once := calls(cs...)
	for range mostWrites {
		steps = append(steps, func(ctx context.Context, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
			if req.Messages[len(req.Messages)-1].Role == sdk.RoleTool {
				return say("done")(ctx, req, send, retry)
			}
			return once(ctx, req, send, retry)
		})
	}
	return steps
}

// atAnyDeath has a daemon die at each of its writes, of which it hears or not, and another one go on. check is told whether the
// last one had something to finish.
func atAnyDeath(t *testing.T, prepare func(h *house), work func(h *house, a Accepted) error, check func(h *house, a Accepted, done bool)) {
	t.Helper()
	died := 0
	for _, silent := range []bool{false, true} {
		for left := range mostWrites {
			t.Run(fmt.Sprintf("%d writes, silent %v", left, silent), func(t *testing.T) {
				h := prepareHouse(t)
				h.withVerbs()
				prepare(h)
				m := newMortalStore(h.store.Store, left, silent)
				h.config.Store = m
				h.boot(t)
				a, err := h.engine.Submit(context.Background(), Submission{Project: h.project, Prompt: "p"})
				worked := false
				if err == nil {
					h.untilDeadOrDone(m, []Accepted{a})
					worked = work(h, a) == nil
				}
				select {
				case <-m.dead:
					died++
				default:
				}
				h.cut()
				h.config.Store = h.store
				if h.config.Services != nil {
					h.config.Services = new(Services)
				}
				h.start()
				if err != nil {
					return // nobody was told of the prompt
				}
				if l := h.await(a); l.Status != sdk.StatusOK {
					t.Errorf("ended %d: %s", l.Status, l.Reason)
				}
				check(h, a, worked)
				h.check(a.Run.ID)
			})
		}
	}
	if died < mostWrites {
		t.Errorf("it died at %d writes", died)
	}
}

func nothingMore(*house, Accepted) error { return nil }

func appending(path, text string) call {
	return call{"set", fmt.Sprintf(`{"path":%q,"body":%q,"append":true}`, path, text)}
}

// TestModelsVerbsAtAnyDeath: what a call wrote is there once, with the call's end.
func TestModelsVerbsAtAnyDeath(t *testing.T) {
	atAnyDeath(t, func(h *house) {
		h.models.steps = byConversation(
			appending("known://a", "one "), appending("known://a", "two "), numbered("write", 1),
			call{"mv", `{"path":"known://a","to":"known://b"}`}, appending("known://b", "three "),
		)
	}, nothingMore, func(h *house, a Accepted, _ bool) {
		got, knows := h.outcomes(a.Run.ID), h.knows(a.Run.ID, "known")
		switch got {
		case "set:resolved set:resolved write:resolved mv:resolved set:resolved":
			if knows != "b=one two three " {
				h.t.Errorf("it knows %q", knows)
			}
		case "set:resolved set:resolved write:failed:interrupted mv:failed:aborted set:failed:aborted":
			if knows != "a=one two " {
				h.t.Errorf("after an interrupted call it knows %q", knows)
			}
		default:
			h.t.Errorf("got %s", got)
		}
	})
}

// TestPluginsVerbsAtAnyDeath: what a plugin's list of calls wrote is there once or not at all, and as a whole.
func TestPluginsVerbsAtAnyDeath(t *testing.T) {
	atAnyDeath(t, func(h *house) {
		h.models.steps = byConversation(call{"write_wrap", `{}`})
		h.config.Services = new(Services)
		h.tools.add("write_wrap", sdk.Annotations{Destructive: true}, true, sdk.GrantProject)
		h.tools.on("write_wrap", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
			for _, text := range []string{"one ", "two "} {
				_, err := h.config.Services.Do(ctx, caller(c), []sdk.EntryCall{
					{Verb: sdk.VerbSet, Path: "known://a", Body: &text, Append: true},
					{Verb: sdk.VerbSet, Path: "known://b", Body: &text, Append: true},
				}, func(string) bool { return true })
				if err != nil {
					return sdk.ToolResult{}, err
				}
			}
			return ok("wrapped")
		})
	}, nothingMore, func(h *house, a Accepted, _ bool) {
		got, knows := h.outcomes(a.Run.ID), h.knows(a.Run.ID, "known")
		whole := knows == "a=one two  b=one two "
		switch {
		case got == "write_wrap:resolved" && whole:
		case strings.HasPrefix(got, "write_wrap:failed:") && (whole || knows == "" || knows == "a=one  b=one "):
		default:
			h.t.Errorf("%s, and it knows %q", got, knows)
		}
	})
}

// TestClientsVerbsAtAnyDeath: what a client was told is there, and of what it was not told all or nothing.
func TestClientsVerbsAtAnyDeath(t *testing.T) {
	uses := []sdk.EntryCall{
		{Verb: sdk.VerbSet, Path: "known://a", Body: new("one"), Append: true},
		{Verb: sdk.VerbCopy, Path: "known://a", To: "known://b"},
		{Verb: sdk.VerbMove, Path: "known://a", To: "known://c"},
	}
	atAnyDeath(t, func(h *house) { h.models.steps = byConversation(numbered("read", 1)) }, func(h *house, a Accepted) error {
		_, err := h.engine.UseEntries(context.Background(), false, nil, a.Run, uses)
		return err
	}, func(h *house, a Accepted, done bool) {
		knows := h.knows(a.Run.ID, "known")
		if knows != "b=one c=one" && (done || knows != "") {
			h.t.Errorf("told %v, and it knows %q", done, knows)
		}
	})
}
