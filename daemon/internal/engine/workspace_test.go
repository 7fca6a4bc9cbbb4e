package engine

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestWorkspaceModeWaitsForTheView: policy is asked about a call with side effects
// once it is known whether there is a view, however fast the model was; a read
// waits for nothing.
func TestWorkspaceModeWaitsForTheView(t *testing.T) {
	h := prepareAsking(t, calls(numbered("read", 1)), calls(numbered("write", 1)), say("done"))
	h.agents["default"] = sdk.Agent{Mode: sdk.ModeWorkspace, WithoutView: sdk.ModeInteractive}
	h.tools.become("bash", func(t *sdk.Tool) { t.Prepares = true })
	read := make(chan struct{}, 1)
	h.policy.set(func(r sdk.PolicyRequest) sdk.Decision {
		_, known := h.access.View(r.Project)
		switch {
		case r.Tool.Annotations.ReadOnly && !known:
			read <- struct{}{}
		case r.Tool.Annotations.ReadOnly, !known:
			return sdk.Decision{Verdict: sdk.Deny, Rule: "test", Reason: "asked at the wrong time"}
		}
		return sdk.Decision{Verdict: sdk.Allow, Rule: "test", Reason: "it is allowed"}
	})
	h.tools.prepare = func(ctx context.Context, _ sdk.Place) error {
		select {
		case <-read: // the turn of the read did not wait
		case <-ctx.Done():
			return ctx.Err()
		}
		h.access.found(sdk.Prepared{View: true})
		return nil
	}
	h.start()
	if l := h.await(h.submit(Submission{})); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d %s", l.Status, l.Reason)
	}
	for _, r := range h.policy.all() {
		if r.Mode != sdk.ModeWorkspace || r.Otherwise != sdk.ModeInteractive {
			t.Errorf("policy was asked with %s, otherwise %s", r.Mode, r.Otherwise)
		}
	}
}

// TestWorkspaceModeWantsAView: who names the mode is refused where it is not
// possible, and it is found out where nobody knows. Whose agent has it is told of
// the mode that holds.
func TestWorkspaceModeWantsAView(t *testing.T) {
	for name, c := range map[string]struct {
		found   *sdk.Prepared // before the prompt
		prepare *sdk.Prepared // by preparing; nil is an error
		says    string
	}{
		"it is there":            {&sdk.Prepared{View: true}, nil, ""},
		"it is not":              {&sdk.Prepared{Reason: "the kernel is too old"}, nil, "mode workspace is not possible here: the kernel is too old"},
		"it turns out to be":     {nil, &sdk.Prepared{View: true}, ""},
		"it turns out not to be": {nil, &sdk.Prepared{Reason: "no user namespaces"}, "no user namespaces"},
		"it cannot be found out": {nil, nil, "no container could be made"},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareAsking(t, say("done"), say("done"))
			h.agents["default"] = sdk.Agent{Mode: sdk.ModeWorkspace, WithoutView: sdk.ModeInteractive}
			h.tools.become("bash", func(t *sdk.Tool) { t.Prepares = true })
			h.tools.prepare = func(context.Context, sdk.Place) error {
				if c.prepare == nil {
					return errors.New("no Podman")
				}
				h.access.found(*c.prepare)
				return nil
			}
			if c.found != nil {
				h.access.found(*c.found)
			}
			h.start()
			_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "p", Mode: sdk.ModeWorkspace})
			switch {
			case c.says == "" && err != nil, c.says != "" && (sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), c.says)):
				t.Fatalf("got %v", err)
			}
			a := h.submit(Submission{})
			want := sdk.ModeWorkspace
			if view, known := h.access.View(""); known && !view.View {
				want = sdk.ModeInteractive
			}
			if a.Mode != want {
				t.Errorf("the agent's mode is told as %s, want %s", a.Mode, want)
			}
			h.untilIdle()
		})
	}
}

// TestChannelsHaveNoWorkspaceMode: what an agent's mode would be is another for a
// channel, which cannot ask for it either.
func TestChannelsHaveNoWorkspaceMode(t *testing.T) {
	h := prepareAsking(t, say("done"), say("done"))
	h.agents["default"], h.agents["chat"] = sdk.Agent{Mode: sdk.ModeWorkspace}, sdk.Agent{Mode: sdk.ModeWorkspace, WithoutView: sdk.ModeInteractive}
	h.access.found(sdk.Prepared{View: true})
	h.start()
	for agent, want := range map[string]sdk.Mode{"default": sdk.ModeRestricted, "chat": sdk.ModeInteractive} {
		a := h.submit(Submission{Agent: agent, Origin: chat})
		if o := optionsOf(h.await(a)); o.Mode != want || a.Mode != want {
			t.Errorf("%s: kept %s, told %s, want %s", agent, o.Mode, a.Mode, want)
		}
	}
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "p", Mode: sdk.ModeWorkspace, Origin: chat}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("asked for by name: %v", err)
	}
}

// TestACallThatNeedsAView says so to its tool; one that cannot have it was not made,
// and what there is now is found out before the next one is decided about.
func TestACallThatNeedsAView(t *testing.T) {
	h := prepareAsking(t, calls(numbered("bash", 1)), calls(numbered("bash", 2)), say("done"))
	h.agents["default"] = sdk.Agent{Mode: sdk.ModeWorkspace}
	h.tools.become("bash", func(t *sdk.Tool) { t.Prepares = true })
	h.access.found(sdk.Prepared{View: true})
	h.policy.set(func(r sdk.PolicyRequest) sdk.Decision {
		view, _ := h.access.View(r.Project)
		return sdk.Decision{Verdict: sdk.Allow, Rule: "test", Reason: "it is allowed", View: view.View}
	})
	var gone atomic.Bool
	h.tools.prepare = func(context.Context, sdk.Place) error {
		if gone.Load() { // the first time is when the loop begins
			h.access.found(sdk.Prepared{Reason: "the helper has ended"})
		}
		return nil
	}
	var views []bool
	h.tools.on("bash", func(_ context.Context, call sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		views = append(views, call.View)
		gone.Store(true)
		if call.View {
			return sdk.ToolResult{}, sdk.Errorf(sdk.Unavailable, "there is no view")
		}
		return sdk.ToolResult{Success: true}, nil
	})
	h.start()
	l := h.await(h.submit(Submission{}))
	if len(views) != 2 || !views[0] || views[1] {
		t.Errorf("ended %d %s; the calls needed a view: %v", l.Status, l.Reason, views)
	}
}
