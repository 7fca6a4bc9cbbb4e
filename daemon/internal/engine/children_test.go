package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// calling makes tools of a plugin that calls others by the host's services.
func (h *house) calling(tool string, do func(ctx context.Context, ask func(tool, arguments string) (sdk.ToolResult, error)) (sdk.ToolResult, error)) {
	h.t.Helper()
	if h.config.Services == nil {
		h.config.Services = new(Services)
	}
	if !slices.ContainsFunc(h.tools.Tools(), func(t sdk.Tool) bool { return t.Name == tool }) {
		h.tools.add(tool, sdk.Annotations{ReadOnly: true}, true)
	}
	h.tools.on(tool, func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		return do(ctx, func(tool, arguments string) (sdk.ToolResult, error) {
			return h.config.Services.Invoke(ctx, caller(c), tool, []byte(arguments))
		})
	})
}

func caller(c sdk.Invocation) sdk.Caller {
	return sdk.Caller{Instance: "fake", Call: c.CallID, Run: c.Run, RunDir: c.RunDir}
}

// invoking is a tool that makes some calls one after the other.
func invoking(cs ...call) func(context.Context, func(string, string) (sdk.ToolResult, error)) (sdk.ToolResult, error) {
	return func(_ context.Context, ask func(string, string) (sdk.ToolResult, error)) (sdk.ToolResult, error) {
		var said []string
		for _, c := range cs {
			r, err := ask(c.tool, c.arguments)
			if err != nil {
				r.Output = string(sdk.OutcomeOf(err)) + ": " + err.Error()
			}
			said = append(said, r.Output)
		}
		return ok(strings.Join(said, "; "))
	}
}

func parents(t *testing.T, entries []sdk.Entry) string {
	var words []string
	for _, e := range entries {
		words = append(words, strings.TrimPrefix(e.Path, "log://")+"<"+strings.TrimPrefix(parentOf(e), "log://"))
	}
	return strings.Join(words, " ")
}

// TestAPluginsCallIsAnAction: it is recorded, heard of, undone and kept from the
// model like any other, with its parent.
func TestAPluginsCallIsAnAction(t *testing.T) {
	h := prepareHouse(t, calls(call{"wrap", "{}"}, numbered("read", 1)))
	h.calling("wrap", invoking(numbered("read", 1), numbered("read", 1), numbered("read", 1), numbered("write", 2)))
	h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Success: true, Output: "written", Changes: []sdk.FileChange{{Path: "f2"}}}, nil
	})
	var mu sync.Mutex
	var heard []string
	hear := func(what string) func(context.Context, sdk.EntryEvent) error {
		return func(_ context.Context, e sdk.EntryEvent) error {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, what+" "+e.Entry.Path)
			return nil
		}
	}
	h.hooks.ToolBefore.On(10, "t", hear("before"))
	h.hooks.ToolAfter.On(10, "t", hear("after"))
	h.hooks.EntryRecording.On(10, "t", true, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, "recording "+r.Path)
		return r, nil
	})
	var judged sdk.TurnResult
	h.hooks.TurnVerdict.On(10, "t", true, func(_ context.Context, r sdk.TurnResult) (sdk.TurnResult, error) {
		if r.LoopTurn == 1 {
			judged = r
		}
		return r, nil
	})
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Stop != "answer" {
		t.Fatalf("ended by %q: %s", l.Stop, l.Reason)
	}
	h.untilIdle()
	const of = "<turn_1/wrap/call"
	if got, want := parents(t, judged.Actions), "turn_1/read/f1_2"+of+" turn_1/read/f1_3"+of+" turn_1/read/f1_4"+of+" turn_1/write/f2"+of+" turn_1/wrap/call< turn_1/read/f1<"; got != want {
		t.Errorf("judged\n got %s\nwant %s", got, want)
	}
	for _, path := range []string{"log://turn_1/read/f1_2", "log://turn_1/write/f2"} {
		for _, what := range []string{"recording ", "before ", "after "} {
			if !slices.Contains(heard, what+path) {
				t.Errorf("%s%s was not told: %q", what, path, heard)
			}
		}
	}
	if changes := h.entries(a.Run.ID, "change://"); len(changes) != 1 || changes[0].Path != "change://turn_1/write/f2" {
		t.Errorf("changes %+v", changes)
	}
	second := h.models.asked()[1].Messages
	if n := len(second); n != 5 || second[3].Text != "read {\"path\":\"f1\"}; read {\"path\":\"f1\"}; read {\"path\":\"f1\"}; written" {
		t.Errorf("the model was shown %+v", second)
	}
	h.check(a.Run.ID)
}

