package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// withFiles gives a house with verbs the tools of a files plugin, which do nothing but say that they were called.
func (h *house) withFiles() {
	h.withVerbs()
	for _, name := range []string{"write_file", "edit_file", "delete_path", "move_path", "copy_path"} {
		h.tools.add(name, sdk.Annotations{Destructive: true, Idempotent: name == "write_file"}, true, sdk.GrantProject)
		h.tools.become(name, func(t *sdk.Tool) { t.Plugin = "files" })
	}
}

// lines are the calls that reached tools, each in a line.
func (f *fakeTools) lines() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.made {
		all = append(all, c.Tool+" "+string(c.Arguments))
	}
	return all
}

// TestVerbsOnFiles holds which call of the files plugin each verb stands for on a path without a scheme, that it is recorded under
// the verb with the arguments that the model wrote, and what is refused.
func TestVerbsOnFiles(t *testing.T) {
	before := call{"set", `{"path":"known://k","body":"kept"}`}
	for _, c := range []struct {
		call     call
		made     string
		outcome  string
		path     string
		declared string
	}{
		{call{"set", `{"path":"src/a.go","body":"package a"}`}, `write_file {"content":"package a","path":"src/a.go"}`, "resolved", "log://turn_2/set/src_a.go", "write_file"},
		{call{"set", `{"path":"src/a.go","body":""}`}, "", "failed:validation", "log://turn_2/set/src_a.go", "write_file"},
		{call{"set", `{"path":"src/a.go","body":"<<APPEND\nx\nAPPEND"}`}, `edit_file {"new_text":"\u003c\u003cAPPEND\nx\nAPPEND","old_text":"","path":"src/a.go"}`, "resolved", "log://turn_2/set/src_a.go", "edit_file"},
		{call{"bothy__set", `{"path":"src/a.go","body":"<<NEW\nNEW"}`}, `write_file {"content":"","path":"src/a.go"}`, "resolved", "log://turn_2/bothy__set/src_a.go", "write_file"},
		{call{"set", `{"path":"src/[id]*.go","body":"x"}`}, `write_file {"content":"x","path":"src/[id]*.go"}`, "resolved", "log://turn_2/set/src_id_.go", "write_file"},
		{call{"rm", `{"path":"src/a.go"}`}, `delete_path {"path":"src/a.go"}`, "resolved", "log://turn_2/rm/src_a.go", "delete_path"},
		{call{"rm", `{"path":"src","recursive":true}`}, `delete_path {"path":"src","recursive":true}`, "resolved", "log://turn_2/rm/src", "delete_path"},
		{call{"mv", `{"path":"a","to":"b"}`}, `move_path {"destination":"b","overwrite":true,"source":"a"}`, "resolved", "log://turn_2/mv/a", "move_path"},
		{call{"cp", `{"path":"a","to":"b"}`}, `copy_path {"destination":"b","overwrite":true,"source":"a"}`, "resolved", "log://turn_2/cp/a", "copy_path"},
		{call{"cp", `{"path":"known://k","to":"b.md"}`}, `write_file {"content":"kept","path":"b.md"}`, "resolved", "log://turn_2/cp/known_k", "write_file"},
		{call{"mv", `{"path":"KNOWN://k","to":"b.md"}`}, `write_file {"content":"kept","path":"b.md"}`, "resolved", "log://turn_2/mv/KNOWN_k", "write_file"},
		{call{"cp", `{"path":"known://none","to":"b.md"}`}, "", "failed:not_found", "log://turn_2/cp/known_none", "write_file"},
		{call{"cp", `{"path":"known://k","to":"b.md","body":"other"}`}, "", "failed:validation", "log://turn_2/cp/known_k", "write_file"},
		{call{"cp", `{"path":"log://turn_1/set/known_k","to":"b.md"}`}, `write_file {"content":"known://k is written, 4 bytes","path":"b.md"}`, "resolved", "log://turn_2/cp/log_turn_1_set_known_k", "write_file"},
		{call{"mv", `{"path":"log://turn_1/set/known_k","to":"b.md"}`}, "", "failed:permission", "log://turn_2/mv/log_turn_1_set_known_k", "write_file"},
		{call{"cp", `{"path":"assistant://1","to":"b.md"}`}, "", "failed:permission", "log://turn_2/cp/assistant_1", "write_file"},
		{call{"mv", `{"path":"b.md","to":"known://x"}`}, "", "failed:validation", "log://turn_2/mv/b.md", "move_path"},
		{call{"set", `{"path":"a","body":"x","append":true}`}, "", "failed:validation", "log://turn_2/set/a", "write_file"},
		{call{"set", `{"path":"a","body":"x","state":"failed"}`}, "", "failed:validation", "log://turn_2/set/a", "write_file"},
		{call{"set", `{"path":"` + strings.Repeat("a", 513) + `","body":"x"}`}, "", "failed:validation", "log://turn_2/set/" + strings.Repeat("a", 40), "write_file"},
		{call{"set", `{"path":"a\u0007","body":"x"}`}, "", "failed:validation", "log://turn_2/set/a", "write_file"},
		{call{"set", `{"path":"file://a","body":"x"}`}, "", "failed:permission", "log://turn_2/set/file_a", "set"},
		{call{"set", `{"path":"../a","body":"x"}`}, "", "failed:permission", "log://turn_2/set/a", "write_file"},
		{call{"set", `{"path":".git/config","body":"x"}`}, "", "failed:permission", "log://turn_2/set/git_config", "write_file"},
		{call{"mv", `{"path":"known://k","to":"../b"}`}, "", "failed:permission", "log://turn_2/mv/known_k", "write_file"},
		{call{"rm", `{"path":"src/*"}`}, "", "failed:permission", "log://turn_2/rm/src", "rm"},
	} {
		h := prepareHouse(t, calls(before), calls(c.call), say("done"))
		h.withFiles()
		h.start()
		a := h.submit(Submission{})
		h.await(a)
		x := h.actions(a.Run.ID)[1]
		at, err := sdk.ActionOf(x)
		if err != nil {
			t.Fatal(err)
		}
		outcome := string(x.State)
		if x.Outcome != "" {
			outcome += ":" + string(x.Outcome)
		}
		declared := at.Declared
		if declared == "" {
			declared = at.Tool
		}
		if made := strings.Join(h.tools.lines(), "; "); made != c.made || outcome != c.outcome || x.Path != c.path || declared != c.declared {
			t.Errorf("%v: made %q, %s at %s as %s: %s\nwant %q, %s at %s as %s", c.call, made, outcome, x.Path, declared, x.Body, c.made, c.outcome, c.path, c.declared)
		}
		if moved := c.call.tool == "mv" && outcome == "resolved" && strings.Contains(c.made, "kept"); moved != (h.knows(a.Run.ID, "known") == "") {
			t.Errorf("%v: then it knows %q", c.call, h.knows(a.Run.ID, "known"))
		}
		h.check(a.Run.ID)
	}
}

