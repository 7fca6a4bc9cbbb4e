package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

const keptUntil = "It is keptUntil until 2 January."

// following gives a house a command whose result asks for another call, of a tool that
// nobody is offered.
func (h *house) following(wanted string) {
	h.tools.add("apply", sdk.Annotations{Destructive: true}, true, sdk.GrantProject)
	h.tools.become("apply", func(t *sdk.Tool) { t.Unlisted = true })
	h.tools.on("apply", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) { return ok("applied .envrc") })
	h.tools.on("bash", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Success: true, Output: "ran", Follow: &sdk.FollowUp{
			Tool: wanted, Arguments: json.RawMessage(`{"paths":[{"path":".envrc","digest":"d"}]}`), Otherwise: keptUntil,
		}}, nil
	})
}

// runsCommands lets commands run, and asks about what they ask for.
func runsCommands(a sdk.PolicyRequest) sdk.Decision {
	if a.Tool.Name == "bash" || a.Tool.Name == "write" {
		return sdk.Decision{Verdict: sdk.Allow, Rule: "test", Reason: "it runs"}
	}
	return sdk.Decision{}
}

// results are what the model read behind its calls in a request.
func results(r sdk.Request) string {
	var all []string
	for _, m := range r.Messages {
		if m.Role == sdk.RoleTool {
			all = append(all, m.Text)
		}
	}
	return strings.Join(all, " | ")
}

// TestFollowUp: what a result asks for is an action of the turn, is recorded with the end of the
// one that asks, is judged and proposed like any, holds up the model, and what became of it stands behind that result.
// That it is not made gives up nothing.
func TestFollowUp(t *testing.T) {
	for name, c := range map[string]struct {
		wanted string
		mode   sdk.Mode
		answer sdk.Answer
		reason string
		expire bool
		want   string // outcomes
		reads  string
		made   string
	}{
		"accepted":         {answer: sdk.Accept, want: "bash:resolved write:resolved apply:resolved", reads: "ran\n\n[applied .envrc] | write {\"path\":\"f1\"}", made: "bash apply write"},
		"rejected":         {answer: sdk.Reject, want: "bash:resolved write:resolved apply:failed:permission", reads: "ran\n\n[the person said no: leave this, and ask before you try the like again. " + keptUntil + "] | write {\"path\":\"f1\"}", made: "bash write"},
		"with a reason":    {answer: sdk.Reject, reason: "not now.", want: "bash:resolved write:resolved apply:failed:permission", reads: "ran\n\n[a person rejected this call: not now. " + keptUntil + "] | write {\"path\":\"f1\"}", made: "bash write"},
		"expired":          {expire: true, want: "bash:resolved write:resolved apply:cancelled:aborted", reads: "ran\n\n[the person did not answer: go on without this call, and tell them what you wanted to do. " + keptUntil + "] | write {\"path\":\"f1\"}", made: "bash write"},
		"nobody is there":  {mode: sdk.ModeRestricted, want: "bash:resolved write:resolved apply:failed:permission", reads: "ran\n\n[refused by rule \"side_effects\": nobody is there to ask. " + keptUntil + "] | write {\"path\":\"f1\"}", made: "bash write"},
		"in full mode":     {mode: sdk.ModeFull, want: "bash:resolved write:resolved apply:resolved", reads: "ran\n\n[applied .envrc] | write {\"path\":\"f1\"}", made: "bash apply write"},
		"of a listed tool": {wanted: "read", want: "bash:resolved write:resolved read:failed:not_found", reads: "ran\n\n[there is no tool \"read\" of the plugin \"fake\" that a result may ask for. " + keptUntil + "] | write {\"path\":\"f1\"}", made: "bash write"},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareAsking(t, calls(call{"bash", `{"command":"x"}`}, numbered("write", 1)))
			clock := &setClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
			h.config.Clock = clock.time
			if c.wanted == "" {
				c.wanted = "apply"
			}
			h.following(c.wanted)
			h.policy.set(runsCommands)
			h.agents["default"] = sdk.Agent{Mode: cmpMode(c.mode)}
			h.start()
			a := h.submit(Submission{})
			if c.answer != "" || c.expire {
				p := h.proposed()
				if p.Tool != "apply" || p.Path != "log://turn_1/apply/call" || string(p.Arguments) != `{"paths":[{"digest":"d","path":".envrc"}]}` {
					t.Errorf("proposed %+v", p)
				}
				if n := len(h.models.asked()); n != 1 {
					t.Errorf("the model was asked %d times by then", n)
				}
				if c.expire {
					clock.move(25 * time.Hour)
					h.nudge(a.Run.ID)
				} else {
					h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: c.answer, Reason: c.reason})
				}
			}
			if l := h.await(a); l.Status != 200 || l.Stop != sdk.StopAnswer {
				t.Errorf("ended %d %s: %s", l.Status, l.Stop, l.Reason)
			}
			if got := h.outcomes(a.Run.ID); got != c.want {
				t.Errorf("came to %s", got)
			}
			if got := results(h.models.asked()[1]); got != c.reads {
				t.Errorf("the model read\n%s\nwant\n%s", got, c.reads)
			}
			if got := strings.Join(h.tools.calledTools(), " "); got != c.made {
				t.Errorf("made %s", got)
			}
			for _, change := range h.store.commits() {
				ended, recorded := false, false
				for _, w := range change.Writes {
					ended = ended || strings.Contains(w.Path, "/bash/") && w.Phase == sdk.PhaseEnded
					recorded = recorded || strings.Contains(w.Path, "/"+c.wanted+"/") && w.Create
				}
				if ended != recorded {
					t.Errorf("the end and what it asked for are not one commit: %+v", change.Writes)
				}
			}
			h.check(a.Run.ID)
		})
	}
}