// TestAPluginsCallIsRefused: what a person would have to agree to is refused, and
// what the loop may not do is not done by way of a plugin.
func TestAPluginsCallIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		submission Submission
		call       call
		says       string
	}{
		"a proposal":         {Submission{Mode: sdk.ModeInteractive}, numbered("write", 1), "permission: refused by rule \"project\""},
		"restricted":         {Submission{}, call{"loose", "{}"}, "permission: refused by rule \"unpinned\""},
		"only reading":       {Submission{ReadOnly: true}, numbered("write", 1), "permission: refused by rule \"ask_mode\""},
		"no such tool":       {Submission{}, call{"nosuch", "{}"}, "not_found: there is no tool"},
		"a broken plugin":    {Submission{}, call{"broken", "{}"}, "unavailable: the tool \"broken\" cannot be called: the plugin evil is broken"},
		"no JSON":            {Submission{}, call{"read", "{"}, "validation: the arguments of read are not JSON"},
		"out of the project": {Submission{Mode: sdk.ModeFull}, call{"write", `{"path":"../x"}`}, "permission: refused by rule \"outside\""},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(call{"wrap", "{}"}))
			h.calling("wrap", invoking(c.call))
			h.config.Attended = func(int64, string) bool { return true }
			h.start()
			a := h.submit(c.submission)
			h.await(a)
			wrap := slices.IndexFunc(h.actions(a.Run.ID), func(e sdk.Entry) bool { return parentOf(e) == "" })
			if got := h.actions(a.Run.ID)[wrap].Body; !strings.HasPrefix(got, c.says) {
				t.Errorf("the plugin was told %q", got)
			}
			if got := h.outcomes(a.Run.ID); !strings.Contains(got, c.call.tool+":failed") {
				t.Errorf("recorded %s", got)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestVetoesSeeEveryWriter holds for each writer and mode whether the filter of
// proposal.accepting is asked before the call is made, and that its no counts.
func TestVetoesSeeEveryWriter(t *testing.T) {
	const model, client, plugin = "model", "client", "plugin"
	for _, c := range []struct {
		writer string
		mode   sdk.Mode
		tool   string // loose is what interactive and restricted mode ask about
		asked  bool
		runs   bool // when nobody says no
	}{
		{model, sdk.ModeInteractive, "loose", true, true}, // a person answers
		{model, sdk.ModeRestricted, "loose", true, true},  // likewise
		{model, sdk.ModeFull, "loose", true, true},
		{model, sdk.ModeFull, "read", false, true},
		{model, sdk.ModeInteractive, "read", false, true},
		{client, sdk.ModeRestricted, "loose", true, true}, // who calls may approve
		{client, sdk.ModeFull, "loose", true, true},
		{client, sdk.ModeFull, "read", false, true},
		{plugin, sdk.ModeInteractive, "loose", false, false},
		{plugin, sdk.ModeRestricted, "loose", false, false},
		{plugin, sdk.ModeFull, "loose", true, true},
		{plugin, sdk.ModeFull, "read", false, true},
	} {
		for _, veto := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %s %s veto %t", c.writer, c.mode, c.tool, veto), func(t *testing.T) {
				first := c.tool
				if c.writer == plugin {
					first = "wrap"
				}
				h := prepareHouse(t, calls(call{first, "{}"}))
				h.calling("wrap", invoking(call{c.tool, "{}"}))
				h.config.Attended = func(int64, string) bool { return true }
				h.config.Mode = func() sdk.Mode { return c.mode }
				var asked atomic.Int32
				h.hooks.ProposalAccepting.On(10, "t", true, func(_ context.Context, r sdk.Resolution) (sdk.Resolution, error) {
					asked.Add(1)
					if !strings.HasPrefix(r.Entry.Path, "log://turn_1/"+c.tool) || r.Run == 0 {
						t.Errorf("asked about %+v", r)
					}
					r.Allow = !veto
					return r, nil
				})
				h.start()
				if c.writer == client {
					h.call(ToolCall{Tool: c.tool})
				} else {
					a := h.submit(Submission{Mode: c.mode})
					if c.asked && c.writer == model && c.mode != sdk.ModeFull {
						p := (&askingHouse{house: h}).proposed()
						_, _ = h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept})
					}
					h.await(a)
				}
				if got := asked.Load() == 1; got != c.asked {
					t.Errorf("it was asked %d times", asked.Load())
				}
				if ran, want := slices.Contains(h.tools.calledTools(), c.tool), c.runs && !(veto && c.asked); ran != want {
					t.Errorf("it ran: %t", ran)
				}
			})
		}
	}
}