// TestFilesOfAReader holds that a file is no entry where a prompt may only read.
func TestFilesOfAReader(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"noted"}`}, call{"cp", `{"path":"known://b","to":"b"}`}, call{"set", `{"path":"a","body":"x"}`}, call{"rm", `{"path":"a"}`}), say("done"))
	h.withFiles()
	h.start()
	a := h.submit(Submission{ReadOnly: true})
	h.await(a)
	if made := h.tools.lines(); len(made) > 0 || h.knows(a.Run.ID, "known") != "a=noted" {
		t.Errorf("made %v, it knows %s: %s", made, h.knows(a.Run.ID, "known"), h.outcomes(a.Run.ID))
	}
}

// TestWhatAVerbStandsForIsJudged holds that rules about either name count, that only the files tool can be allowed, and that a
// run without the tool has no verb for it either.
func TestWhatAVerbStandsForIsJudged(t *testing.T) {
	for _, c := range []struct {
		rule sdk.PolicyRule
		mode sdk.Mode
		want string
	}{
		{sdk.PolicyRule{Name: "r", Verdict: sdk.Deny, Tools: []string{"write_file"}}, "", "set:failed:permission"},
		{sdk.PolicyRule{Name: "r", Verdict: sdk.Deny, Tools: []string{"files__*"}, Paths: []string{"a"}}, "", "set:failed:permission"},
		{sdk.PolicyRule{Name: "r", Verdict: sdk.Deny, Tools: []string{"set"}}, "", "set:failed:permission"},
		{sdk.PolicyRule{Name: "r", Verdict: sdk.Deny, Tools: []string{"bothy__set"}, Arguments: map[string]string{"content": "x"}}, "", "set:failed:permission"},
		{sdk.PolicyRule{Name: "r", Verdict: sdk.Allow, Tools: []string{"write_file"}}, sdk.ModeInteractive, "set:resolved"},
		{sdk.PolicyRule{Name: "r", Verdict: sdk.Allow, Tools: []string{"set"}}, sdk.ModeInteractive, "set:proposed"},
	} {
		h := prepareHouse(t, calls(call{"set", `{"path":"a","body":"x"}`}), say("done"))
		h.withFiles()
		h.config.Policy = policy.New(policy.Settings{Rules: []sdk.PolicyRule{c.rule}})
		agent := h.agents["default"]
		agent.Mode = c.mode
		h.agents["default"] = agent
		h.start()
		a := h.submit(Submission{})
		h.until(c.want, func() bool { return h.outcomes(a.Run.ID) == c.want })
	}
}

// TestAVerbOnAFileIsProposed holds that a person is asked about the verb's call as the model wrote it, with the difference that the files
// plugin tells, that what they edit is judged and made as that, and that hooks know it as the call of the files plugin.
func TestAVerbOnAFileIsProposed(t *testing.T) {
	h := asksIn(prepareHouse(t, calls(call{"set", `{"path":"known://k","body":"kept"}`}),
		calls(call{"set", `{"path":"/workspace/a","body":"x"}`}), calls(call{"mv", `{"path":"known://k","to":"b"}`}), say("done")))
	h.withFiles()
	h.tools.stage = func(c sdk.Invocation) (sdk.Staged, error) {
		return sdk.Staged{Diff: c.Tool + " " + string(c.Arguments), Base: "b1"}, nil
	}
	h.policy.set(func(r sdk.PolicyRequest) (d sdk.Decision) {
		if r.Tool.Entries {
			d.Verdict, d.Rule = sdk.Allow, "entries"
		}
		return d
	})
	var mu sync.Mutex
	var heard []string
	hear := func(what, tool string, a sdk.Action, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Error(err)
		}
		heard = append(heard, what+" "+tool+" "+string(a.ExactArguments()))
	}
	h.hooks.EntryRecording.On(1, "test", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		a, err := sdk.ActionOf(sdk.Entry{Path: r.Path, Attributes: r.Attributes})
		hear("recording", r.Tool, a, err)
		return r, nil
	})
	h.hooks.ProposalAccepting.On(1, "test", false, func(_ context.Context, r sdk.Resolution) (sdk.Resolution, error) {
		a, err := sdk.ActionOf(r.Entry)
		hear("accepting", a.Declared, a, err)
		return r, nil
	})
	h.hooks.ToolAfter.On(1, "test", func(_ context.Context, e sdk.EntryEvent) error {
		a, err := sdk.ActionOf(e.Entry)
		hear("after", a.Declared, a, err)
		return nil
	})
	h.start()
	a := h.submit(Submission{})
	p := h.proposed()
	if p.Tool != "set" || p.Plugin != "files" || p.Path != "log://turn_2/set/workspace_a" || string(p.Arguments) != `{"body":"x","path":"/workspace/a"}` || p.Diff != `write_file {"content":"x","path":"a"}` {
		t.Errorf("proposed %+v", p)
	}
	edited := h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Edit, Arguments: json.RawMessage(`{"path":"c","body":"y"}`)})
	if edited.Proposal.Hash == p.Hash || edited.Proposal.Diff != `write_file {"content":"y","path":"c"}` {
		t.Errorf("edited %+v", edited.Proposal)
	}
	h.answer(edited.Proposal, sdk.Accept)
	h.until("the entry is proposed to go", func() bool {
		open, err := h.engine.Proposals(context.Background())
		return err == nil && len(open) == 1 && open[0].ID != p.ID
	})
	p = h.proposed()
	if string(p.Arguments) != `{"body":"kept","path":"known://k","to":"b"}` || p.Diff != `write_file {"content":"kept","path":"b"}` {
		t.Errorf("proposed %+v", p)
	}
	h.answer(p, sdk.Accept)
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	if got, want := strings.Join(h.tools.lines(), "; "), `write_file {"content":"y","path":"c"}; write_file {"content":"kept","path":"b"}`; got != want {
		t.Errorf("made %s", got)
	}
	if got := h.knows(a.Run.ID, "known"); got != "" {
		t.Errorf("it knows %s", got)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{
		`recording write_file {"content":"x","path":"a"}`, `recording write_file {"content":"y","path":"c"}`, `recording write_file {"content":"kept","path":"b"}`,
		`accepting write_file {"content":"y","path":"c"}`, `after write_file {"content":"y","path":"c"}`, `after write_file {"content":"kept","path":"b"}`,
	} {
		if !slices.Contains(heard, want) {
			t.Errorf("no hook heard %s of\n%s", want, strings.Join(heard, "\n"))
		}
	}
	h.check(a.Run.ID)
}

// TestAHookChangesAVerbOnAFile holds that what a hook makes of the call, in the form of the files plugin, is made, also by the next daemon.
func TestAHookChangesAVerbOnAFile(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"a","body":"x"}`}), say("done"))
	h.withFiles()
	h.hooks.EntryRecording.On(1, "test", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		r.Attributes = json.RawMessage(strings.Replace(string(r.Attributes), `"content":"x"`, `"content":"signed x"`, 1))
		return r, nil
	})
	reached, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	h.tools.on("write_file", func(ctx context.Context, _ sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		once.Do(func() { close(reached); <-goOn })
		return sdk.ToolResult{Success: true, Output: "written"}, ctx.Err()
	})
	h.start()
	a := h.submit(Submission{})
	<-reached
	close(goOn)
	h.cut()
	h.start()
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	for _, got := range h.tools.lines() {
		if got != `write_file {"content":"signed x","path":"a"}` {
			t.Errorf("made %s", got)
		}
	}
	if got := h.outcomes(a.Run.ID); got != "set:resolved" {
		t.Errorf("got %s", got)
	}
	h.check(a.Run.ID)
}

