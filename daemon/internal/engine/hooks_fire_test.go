package engine

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// ofSocket reports whether package server tells of a name; its TestEveryHookOfTheSocket has all of those.
func ofSocket(name string) bool {
	return strings.HasPrefix(name, "rpc.") || strings.HasPrefix(name, "socket.")
}

// again is a model that is asked a second time, and calls write then.
func again(why string) step {
	return func(ctx context.Context, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		if err := retry(sdk.Retry{Class: sdk.ClassRateLimit, Attempt: 2, Message: why}); err != nil {
			return err
		}
		return calls(numbered("write", 1))(ctx, req, send, retry)
	}
}

// says is a tool's progress, which is told before the tool goes on.
func (h *house) says(text string) func(context.Context, sdk.Stream) error {
	heard := make(chan struct{})
	h.hooks.UIRender.On(99, "test", func(context.Context, sdk.Notice) error {
		close(heard)
		return nil
	})
	return func(ctx context.Context, out sdk.Stream) error {
		err := out.Progress(text, 0.5)
		select {
		case <-heard:
		case <-ctx.Done():
		}
		return err
	}
}

// TestNotices: what clients are told of a run's work is told to plugins, in the same words and without secrets.
func TestNotices(t *testing.T) {
	h := prepareHouse(t, again("too many at once with a-secret"), say("done"))
	h.config.Redact = func(text string) string { return strings.ReplaceAll(text, "a-secret", "hidden") }
	said := h.says("half of a-secret")
	h.tools.on("write", func(ctx context.Context, _ sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Success: true, Output: "written"}, said(ctx, out)
	})
	var mu sync.Mutex
	var told []sdk.Notice
	hear := func(_ context.Context, n sdk.Notice) error {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, n)
		return nil
	}
	h.hooks.UIRender.On(10, "test", hear)
	h.hooks.UINotify.On(10, "test", hear)
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	mu.Lock()
	defer mu.Unlock()
	want := []sdk.Notice{
		{Project: a.Run.Project, Run: a.Run.ID, Text: "too many at once with hidden", Level: "warn"},
		{Project: a.Run.Project, Run: a.Run.ID, Text: "half of hidden"},
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %+v, want %+v", told, want)
	}
}

// TestConfigFilter: the filter run.config gives a run less, and gives nothing back that somebody took; closed, it refuses.
func TestConfigFilter(t *testing.T) {
	h := prepareHouse(t)
	var seen []sdk.ConfigChange
	var refuse error
	remove := h.hooks.RunConfig.On(10, "test", true, func(_ context.Context, c sdk.ConfigChange) (sdk.ConfigChange, error) {
		seen = append(seen, c)
		c.Run.Alias, c.Model, c.Config.Persona = "other", "other", "other"
		c.Config.Temperature, c.Config.ContextLimit, c.Config.NoWeb, c.Config.NoRepo = to(0.5), 9000, true, false
		return c, refuse
	})
	h.start()
	a, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "r", Options: rpc.RunOptions{NoRepo: to(true), Persona: to("a pirate")}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.store.Run(t.Context(), a.Run.ID)
	if want := (sdk.RunConfig{Persona: "a pirate", ContextLimit: 9000, NoRepo: true, NoWeb: true}); err != nil || r.Alias != "r" || *r.Temperature != 0.5 || r.Persona != want.Persona || r.ContextLimit != want.ContextLimit || !r.NoRepo || !r.NoWeb || r.NoProposals {
		t.Errorf("the run has %+v, %v", r.RunConfig, err)
	}
	if c := seen[0]; c.Run.ID != 0 || c.Run.Persona != "" || c.Config.Persona != "" || !c.Config.NoRepo || c.Model != r.Model {
		t.Errorf("the filter was given %+v", c)
	}
	if r, err = h.engine.ConfigureRun(t.Context(), r.ID, rpc.RunConfig{RunOptions: rpc.RunOptions{ContextLimit: to(4000), NoWeb: to(false)}}); err != nil || r.ContextLimit != 4000 || !r.NoWeb {
		t.Errorf("it cannot give more: %+v, %v", r.RunConfig, err)
	}
	refuse = sdk.Errorf(sdk.Permission, "not here")
	if _, err := h.engine.ConfigureRun(t.Context(), r.ID, rpc.RunConfig{RunOptions: rpc.RunOptions{NoRepo: to(false)}}); sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), "not here") {
		t.Errorf("refused: %v", err)
	}
	if _, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "s"}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("a run that is refused: %v", err)
	}
	if _, err := h.store.RunByAlias(t.Context(), r.Project, "s"); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("it was made: %v", err)
	}
	remove()
	if r, err = h.engine.ConfigureRun(t.Context(), r.ID, rpc.RunConfig{RunOptions: rpc.RunOptions{NoRepo: to(false)}}); err != nil || r.NoRepo {
		t.Errorf("without the filter: %+v, %v", r.RunConfig, err)
	}
}

// TestEveryHookFires: each name of the catalogue that the engine tells of comes to who subscribes to it as a
// plugin does.
// spec: events_and_filters
func TestEveryHookFires(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := prepareAsking(t, again("too many at once"), say("done"), calls(numbered("write", 2)),
		failing(&sdk.ProviderError{Class: sdk.ClassServer, Message: "boom"}), calls(numbered("bash", 1)), say("read"))
	var mu sync.Mutex
	var ahead time.Duration
	h.config.Clock = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(ahead)
	}
	said := h.says("half")
	h.tools.on("bash", func(ctx context.Context, in sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
		if err := said(ctx, out); err != nil {
			return sdk.ToolResult{}, err
		}
		return waiting(begun)(ctx, in, out)
	})
	r := &recorder{}
	for _, p := range sdk.Hooks() {
		if !ofSocket(p.Name) {
			r.subs = append(r.subs, sdk.Subscription{Name: p.Name})
		}
	}
	if _, err := h.hooks.Subscribe("recorder", r); err != nil {
		t.Fatal(err)
	}
	h.start()

	a := h.submit(Submission{Run: "r", Options: rpc.RunOptions{Persona: to("a pirate")}})
	h.answer(h.proposed(), sdk.Accept)
	h.await(a)
	a = h.submit(Submission{Run: "r"})
	h.answer(h.proposed(), sdk.Reject)
	h.await(a)
	h.run(Submission{Run: "r"}) // its model fails
	a = h.submit(Submission{Run: "r"})
	h.answer(h.proposed(), sdk.Accept)
	<-begun
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.run(Submission{Run: "r", ReadOnly: true})
	h.untilIdle()
	if err := h.engine.Reset(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.tellsAll()
	mu.Lock()
	ahead = 8 * day
	mu.Unlock()
	if err := h.engine.Expire(context.Background(), week); err != nil {
		t.Fatal(err)
	}
	if err := h.engine.Delete(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	for _, sub := range r.subs {
		if !slices.Contains(r.heard, sub.Name) {
			t.Errorf("%s never came", sub.Name)
		}
	}
	if len(r.knows) > 0 {
		t.Errorf("the persona of the run was told with %v", r.knows)
	}
}