// TestARecordingFilterSeesAPluginsCall: its no is the plugin's, and the loop goes on.
func TestARecordingFilterSeesAPluginsCall(t *testing.T) {
	h := prepareHouse(t, calls(call{"wrap", "{}"}))
	h.calling("wrap", invoking(numbered("write", 1), numbered("write", 2)))
	h.hooks.EntryRecording.On(10, "t", true, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		if strings.HasSuffix(r.Path, "f1") {
			r.State, r.Outcome, r.Body = sdk.StateFailed, sdk.Conflict, "not today"
		}
		return r, nil
	})
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if got, want := h.outcomes(a.Run.ID), "wrap:resolved write:failed:conflict write:resolved"; got != want {
		t.Errorf("got %s", got)
	}
	if got := h.actions(a.Run.ID)[0].Body; !strings.HasPrefix(got, "conflict: t refused this call: not today; write") {
		t.Errorf("the plugin was told %q", got)
	}
	h.check(a.Run.ID)
}

// TestPluginsCallsCountAsErrors: those that fail in a row stop the loop where the
// call that they were made for failed too, and not where its plugin coped.
func TestPluginsCallsCountAsErrors(t *testing.T) {
	bad := []call{numbered("read_bad", 1), numbered("read_bad", 2), numbered("read_bad", 3)}
	for _, copes := range []bool{false, true} {
		h := prepareHouse(t, calls(numbered("wrap", 1)), calls(numbered("wrap", 2)), calls(numbered("wrap", 3)), say("done"))
		h.calling("wrap", func(ctx context.Context, ask func(string, string) (sdk.ToolResult, error)) (sdk.ToolResult, error) {
			r, err := invoking(bad...)(ctx, ask)
			r.Success = copes
			return r, err
		})
		h.start()
		a := h.submit(Submission{})
		if l := h.await(a); l.Stop != map[bool]string{false: "consecutive_errors", true: "answer"}[copes] {
			t.Errorf("copes %v: ended by %q: %s", copes, l.Stop, l.Reason)
		}
		h.check(a.Run.ID)
	}
}

// prepareDear is a house whose prompt may cost 1.5, with a tool ask and models that
// take 1 for each answer.
func prepareDear(t *testing.T) (*house, *costly) {
	h := prepareHouse(t, calls(call{"ask", "{}"}), say("never"))
	h.agents["dear"] = sdk.Agent{Guards: sdk.Guards{MaxCost: 1.5}}
	h.tools.add("ask", sdk.Annotations{ReadOnly: true}, true)
	h.config.Services = new(Services)
	models := &costly{fakeModels: h.models}
	h.config.Models = models
	return h, models
}

// TestALongCallCannotOverspend: once a prompt has cost what it may, a plugin's
// completion is refused within the very call that asked for the others.
func TestALongCallCannotOverspend(t *testing.T) {
	h, models := prepareDear(t)
	var refused error
	h.tools.on("ask", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		for range 5 {
			refused = h.config.Services.Complete(ctx, caller(c), sdk.Request{}, func(sdk.Delta) error { return nil })
		}
		return ok("asked")
	})
	h.start()
	a := h.submit(Submission{Agent: "dear", Model: "fake/loop"})
	if l := h.await(a); l.Stop != "max_cost" || models.n.Load() != 2 {
		t.Errorf("ended by %q after %d completions: %s", l.Stop, models.n.Load(), l.Reason)
	}
	if sdk.OutcomeOf(refused) != sdk.Permission || !strings.Contains(fmt.Sprint(refused), "has cost 2 and may cost 1.5") {
		t.Errorf("the plugin was told %v", refused)
	}
	h.check(a.Run.ID)
}

