package engine

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestChangesForAnother: what a plugin calls is alone in changing files, but where the call that it is for is that already.
func TestChangesForAnother(t *testing.T) {
	files := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "write"}, Grants: []string{sdk.GrantProject}}
	command := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "bash", Command: "command"}, Grants: []string{sdk.GrantProject}}
	at := func(path, parent string, follows bool, tool sdk.Tool) *action {
		x := &action{tool: tool}
		x.Path, x.Parent, x.Follows = path, parent, follows
		return x
	}
	for name, c := range map[string]struct {
		by   []*action
		x    *action
		want bool
	}{
		"of the model":             {nil, at("x", "", false, files), false},
		"for a tool for files":     {[]*action{at("a", "", false, files)}, at("x", "a", false, files), true},
		"for a command":            {[]*action{at("a", "", false, command)}, at("x", "a", false, files), false},
		"for one that is for that": {[]*action{at("a", "", false, files), at("b", "a", false, command)}, at("x", "b", false, files), true},
		"after it":                 {[]*action{at("a", "", false, files)}, at("x", "a", true, files), false},
	} {
		var turn turn
		turn.actions, turn.children.actions = c.by[:min(len(c.by), 1)], append(c.by[min(len(c.by), 1):], c.x)
		if got := turn.changesFor(c.x); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// worked is access to a project in which calls work on what they name.
type worked struct{ *fakeAccess }

func (worked) Worked(r sdk.PolicyRequest) []string {
	var named struct{ Path string }
	if json.Unmarshal(r.Arguments, &named) != nil || named.Path == "" {
		return nil
	}
	return []string{named.Path}
}

// TestSiblingsAtAFile: the tools for files of a child conflict with what its sibling changed, until it has read that.
func TestSiblingsAtAFile(t *testing.T) {
	read, written := make(chan struct{}), make(chan struct{})
	after := func(c chan struct{}, s step) step {
		return func(ctx context.Context, r sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
			select {
			case <-c:
			case <-ctx.Done():
				return ctx.Err()
			}
			return s(ctx, r, send, retry)
		}
	}
	before := func(c chan struct{}, s step) step {
		return func(ctx context.Context, r sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
			close(c)
			return s(ctx, r, send, retry)
		}
	}
	h := asksIn(delegatingHouse(t, map[string][]step{
		"do it": {calls(giving("worker", "slow"), giving("worker", "fast")), say("done")},
		"slow": {calls(numbered("read", 1)), before(read, after(written, calls(numbered("write", 1)))),
			calls(numbered("read", 1)), calls(numbered("write", 1)), say("at last")},
		"fast": {after(read, calls(numbered("write", 1))), before(written, say("first"))},
	}))
	h.access.found(sdk.Prepared{View: true})
	h.config.Access = worked{h.access}
	h.policy.set(func(sdk.PolicyRequest) sdk.Decision {
		return sdk.Decision{Verdict: sdk.Allow, Rule: "test", Reason: "it is allowed"}
	})
	h.tools.does["write"] = func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Success: true, Output: "ok", Changes: []sdk.FileChange{{Path: "f1", After: &sdk.FileState{Kind: "file"}}}}, nil
	}
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Fatalf("the loop ended with %+v", l)
	}
	children := h.childrenIn(a.Run.ID)
	if got, want := h.outcomes(children[0].ID), "read:resolved write:failed:conflict read:resolved write:resolved"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	h.check(a.Run.ID, children[0].ID, children[1].ID)
}
