package abreast

import (
	"context"
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
			var w Children
			defer w.Begin(me)()
			end := w.Begin(sibling)
			call := func(run int64, changes bool, named []string, done ...sdk.FileChange) error {
				_, err := w.Call(t.Context(), run, project, named, changes, true, func() (sdk.ToolResult, error) { return sdk.ToolResult{Changes: done}, nil })
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
			w.Begin(3)()
			if err := call(3, true, []string{"a"}, c.changed...); err != nil {
				t.Errorf("of a run that is no child: %v", err)
			}
		})
	}
}

// TestAbreastInTurn: who changes files waits for a sibling that does, for as long as its call may take, and then did nothing.
func TestAbreastInTurn(t *testing.T) {
	const me, sibling, project = 1, 2, 7
	var w Children
	defer w.Begin(me)()
	defer w.Begin(sibling)()
	begun, over := make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	go func() {
		_, err := w.Call(t.Context(), sibling, project, []string{"a"}, true, true, func() (sdk.ToolResult, error) {
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
		_, err := w.Call(ctx, me, project, []string{"b"}, true, alone, func() (sdk.ToolResult, error) {
			made++
			return sdk.ToolResult{}, nil
		})
		return err
	}
	if err := call(late, project, true); sdk.OutcomeOf(err) != sdk.Conflict || made != 0 {
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