// TestNoPluginBuysWithLessThanNothing: max_tokens below zero bound nothing, and make no request cheap.
func TestNoPluginBuysWithLessThanNothing(t *testing.T) {
	h, models := prepareDear(t)
	models.price = &sdk.Price{Completion: 500} // 2.048 for an answer that nothing bounds
	h.agents["dear"] = sdk.Agent{MaxTokens: 1, Guards: sdk.Guards{MaxCost: 1.5}}
	var refused error
	h.tools.on("ask", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		refused = h.config.Services.Complete(ctx, caller(c), sdk.Request{MaxTokens: -1 << 20}, func(sdk.Delta) error { return nil })
		return ok("asked")
	})
	h.start()
	h.await(h.submit(Submission{Agent: "dear", Model: "fake/loop"}))
	if models.n.Load() != 0 || sdk.OutcomeOf(refused) != sdk.Permission || !strings.Contains(fmt.Sprint(refused), "up to 2.048") {
		t.Errorf("%d completions; the plugin was told %v", models.n.Load(), refused)
	}
}

// TestPluginsCompletionsCost: what plugins ask of models counts for max_cost, also
// what an earlier daemon wrote down, and their retries are shown.
func TestPluginsCompletionsCost(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			h := prepareHouse(t, calls(call{"ask", "{}"}), calls(call{"ask", `{"n":2}`}), say("never"))
			h.agents["dear"] = sdk.Agent{Guards: sdk.Guards{MaxCost: 1.5}}
			h.tools.add("ask", sdk.Annotations{ReadOnly: true}, true)
			h.config.Services = new(Services)
			begun := make(chan struct{}, 2)
			models := &costly{fakeModels: h.models}
			h.config.Models = models
			h.tools.on("ask", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
				err := h.config.Services.Complete(ctx, caller(c), sdk.Request{}, func(sdk.Delta) error { return nil })
				if begun <- struct{}{}; restart && models.n.Load() == 1 {
					<-ctx.Done()
					return sdk.ToolResult{}, ctx.Err()
				}
				return sdk.ToolResult{Success: err == nil, Output: fmt.Sprint(err)}, nil
			})
			h.start()
			a := h.submit(Submission{Agent: "dear", Model: "fake/loop"})
			<-begun
			if restart {
				h.cut()
				h.config.Services = new(Services)
				h.start()
			}
			if l := h.await(a); l.Stop != "max_cost" || !strings.Contains(l.Reason, "has cost 2") {
				t.Errorf("ended by %q: %s", l.Stop, l.Reason)
			}
			notes, err := h.store.Journal(t.Context(), sdk.JournalQuery{Run: a.Run.ID, Notes: true})
			if err != nil {
				t.Fatal(err)
			}
			kinds := map[string]int{}
			for _, n := range notes {
				if kinds[n.Kind]++; n.Kind != sdk.KindNote+".retry" && n.Kind != sdk.KindNoteCompletion {
					continue
				}
				if n.Loop != a.Loop.ID || n.Turn == 0 || !strings.Contains(string(n.Data), `"plugin":"fake"`) || !strings.Contains(string(n.Data), `"model":"fake/loop"`) {
					t.Errorf("%s of loop %d, turn %d: %s", n.Kind, n.Loop, n.Turn, n.Data)
				}
			}
			if kinds["note.retry"] != 2 || kinds["note.completion"] != 2 {
				t.Errorf("notes %v", kinds)
			}
			h.check(a.Run.ID)
		})
	}
}

// costly answers plugins, who name no run, at a price, and asks twice.
type costly struct {
	*fakeModels
	n atomic.Int32
}

