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
	} {
		t.Run(name, func(t *testing.T) {
			var w abreast
			defer w.begin(me)()
			end := w.begin(sibling)
			call := func(run int64, changes bool, named []string, done ...sdk.FileChange) error {
				_, err := w.call(run, project, named, changes, true, func() (sdk.ToolResult, error) { return sdk.ToolResult{Changes: done}, nil })
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