// TestAnEntryStaysThatChanged holds what becomes of an entry that was moved to a file when somebody changes it: before the
// commit of the end, once and each time.
func TestAnEntryStaysThatChanged(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"x"}`}), calls(call{"mv", `{"path":"known://a","to":"b"}`}), say("done"))
	h.withFiles()
	h.store.setRefuse(func(_ int, c sdk.Change) error {
		if !slices.ContainsFunc(c.Writes, func(w sdk.Write) bool { return w.Remove }) {
			return nil
		}
		_, err := h.store.Store.Commit(context.Background(), sdk.Change{Run: c.Run, Writes: []sdk.Write{{Path: "known://a", Body: new("newer"), Writer: sdk.WriterClient}}})
		return err
	})
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if got := h.outcomes(a.Run.ID); got != "set:resolved mv:resolved" || h.knows(a.Run.ID, "known") != "a=newer" {
		t.Errorf("%s, it knows %s", got, h.knows(a.Run.ID, "known"))
	}
	if last := h.actions(a.Run.ID)[1]; !strings.Contains(last.Body, "known://a stays: known://a was changed meanwhile") {
		t.Errorf("it says %s", last.Body)
	}
	h.check(a.Run.ID)
}

// TestACopyOfWhatTheAnswerChanges is refused: what the file would get is not what there will be.
func TestACopyOfWhatTheAnswerChanges(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"x"}`}, call{"set", `{"path":"known://b","body":"y"}`}),
		calls(call{"set", `{"path":"known://a","body":"z"}`}, call{"set", `{"path":"known://b*","visibility":"summarized"}`}, call{"cp", `{"path":"known://b","to":"b"}`}),
		calls(call{"get", `{"path":"known://a"}`}, call{"set", `{"path":"known://a","body":"q"}`}, call{"cp", `{"path":"known://a","to":"a"}`}), say("done"))
	h.withFiles()
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if got, want := h.outcomes(a.Run.ID), "set:resolved set:resolved set:resolved set:resolved cp:resolved get:resolved set:resolved cp:failed:conflict"; got != want {
		t.Errorf("got %s", got)
	}
	if got := strings.Join(h.tools.lines(), "; "); got != `write_file {"content":"y","path":"b"}` {
		t.Errorf("made %s", got)
	}
}