func (m *costly) Complete(ctx context.Context, alias string, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
	if len(req.Messages) > 0 {
		return m.fakeModels.Complete(ctx, alias, req, send, retry)
	}
	m.n.Add(1)
	if err := retry(sdk.Retry{Class: sdk.ClassServer, Attempt: 2, Message: "again"}); err != nil {
		return err
	}
	return send(sdk.Delta{Usage: &sdk.Usage{Total: 1, Cost: new(1.0)}})
}

// TestPluginsCallsTogether: many at a time, of neighbours that only read, and calls
// within calls.
func TestPluginsCallsTogether(t *testing.T) {
	h := prepareHouse(t, calls(call{"many", `{"n":1}`}, call{"many", `{"n":2}`}, call{"deep", "{}"}))
	const each = 10
	h.calling("many", func(_ context.Context, ask func(string, string) (sdk.ToolResult, error)) (sdk.ToolResult, error) {
		var all sync.WaitGroup
		for range each {
			all.Go(func() {
				if _, err := ask("read", `{"path":"same"}`); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		return ok("all")
	})
	h.calling("deep", invoking(call{"deeper", "{}"}))
	h.calling("deeper", invoking(call{"many", "{}"}))
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	made := h.actions(a.Run.ID)
	seen := map[int]bool{}
	for _, e := range made {
		i := attributes(t, e).Index
		if seen[i] || e.State != sdk.StateResolved {
			t.Errorf("%s has the index %d twice, or is %s", e.Path, i, e.State)
		}
		seen[i] = true
	}
	if len(made) != 3+2+3*each {
		t.Errorf("%d actions", len(made))
	}
	h.check(a.Run.ID)
}

// TestAbortedPluginsCall: it ends before its parent does, as aborted.
func TestAbortedPluginsCall(t *testing.T) {
	h := prepareHouse(t, calls(call{"wrap", "{}"}))
	h.calling("wrap", invoking(numbered("bash", 1)))
	begun := make(chan struct{}, 1)
	h.tools.on("bash", waiting(begun))
	h.start()
	a := h.submit(Submission{})
	<-begun
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if got := h.outcomes(a.Run.ID); !strings.Contains(got, "bash:cancelled:aborted") {
		t.Errorf("got %s", got)
	}
	h.check(a.Run.ID)
}

// TestAPluginsCallAfterTheAbort: the work ends while the hooks are told of a
// plugin's call, which is not made then.
func TestAPluginsCallAfterTheAbort(t *testing.T) {
	h := prepareHouse(t, calls(call{"wrap", "{}"}))
	h.calling("wrap", invoking(numbered("bash", 1)))
	h.tools.on("bash", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		t.Error("it was made")
		return ok("done")
	})
	told := make(chan struct{})
	h.hooks.ToolBefore.On(1, "slow", func(ctx context.Context, e sdk.EntryEvent) error {
		if strings.Contains(e.Entry.Path, "/bash/") {
			close(told)
			<-ctx.Done()
		}
		return nil
	})
	h.start()
	a := h.submit(Submission{})
	<-told
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if got := h.outcomes(a.Run.ID); !strings.Contains(got, "bash:") || strings.Contains(got, "bash:resolved") {
		t.Errorf("got %s", got)
	}
	h.check(a.Run.ID)
}

// TestAPluginsCallEndsWithItsParent: one that its plugin left behind, and one that
// it makes when its own is over.
func TestAPluginsCallEndsWithItsParent(t *testing.T) {
	h := prepareHouse(t, calls(call{"wrap", "{}"}))
	begun, left := make(chan struct{}, 1), make(chan error, 1)
	var again func() error
	h.calling("wrap", func(_ context.Context, ask func(string, string) (sdk.ToolResult, error)) (sdk.ToolResult, error) {
		again = func() error { _, err := ask("read", "{}"); return err }
		go func() {
			_, err := ask("bash", "{}")
			left <- err
		}()
		<-begun
		return ok("gone")
	})
	h.tools.on("bash", waiting(begun))
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if err := <-left; err == nil {
		t.Error("it did not end")
	}
	if err := again(); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a late call: %v", err)
	}
	if got, want := h.outcomes(a.Run.ID), "wrap:resolved bash:cancelled:aborted"; got != want {
		t.Errorf("got %s", got)
	}
	h.check(a.Run.ID)
}

// TestAPluginsCallIsNotMadeAgain: the next daemon finds out what it came to, or
// that nobody knows. A parent that may be repeated makes it anew.
// spec: wrong_action_names
func TestAPluginsCallIsNotMadeAgain(t *testing.T) {
	for name, c := range map[string]struct {
		known  bool // what the child came to
		parent sdk.Annotations
		want   string
	}{
		"nobody knows": {false, sdk.Annotations{Destructive: true}, "wrap:failed:interrupted bash:failed:interrupted"},
		"known":        {true, sdk.Annotations{Destructive: true}, "wrap:failed:interrupted bash:resolved"},
		"repeated":     {false, sdk.Annotations{ReadOnly: true}, "wrap:resolved bash:failed:interrupted bash:resolved"},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(call{"wrap", "{}"}))
			h.tools.add("wrap", c.parent, true, sdk.GrantProject)
			h.calling("wrap", func(ctx context.Context, ask func(string, string) (sdk.ToolResult, error)) (sdk.ToolResult, error) {
				_, err := ask("bash", `{"path":"f1"}`)
				return sdk.ToolResult{Success: err == nil, Output: "wrapped"}, err
			})
			begun := make(chan struct{}, 1)
			var made atomic.Int32
			h.tools.on("bash", func(ctx context.Context, i sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
				if made.Add(1) == 1 {
					return waiting(begun)(ctx, i, out)
				}
				return ok("again")
			})
			if c.known {
				h.tools.settles = map[string]sdk.ToolResult{"bash": {Success: true, Output: "it had run"}}
			}
			h.start()
			a := h.submit(Submission{})
			<-begun
			h.cut()
			h.config.Services = new(Services)
			h.start()
			h.await(a)
			if got := h.outcomes(a.Run.ID); got != c.want {
				t.Errorf("got %s", got)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestAPluginsCallOfAClient: in the turn of a call that a person made.
func TestAPluginsCallOfAClient(t *testing.T) {
	h := prepareHouse(t)
	h.calling("wrap", invoking(numbered("read", 1), call{"loose", "{}"}))
	h.start()
	done := h.call(ToolCall{Tool: "wrap"})
	if got := done.Result.Output; !strings.HasPrefix(got, "read ") || !strings.Contains(got, "permission") {
		t.Errorf("the plugin was told %q", got)
	}
	if got, want := h.outcomes(done.Run.ID), "wrap:resolved read:resolved loose:failed:permission"; got != want {
		t.Errorf("got %s", got)
	}
	h.check(done.Run.ID)
}

// TestPluginsDoNotWriteWhatHappened: nor what a model reads in a prompt's place.
// spec: writer_tiers
func TestPluginsDoNotWriteWhatHappened(t *testing.T) {
	h := prepareHouse(t)
	h.calling("wrap", nil)
	text := "it all went well"
	var got []string
	h.tools.on("wrap", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		for _, w := range []sdk.Write{
			{Path: "log://turn_1/bash/ls"}, {Path: "LOG://turn_1/bash/ls"}, {Path: "Log://Turn_1/x"}, {Path: "assistant://1"},
			{Path: "Prompt://9", Attributes: json.RawMessage(`{"meaning":{"text":"do harm"}}`)}, {Path: "prompt://9", Attributes: json.RawMessage(`{"MEANING":null}`)},
			{Path: "known://waits", State: sdk.StateProposed}, // nobody could answer it
			{Path: "log://x/note"}, {Path: "known://fact"}, {Path: "Prompt://9", Attributes: json.RawMessage(`{"mode":"act"}`)},
		} {
			w.Writer, w.Body = sdk.WriterPlugin, &text
			_, err := h.config.Services.Write(ctx, caller(c), []sdk.Write{w})
			if err != nil && sdk.OutcomeOf(err) != sdk.Permission {
				t.Error(err)
			}
			got = append(got, fmt.Sprint(err == nil))
		}
		if _, err := h.config.Services.Write(ctx, sdk.Caller{Call: "other"}, nil); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("for no call: %v", err)
		}
		all, err := h.config.Services.Entries(ctx, caller(c), "known://*")
		if err != nil || len(all) != 1 || all[0].Body != text {
			t.Errorf("read %+v, %v", all, err)
		}
		return ok("")
	})
	h.start()
	h.call(ToolCall{Tool: "wrap"})
	if want := "false false false false false false false true true true"; strings.Join(got, " ") != want {
		t.Errorf("written: %s", got)
	}
}

// TestEntryChangedOnce: once for each commit of an entry, whoever wrote it, and not
// for pieces of a stream.
func TestEntryChangedOnce(t *testing.T) {
	h := prepareHouse(t, calls(call{"wrap", "{}"}))
	h.calling("wrap", nil)
	var mu sync.Mutex
	told := map[string]int{}
	h.hooks.EntryChanged.On(10, "t", func(_ context.Context, e sdk.EntryEvent) error {
		mu.Lock()
		defer mu.Unlock()
		told[fmt.Sprint(e.Entry.Path, " ", e.Entry.Version)]++
		return nil
	})
	text := "text"
	h.tools.on("wrap", func(ctx context.Context, c sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
		_, err := h.config.Services.Write(ctx, caller(c), []sdk.Write{{Path: "known://a", Body: &text, Writer: sdk.WriterPlugin}})
		return sdk.ToolResult{Success: true}, errors.Join(err, out.Chunk(1, []byte("a piece")))
	})
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	h.untilIdle()
	rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{Run: a.Run.ID})
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]int{}
	for _, r := range rows {
		if r.Kind == sdk.KindEntrySet {
			sets[r.Path]++
		}
	}
	mu.Lock()
	defer mu.Unlock()
	heard := map[string]int{}
	for key, n := range told {
		path, _, _ := strings.Cut(key, " ")
		if heard[path] += n; n != 1 {
			t.Errorf("%s was told %d times", key, n)
		}
	}
	for path, n := range sets {
		if heard[path] != n {
			t.Errorf("%s was committed %d times and told %d times", path, n, heard[path])
		}
	}
	for _, path := range []string{"prompt://1", "known://a", "log://turn_1/wrap/call", "assistant://1"} {
		if heard[path] == 0 {
			t.Errorf("%s was not told: %v", path, heard)
		}
	}
}