func cmpMode(m sdk.Mode) sdk.Mode {
	if m == "" {
		return sdk.ModeInteractive
	}
	return m
}

// TestNobodyCallsAnUnlistedTool: neither a model, nor a person, nor a plugin.
func TestNobodyCallsAnUnlistedTool(t *testing.T) {
	h := prepareHouse(t, calls(call{"apply", `{}`}, call{"wrap", `{}`}))
	h.following("apply")
	h.calling("wrap", invoking(call{"apply", "{}"}, call{"fake__apply", "{}"}))
	h.start()
	a := h.submit(Submission{Agent: "free"})
	h.await(a)
	if got := h.outcomes(a.Run.ID); got != "apply:failed:not_found apply:failed:not_found fake__apply:failed:not_found wrap:resolved" && !strings.HasPrefix(got, "apply:failed:not_found wrap:resolved") {
		t.Errorf("came to %s", got)
	}
	for _, tool := range h.models.asked()[0].Tools {
		if tool.Name == "apply" {
			t.Error("the model is offered it")
		}
	}
	if done := h.call(ToolCall{Tool: "apply"}); done.Result.Success || done.Result.Outcome != sdk.NotFound {
		t.Errorf("a person: %+v", done.Result)
	}
	if slices.Contains(h.tools.calledTools(), "apply") {
		t.Error("it was made")
	}
}

// TestFollowUpSurvives: a daemon that ends between the end of a command and the answer leaves one
// question, which is asked once, and its answer holds.
func TestFollowUpSurvives(t *testing.T) {
	h := prepareAsking(t, calls(call{"bash", `{"command":"x"}`}))
	h.following("apply")
	h.policy.set(runsCommands)
	h.start()
	a := h.submit(Submission{})
	p := h.proposed()
	for range 3 {
		h.cut()
		h.start()
		if again := h.proposed(); again.Hash != p.Hash {
			t.Fatalf("after a restart it is %+v", again)
		}
	}
	h.answer(p, sdk.Accept)
	h.await(a)
	if got := strings.Join(h.tools.calledTools(), " "); got != "bash apply" {
		t.Errorf("made %s", got)
	}
	if got := results(h.models.asked()[1]); got != "ran\n\n[applied .envrc]" {
		t.Errorf("the model read %s", got)
	}
	h.check(a.Run.ID)
}