// TestNoFilesPlugin holds what is said where nothing can change a file.
func TestNoFilesPlugin(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"a","body":"x"}`}), say("done"))
	h.withVerbs()
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if last := h.actions(a.Run.ID)[0]; last.Outcome != sdk.NotFound || !strings.Contains(last.Body, "files__write_file") {
		t.Errorf("%s: %s", last.Outcome, last.Body)
	}
}

// TestClientsChangeFiles holds that a client's verb on a file is a call of a tool in its run, and is asked about as one.
func TestClientsChangeFiles(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"known://k","body":"kept"}`}), say("done"))
	h.withFiles()
	h.config.Policy = policy.New(policy.Settings{Rules: []sdk.PolicyRule{{Name: "ask", Verdict: sdk.Propose, Tools: []string{"files__*"}}}})
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	for _, c := range []struct {
		call     sdk.EntryCall
		approved bool
		want     string
		outcome  sdk.Outcome
	}{
		{sdk.EntryCall{Verb: sdk.VerbSet, Path: "a", Body: new("x")}, false, "", sdk.Permission},
		{sdk.EntryCall{Verb: sdk.VerbSet, Path: "a", Body: new("x")}, true, `write_file {"content":"x","path":"a"}`, ""},
		{sdk.EntryCall{Verb: sdk.VerbRemove, Path: "a"}, true, `delete_path {"path":"a"}`, ""},
		{sdk.EntryCall{Verb: sdk.VerbMove, Path: "a", To: "b"}, true, `move_path {"destination":"b","overwrite":true,"source":"a"}`, ""},
		{sdk.EntryCall{Verb: sdk.VerbMove, Path: "known://k", To: "b"}, true, `write_file {"content":"kept","path":"b"}`, ""},
		{sdk.EntryCall{Verb: sdk.VerbMove, Path: "known://k", To: "b"}, true, "", sdk.NotFound},
		{sdk.EntryCall{Verb: sdk.VerbSet, Path: "a", Body: new("x"), Summary: "s"}, true, "", sdk.Validation},
		{sdk.EntryCall{Verb: sdk.VerbSet, Path: "../a", Body: new("x")}, true, "", sdk.Permission},
	} {
		before := len(h.tools.lines())
		done, err := h.engine.UseEntries(t.Context(), c.approved, nil, a.Run, []sdk.EntryCall{c.call})
		if made := strings.Join(h.tools.lines()[before:], "; "); made != c.want || (err == nil) != (c.outcome == "") || err != nil && sdk.OutcomeOf(err) != c.outcome {
			t.Errorf("%+v: made %q, %+v, %v", c.call, made, done, err)
		}
		last := h.actions(a.Run.ID)
		if x := last[len(last)-1]; !strings.HasPrefix(x.Path, "log://turn_") || !strings.Contains(x.Path, "/"+string(c.call.Verb)+"/") {
			t.Errorf("%+v is recorded as %s", c.call, x.Path)
		}
	}
	if got := h.knows(a.Run.ID, "known"); got != "" {
		t.Errorf("it knows %s", got)
	}
	two := []sdk.EntryCall{{Verb: sdk.VerbSet, Path: "known://z", Body: new("x")}, {Verb: sdk.VerbRemove, Path: "a"}}
	if _, err := h.engine.UseEntries(t.Context(), true, nil, a.Run, two); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("two at once: %v", err)
	}
}