// TestPluginsCallsHideNoErrors: a call of a plugin that went well does not end the
// row of its parents' failures, for it is not the model's.
func TestPluginsCallsHideNoErrors(t *testing.T) {
	h := prepareHouse(t, calls(call{"outer", `{"n":1}`}), calls(call{"outer", `{"n":2}`}), calls(call{"outer", `{"n":3}`}), calls(call{"outer", `{"n":4}`}), say("done"))
	h.agents["strict"] = sdk.Agent{Guards: sdk.Guards{ConsecutiveErrors: 2}}
	h.tools.add("outer", sdk.Annotations{ReadOnly: true}, true)
	h.config.Services = new(Services)
	h.tools.on("outer", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		_, err := h.config.Services.Invoke(ctx, caller(c), "read", []byte(`{"path":"x"}`))
		return sdk.ToolResult{Error: "it failed", Outcome: sdk.Timeout}, err
	})
	h.start()
	a := h.submit(Submission{Agent: "strict"})
	l := h.await(a)
	if l.Stop != "consecutive_errors" {
		t.Errorf("ended by %q: %s: %v", l.Stop, l.Reason, h.outcomes(a.Run.ID))
	}
}

// TestManyCompletionsCannotOverspend: where a limit is set, what plugins ask at once
// is asked one after the other, and no more than the prompt may cost.
func TestManyCompletionsCannotOverspend(t *testing.T) {
	h, models := prepareDear(t)
	h.tools.on("ask", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				_ = h.config.Services.Complete(ctx, caller(c), sdk.Request{}, func(sdk.Delta) error {
					runtime.Gosched() // the others may try
					return nil
				})
			})
		}
		all.Wait()
		return ok("asked")
	})
	h.start()
	a := h.submit(Submission{Agent: "dear", Model: "fake/loop"})
	if l := h.await(a); models.n.Load() > 2 {
		t.Errorf("%d completions were made: %s", models.n.Load(), l.Reason)
	}
}