// TestFollowUpOfAStop: a command that ends while the daemon stops asks in the next one.
func TestFollowUpOfAStop(t *testing.T) {
	h := prepareAsking(t, calls(call{"bash", `{"command":"x"}`}))
	h.following("apply")
	h.policy.set(runsCommands)
	begun, end := make(chan struct{}), make(chan struct{})
	h.tools.mu.Lock()
	runs := h.tools.does["bash"]
	h.tools.mu.Unlock()
	h.tools.on("bash", func(ctx context.Context, c sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
		close(begun)
		<-end
		return runs(ctx, c, out)
	})
	h.start()
	a := h.submit(Submission{})
	<-begun
	closed := make(chan error)
	go func() { closed <- h.engine.Close(t.Context()) }()
	<-h.engine.draining.Done()
	close(end)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	h.start()
	h.answer(h.proposed(), sdk.Accept)
	h.await(a)
	if got := h.outcomes(a.Run.ID); got != "bash:resolved apply:resolved" {
		t.Errorf("came to %s", got)
	}
	h.check(a.Run.ID)
}

// TestFollowUpOfAnAbort: an abort while it waits ends it, and the model is told when the run goes on.
func TestFollowUpOfAnAbort(t *testing.T) {
	h := prepareAsking(t, calls(call{"bash", `{"command":"x"}`}))
	h.following("apply")
	h.policy.set(runsCommands)
	h.start()
	a := h.submit(Submission{})
	h.proposed()
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.run(Submission{Run: a.Run.Alias})
	if got := results(h.models.asked()[1]); !strings.HasPrefix(got, "ran\n\n[not made: make this call again if it is still needed. "+keptUntil) {
		t.Errorf("the model read %s", got)
	}
	h.check(a.Run.ID)
}

// TestFollowUpOfAPluginsCall: what a command asks for that a plugin ran is asked once that plugin is done, and
// stands behind what the model called.
func TestFollowUpOfAPluginsCall(t *testing.T) {
	h := prepareAsking(t, calls(call{"wrap", `{}`}))
	h.following("apply")
	h.policy.set(runsCommands)
	h.calling("wrap", invoking(call{"bash", `{"command":"x"}`}))
	h.start()
	a := h.submit(Submission{})
	h.answer(h.proposed(), sdk.Accept)
	h.await(a)
	if got := h.outcomes(a.Run.ID); got != "wrap:resolved bash:resolved apply:resolved" {
		t.Errorf("came to %s", got)
	}
	if got := results(h.models.asked()[1]); got != "ran\n\n[applied .envrc]" {
		t.Errorf("the model read %s", got)
	}
	h.check(a.Run.ID)
}

// TestFollowUpOfAPersonsCall: who may approve a call gets what it asks for done, others are told that it is not.
func TestFollowUpOfAPersonsCall(t *testing.T) {
	for approved, want := range map[bool]string{true: "ran\n\napplied .envrc", false: keptUntil} {
		h := prepareAsking(t)
		h.following("apply")
		h.policy.set(runsCommands)
		h.start()
		done, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Tool: "bash", Arguments: json.RawMessage(`{}`), Approved: approved})
		if err != nil || !done.Result.Success || !strings.HasSuffix(done.Result.Output, want) || done.Entry.Body != "ran" {
			t.Errorf("approved %v: %+v, %v", approved, done.Result, err)
		}
		h.check(done.Run.ID)
	}
}

// acceptance is a person's yes to a proposal.
func acceptance(p sdk.Proposal) rpc.Resolve {
	return rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept}
}