// TestTheTextOfAFileIsStoredOnce holds that an action refers to the answer for its arguments, as any other does.
func TestTheTextOfAFileIsStoredOnce(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"a","body":"` + strings.Repeat("long ", 1000) + `"}`}), say("done"))
	h.withFiles()
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	size := 0
	for _, c := range h.store.commits() {
		for _, w := range c.Writes {
			if strings.HasPrefix(w.Path, "log://turn_1/set/") {
				size += len(w.Attributes)
			}
		}
	}
	if size == 0 || size > 2000 {
		t.Errorf("%d bytes of attributes are written", size)
	}
	if x, err := sdk.ActionOf(h.actions(a.Run.ID)[0]); err != nil || len(x.ExactArguments()) < 5000 || x.Declared != "write_file" {
		t.Errorf("recorded %d bytes of arguments, %v", len(x.ExactArguments()), err)
	}
}

// TestAMoveToAFileThatIsCut ends the engine when the file is written and the entry is still there: the next one writes the
// same again, and the entry goes with the end of the action.
func TestAMoveToAFileThatIsCut(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"x"}`}), calls(call{"mv", `{"path":"known://a","to":"b"}`}), say("done"))
	h.withFiles()
	reached, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	h.store.setRefuse(func(_ int, c sdk.Change) (err error) {
		if slices.ContainsFunc(c.Writes, func(w sdk.Write) bool { return w.Remove }) {
			once.Do(func() {
				close(reached)
				<-goOn
				err = sdk.Errorf(sdk.Unavailable, "the disk is full")
			})
		}
		return err
	})
	h.start()
	a := h.submit(Submission{})
	<-reached
	close(goOn)
	h.cut()
	if got := h.knows(a.Run.ID, "known"); got != "" && got != "a=x" {
		t.Errorf("it knows %s", got)
	}
	h.start()
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	if got := h.outcomes(a.Run.ID); got != "set:resolved mv:resolved" || h.knows(a.Run.ID, "known") != "" {
		t.Errorf("%s, it knows %s", got, h.knows(a.Run.ID, "known"))
	}
	for _, made := range h.tools.lines() {
		if made != `write_file {"content":"x","path":"b"}` {
			t.Errorf("made %s", made)
		}
	}
	h.check(a.Run.ID)
}

