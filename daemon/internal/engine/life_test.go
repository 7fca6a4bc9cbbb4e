package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// heard keeps what the life cycle's events told, and can refuse them.
type heard struct {
	mu     sync.Mutex
	events []string
	refuse map[string]error
	pause  func(name string)
}

func listen(h *house) *heard {
	x := &heard{refuse: map[string]error{}}
	on := func(name string) func(context.Context, sdk.RunEvent) error {
		return func(_ context.Context, e sdk.RunEvent) error {
			if x.pause != nil {
				x.pause(name)
			}
			x.mu.Lock()
			defer x.mu.Unlock()
			x.events = append(x.events, name+" "+e.Run.Alias)
			return x.refuse[name]
		}
	}
	h.hooks.RunReset.On(10, "test", on("reset"))
	h.hooks.RunExpired.On(10, "test", on("expired"))
	h.hooks.RunDeleted.On(10, "test", on("deleted"))
	return x
}

func (x *heard) take() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := strings.Join(x.events, ", ")
	x.events = nil
	return all
}

func (h *house) kinds(run int64) string {
	h.t.Helper()
	rows, err := h.store.Journal(context.Background(), sdk.JournalQuery{Run: run, Notes: true})
	if err != nil {
		h.t.Fatal(err)
	}
	var kinds []string
	for _, r := range rows {
		if strings.HasPrefix(r.Kind, "run.") && r.Kind != sdk.KindRunStatus {
			kinds = append(kinds, r.Kind)
		}
	}
	return strings.Join(kinds, " ")
}

func wants(t *testing.T, err error, outcome sdk.Outcome, says string) {
	t.Helper()
	if err == nil || sdk.OutcomeOf(err) != outcome || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v; want %s with %q", err, outcome, says)
	}
}

