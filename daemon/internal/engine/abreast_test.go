package engine

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestAbreast: what a sibling changed is not written over by who has not looked since.
func TestAbreast(t *testing.T) {
	const me, sibling, project = 1, 2, 7
	for name, c := range map[string]struct {
		changed []sdk.FileChange // by the sibling
		before  []string         // what is read before that
		after   []string
		writes  string
		clash   bool
	}{
		"never read":                  {[]sdk.FileChange{{Path: "a"}}, nil, nil, "a", true},
		"read before":                 {[]sdk.FileChange{{Path: "a"}}, []string{"a"}, nil, "a", true},
		"read since":                  {[]sdk.FileChange{{Path: "a"}}, nil, []string{"a"}, "a", false},
		"another path":                {[]sdk.FileChange{{Path: "ab"}}, nil, nil, "a", false},
		"moved from it":               {[]sdk.FileChange{{Path: "b", From: "a"}}, nil, nil, "a", true},
		"in a folder":                 {[]sdk.FileChange{{Path: "d/a"}}, nil, nil, "d", true},
		"in a folder that was listed": {[]sdk.FileChange{{Path: "d/a"}}, nil, []string{"d"}, "d", false},
		"listed, and not read":        {[]sdk.FileChange{{Path: "d/a"}}, nil, []string{"d"}, "d/a", true},
		"a folder that is gone":       {[]sdk.FileChange{{Path: "d"}}, nil, nil, "d/a", true},
		"in the project":              {[]sdk.FileChange{{Path: "d/a"}}, nil, nil, ".", true},
		"in the project, listed":      {[]sdk.FileChange{{Path: "d/a"}}, nil, []string{"."}, ".", false},
	} {
		t.Run(name, func(t *testing.T) {
			var w abreast
			defer w.begin(me)()
			end := w.begin(sibling)
			call := func(run int64, changes bool, named []string, done ...sdk.FileChange) error {
				_, err := w.call(t.Context(), run, project, named, changes, true, func() (sdk.ToolResult, error) { return sdk.ToolResult{Changes: done}, nil })
				return err
			}
			err := errors.Join(call(me, false, c.before), call(sibling, true, nil, c.changed...))
			end()
			if err = errors.Join(err, call(me, false, c.after)); err != nil {
				t.Fatal(err)
			}
			if err = call(me, true, []string{c.writes}); (err != nil) != c.clash || c.clash && sdk.OutcomeOf(err) != sdk.Conflict {
				t.Errorf("%v", err)
			}
			w.begin(3)()
			if err := call(3, true, []string{"a"}, c.changed...); err != nil {
				t.Errorf("of a run that is no child: %v", err)
			}
		})
	}
}

// TestAbreastInTurn: who changes files waits for a sibling that does, for as long as its call may take, and then did nothing.
func TestAbreastInTurn(t *testing.T) {
	const me, sibling, project = 1, 2, 7
	var w abreast
	defer w.begin(me)()
	defer w.begin(sibling)()
	begun, over := make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	go func() {
		_, err := w.call(t.Context(), sibling, project, []string{"a"}, true, true, func() (sdk.ToolResult, error) {
			close(begun)
			<-over
			return sdk.ToolResult{}, nil
		})
		ended <- err
	}()
	<-begun
	late, cancel := context.WithCancel(t.Context())
	cancel()
	made := 0
	call := func(ctx context.Context, project int64, alone bool) error {
		_, err := w.call(ctx, me, project, []string{"b"}, true, alone, func() (sdk.ToolResult, error) {
			made++
			return sdk.ToolResult{}, nil
		})
		return err
	}
	if err := call(late, project, true); sdk.OutcomeOf(err) != sdk.Conflict || wasMade(err) || made != 0 {
		t.Errorf("%v after %d calls", err, made)
	}
	if err := errors.Join(call(t.Context(), project+1, true), call(t.Context(), project, false)); err != nil || made != 2 { // elsewhere, and for a call of its own
		t.Errorf("%v after %d calls", err, made)
	}
	close(over)
	if err := errors.Join(<-ended, call(t.Context(), project, true)); err != nil || made != 3 {
		t.Errorf("%v after %d calls", err, made)
	}
}

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