// TestAMoveToAFileInAStop stops the engine while the file is written: both ends are recorded.
func TestAMoveToAFileInAStop(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"x"}`}), calls(call{"mv", `{"path":"known://a","to":"b"}`}), say("done"))
	h.withFiles()
	reached := make(chan struct{})
	var once sync.Once
	h.tools.on("write_file", func(ctx context.Context, _ sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		once.Do(func() { close(reached) })
		<-ctx.Done()
		return ok("written all the same")
	})
	h.start()
	a := h.submit(Submission{})
	<-reached
	h.cut()
	if x := h.actions(a.Run.ID)[1]; x.State != sdk.StateResolved || x.Body != "written all the same" || h.knows(a.Run.ID, "known") != "" {
		t.Errorf("%s %s: %s, it knows %s", x.Path, x.State, x.Body, h.knows(a.Run.ID, "known"))
	}
	h.start()
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	h.check(a.Run.ID)
}

// TestRepeatsOfAVerbOnAFile holds that the same call twice is known by what the model wrote, and one with another text is not it.
func TestRepeatsOfAVerbOnAFile(t *testing.T) {
	same := call{"set", `{"path":"/workspace/a","body":"x"}`}
	h := prepareHouse(t, calls(same), calls(same), calls(call{"set", `{"path":"/workspace/a","body":"y"}`}), say("done"))
	h.withFiles()
	h.config.Access = &fakeAccess{}
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if got := strings.Join(h.tools.lines(), "; "); got != `write_file {"content":"x","path":"a"}; write_file {"content":"y","path":"a"}` {
		t.Errorf("made %s", got)
	}
	if got := h.outcomes(a.Run.ID); got != "set:resolved set:resolved set:resolved" {
		t.Errorf("got %s", got)
	}
	h.check(a.Run.ID)
}