func TestResume(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t,
		calls(numbered("write", 1)), hanging(begun), // aborted
		say("went on"),
		failing(&sdk.ProviderError{Class: sdk.ClassNever, Message: "no such model"}),
		say("went on again"),
	)
	ctx := t.Context()
	a := h.submit(Submission{Run: "r", Model: "fake/one"})
	<-begun
	_, err := h.engine.Resume(ctx, a.Run.ID)
	wants(t, err, sdk.Conflict, "at work")
	if err := h.engine.Abort(ctx, a.Run.ID); err != nil {
		t.Fatal(err)
	}
	resumed, err := h.engine.Resume(ctx, a.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	l := h.await(resumed)
	var options struct {
		Resumes int64 `json:"resumes"`
	}
	if err := json.Unmarshal(l.Options, &options); err != nil || options.Resumes != a.Loop.ID {
		t.Errorf("the options are %s, %v", l.Options, err)
	}
	if l.Status != 200 || l.ReadOnly != false || l.Model != "fake/one" || !strings.Contains(l.Prompt, "aborted by a person") {
		t.Errorf("%+v", l)
	}
	last := h.models.asked()[2]
	if text := last.Messages[len(last.Messages)-1].Text; text != l.Prompt {
		t.Errorf("the model was last told %q", text)
	}
	_, err = h.engine.Resume(ctx, a.Run.ID)
	wants(t, err, sdk.Conflict, "finished its last prompt")
	if l := h.run(Submission{Run: "r"}); l.Status != 500 {
		t.Fatalf("%+v", l)
	}
	if resumed, err = h.engine.Resume(ctx, a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if l := h.await(resumed); l.Status != 200 || !strings.Contains(l.Prompt, "no such model") {
		t.Errorf("%+v", l)
	}
	made, err := h.engine.StartRun(ctx, Submission{Project: h.project, Run: "empty"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.engine.Resume(ctx, made.Run.ID)
	wants(t, err, sdk.Conflict, "no prompt of its own yet")
	_, err = h.engine.Resume(ctx, 99)
	wants(t, err, sdk.NotFound, "99")
	if got := h.tools.calledTools(); !slices.Equal(got, []string{"write"}) {
		t.Errorf("the tools called are %v", got)
	}
	h.check(a.Run.ID)
}

func TestResumeWhatAGuardStopped(t *testing.T) {
	h := newHouse(t, calls(numbered("write", 1)), calls(numbered("write", 2)), calls(numbered("write", 3)))
	a := h.submit(Submission{Run: "r", Agent: "short"})
	if l := h.await(a); l.Stop != "max_turns" {
		t.Fatalf("%+v", l)
	}
	resumed, err := h.engine.Resume(t.Context(), a.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if l := h.await(resumed); l.Status != 200 || l.Agent != "short" || !strings.Contains(l.Prompt, "max_turns") {
		t.Errorf("%+v", l)
	}
}

func TestABusyRunQueuesAndSaysSo(t *testing.T) {
	begun := make(chan struct{}, 3)
	h := newHouse(t, hanging(begun), say("second"), say("third"))
	first := h.submit(Submission{Run: "r"})
	<-begun
	second, third := h.submit(Submission{Run: "r"}), h.submit(Submission{Run: "r"})
	if first.Ahead != 0 || second.Ahead != 1 || third.Ahead != 2 {
		t.Errorf("ahead of the three are %d, %d and %d", first.Ahead, second.Ahead, third.Ahead)
	}
	_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "r", Agent: "polite", Prompt: "p"})
	wants(t, err, sdk.Conflict, "bothy runs abort r")
	for what, do := range map[string]func() error{
		"reset":   func() error { return h.engine.Reset(t.Context(), first.Run.ID) },
		"deleted": func() error { return h.engine.Delete(t.Context(), first.Run.ID) },
	} {
		wants(t, do(), sdk.Conflict, "the run r cannot be "+what+": it is at work")
	}
	if err := h.engine.Abort(t.Context(), first.Run.ID); err != nil {
		t.Fatal(err)
	}
	if l := h.await(third); l.Status != 200 {
		t.Errorf("%+v", l)
	}
	if next := h.submit(Submission{Run: "r"}); h.await(next).Status != 200 {
		t.Error("the run takes no more prompts")
	}
	// A run at rest refuses nothing, though its worker may not have gone yet.
	for range 5 {
		h.run(Submission{Run: "s", Agent: "polite"})
	}
	h.check(first.Run.ID)
}

func TestForkOfARun(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, calls(numbered("write", 1)), say("one"), calls(numbered("write", 2)), hanging(begun))
	ctx := t.Context()
	a := h.submit(Submission{Run: "r"})
	if l := h.await(a); l.Status != 200 {
		t.Fatal(l.Reason)
	}
	h.submit(Submission{Run: "r", Prompt: "second"})
	<-begun
	h.submit(Submission{Run: "r", Prompt: "third"})
	seen := func(run int64) string {
		var names []string
		for _, e := range h.entries(run, "") {
			if !strings.HasPrefix(e.Path, "system://") && !strings.HasPrefix(e.Path, "tools://") && !strings.HasPrefix(e.Path, agentScheme) {
				names = append(names, strings.TrimPrefix(e.Path, "log://"))
			}
		}
		return strings.Join(names, " ")
	}
	busy, err := h.engine.Fork(ctx, Fork{Run: a.Run.ID, Alias: "busy"})
	if err != nil {
		t.Fatal(err)
	}
	const before = "prompt://1 assistant://1 turn_1/write/f1 assistant://2"
	if got := seen(busy.ID); got != before+" prompt://2 assistant://3 turn_3/write/f2" || busy.Turns != 3 || busy.Parent != a.Run.ID {
		t.Errorf("a fork of the run at its fourth turn sees %s after %d", got, busy.Turns)
	}
	early, err := h.engine.Fork(ctx, Fork{Run: a.Run.ID, Alias: "early", Turn: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := seen(early.ID); got != before {
		t.Errorf("a fork after turn 2 sees %s", got)
	}
	_, err = h.engine.Fork(ctx, Fork{Run: a.Run.ID, Turn: 4})
	wants(t, err, sdk.Conflict, "still at turn 4")
	_, err = h.engine.Fork(ctx, Fork{Run: a.Run.ID, Turn: -1})
	wants(t, err, sdk.Validation, "turns begin with 1")
	_, err = h.engine.Fork(ctx, Fork{Run: a.Run.ID, Alias: "early"})
	wants(t, err, sdk.Conflict, "early already")
	_, err = h.engine.Fork(ctx, Fork{Run: a.Run.ID, Alias: "a b"})
	wants(t, err, sdk.Validation, "cannot name a run")
	if err := h.engine.Abort(ctx, a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if l := h.run(Submission{Run: "early", Prompt: "other"}); l.Status != 200 || l.Sequence != 2 {
		t.Errorf("the fork's own prompt: %+v", l)
	}
	req := slices.DeleteFunc(h.models.asked(), func(r sdk.Request) bool { return r.Run != early.Key }) // the parent goes on with its own
	if last := req[len(req)-1].Messages; slices.ContainsFunc(last, func(m sdk.Message) bool { return m.Text == "second" || m.Text == "third" }) {
		t.Errorf("the fork's model saw %+v", last)
	}
	if h.runFolder(busy.Key) {
		t.Error("a fork has a folder before it needs one")
	}
}

// TestForkOfARunThatRests has what a person wrote since the run's last turn.
func TestForkOfARunThatRests(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"x"}`}), say("done"))
	h.withVerbs()
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if _, err := h.engine.UseEntries(t.Context(), false, nil, a.Run, []sdk.EntryCall{{Verb: sdk.VerbSet, Path: "known://a", Body: new("mended")}}); err != nil {
		t.Fatal(err)
	}
	child, err := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.knows(child.ID, "known"); got != "a=mended" || child.Turns != 2 {
		t.Errorf("after turn %d it knows %s", child.Turns, got)
	}
	if _, err := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID, Turn: 2}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("as it was after turn 2: %v", err)
	}
}

func TestNothingToFork(t *testing.T) {
	h := newHouse(t)
	started, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "new"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.engine.Fork(t.Context(), Fork{Run: started.Run.ID})
	wants(t, err, sdk.Conflict, "nothing to fork")
	if _, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Approved: true, Tool: "read", Arguments: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	tools, err := h.store.RunByAlias(t.Context(), started.Run.Project, toolsAlias)
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.engine.Fork(t.Context(), Fork{Run: tools.ID})
	wants(t, err, sdk.Conflict, "cannot be forked")
}

func (h *house) runFolder(key string) bool {
	_, err := os.Stat(filepath.Join(h.dir, "runs", key))
	return err == nil
}

func TestResetIsAwaited(t *testing.T) {
	h := newHouse(t)
	x := listen(h)
	a := h.submit(Submission{Run: "r"})
	h.await(a)
	if err := h.engine.Reset(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if got := x.take(); got != "reset r" || h.kinds(a.Run.ID) != "run.created run.reset run.rested" {
		t.Errorf("heard %q, journal %s", got, h.kinds(a.Run.ID))
	}
	if len(h.entries(a.Run.ID, "prompt://")) != 1 {
		t.Error("the run forgot its prompt")
	}
	x.refuse["reset"] = sdk.Errorf(sdk.Unavailable, "podman is gone")
	wants(t, h.engine.Reset(t.Context(), a.Run.ID), sdk.Unavailable, "not reset, or not wholly: test: podman is gone")
	if h.kinds(a.Run.ID) != "run.created run.reset run.rested" {
		t.Error("a reset that failed is on record")
	}
	wants(t, h.engine.Reset(t.Context(), 99), sdk.NotFound, "99")
}

func TestAPromptWaitsWhileItsRunIsReset(t *testing.T) {
	h := newHouse(t)
	x := listen(h)
	h.run(Submission{Run: "r"})
	held, release := make(chan struct{}), make(chan struct{})
	x.pause = func(string) { close(held); <-release }
	r, err := h.store.RunByAlias(t.Context(), 1, "r")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- h.engine.Reset(context.Background(), r.ID) }()
	<-held
	accepted := make(chan error, 1)
	go func() {
		_, err := h.engine.Submit(context.Background(), Submission{Project: h.project, Run: "r", Prompt: "p"})
		accepted <- err
	}()
	select {
	case err := <-accepted:
		t.Errorf("a prompt was taken while the sandbox was dropped: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(release)
	if err := errors.Join(<-done, <-accepted); err != nil {
		t.Error(err)
	}
	h.until("both prompts ended", func() bool {
		loops, err := h.store.Loops(t.Context(), r.ID)
		return err == nil && len(loops) == 2 && !isOpen(loops[1])
	})
}

func TestDeleteTakesTheFolderAndNothingOfAFork(t *testing.T) {
	h := newHouse(t, calls(numbered("write", 1)), say("one"))
	x := listen(h)
	a := h.submit(Submission{Run: "r"})
	h.await(a)
	child, err := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID, Alias: "child"})
	if err != nil {
		t.Fatal(err)
	}
	before := len(h.entries(child.ID, ""))
	if err := h.engine.Delete(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if got := x.take(); got != "deleted r" || h.runFolder(a.Run.Key) || h.runFolder(deletedMark+a.Run.Key) {
		t.Errorf("heard %q; the folder is there: %v", got, h.runFolder(a.Run.Key))
	}
	_, err = h.store.Run(t.Context(), a.Run.ID)
	wants(t, err, sdk.NotFound, "")
	if got := len(h.entries(child.ID, "")); got != before || before == 0 {
		t.Errorf("the fork sees %d of %d entries", got, before)
	}
	wants(t, h.engine.Delete(t.Context(), a.Run.ID), sdk.NotFound, "")
	if l := h.run(Submission{Run: "r", Prompt: "anew"}); l.Status != 200 || l.Sequence != 1 {
		t.Errorf("the name is not free: %+v", l)
	}
	if err := h.store.Verify(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

func TestRenameOfARun(t *testing.T) {
	h := newHouse(t)
	a := h.submit(Submission{Run: "r"})
	h.await(a)
	if r, err := h.engine.Rename(t.Context(), a.Run.ID, "better"); err != nil || r.Alias != "better" {
		t.Errorf("%+v, %v", r, err)
	}
	if l := h.run(Submission{Run: "better"}); l.Run != a.Run.ID {
		t.Errorf("%+v", l)
	}
	_, err := h.engine.Rename(t.Context(), a.Run.ID, toolsAlias)
	wants(t, err, sdk.Conflict, "keeps the project's tool calls")
	_, err = h.engine.Rename(t.Context(), a.Run.ID, "a/b")
	wants(t, err, sdk.Validation, "cannot name a run")
}

// TestACallWaitsWhileItsRunIsDeleted, and finds it gone: it makes no folder
// that nobody owns.
func TestACallWaitsWhileItsRunIsDeleted(t *testing.T) {
	h := newHouse(t)
	a, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "r"})
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan error, 1)
	h.hooks.RunDeleted.On(10, "test", func(context.Context, sdk.RunEvent) error {
		located := make(chan struct{})
		h.hooks.ProjectInitCompleted.On(10, "test", func(context.Context, sdk.Project) error {
			close(located)
			return nil
		})
		go func() {
			_, err := h.engine.CallTool(context.Background(), ToolCall{Project: h.project, Approved: true, Run: "r", Tool: "write"})
			called <- err
		}()
		<-located
		return nil
	})
	if err := h.engine.Delete(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	wants(t, <-called, sdk.NotFound, "")
	if h.runFolder(a.Run.Key) || len(h.tools.calledTools()) != 0 {
		t.Errorf("its folder is there: %v; called %v", h.runFolder(a.Run.Key), h.tools.calledTools())
	}
}
