package engine

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// preparing makes bash a tool that prepares, and tells where it was asked to. What
// it is asked ends with the loop.
func preparing(h *house) (asked chan sdk.Place, ended chan error) {
	asked, ended = make(chan sdk.Place, 8), make(chan error, 8)
	h.tools.become("bash", func(t *sdk.Tool) { t.Prepares = true })
	h.tools.add("stranger", sdk.Annotations{}, false)
	h.tools.become("stranger", func(t *sdk.Tool) { t.Prepares = true })
	h.tools.prepare = func(ctx context.Context, at sdk.Place) error {
		asked <- at
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	}
	return asked, ended
}

// after is a step that comes when its tools were asked to prepare.
func after[T any](asked <-chan T, seen *T, then step) step {
	return func(ctx context.Context, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		select {
		case *seen = <-asked:
		case <-ctx.Done():
			return ctx.Err()
		}
		return then(ctx, req, send, retry)
	}
}

// TestToolsPrepareWhileTheModelThinks: once a loop, in the background, and no
// longer than the loop. Whoever nobody vouches for is not asked.
func TestToolsPrepareWhileTheModelThinks(t *testing.T) {
	h := prepareHouse(t)
	asked, ended := preparing(h)
	var first, second sdk.Place
	h.models.steps = []step{after(asked, &first, calls(numbered("read", 1))), say("done"), after(asked, &second, say("done"))}
	h.start()
	for _, seen := range []*sdk.Place{&first, &second} {
		a := h.submit(Submission{})
		if l := h.await(a); l.Status != sdk.StatusOK {
			t.Fatalf("ended %d %s", l.Status, l.Reason)
		}
		<-ended
		want := sdk.Place{Tool: "bash", Run: a.Run.Key, Project: h.project, RunDir: filepath.Join(h.config.DataDir, "runs", a.Run.Key)}
		if *seen != want {
			t.Errorf("asked for %+v, want %+v", *seen, want)
		}
	}
	if err := h.engine.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 0 || len(ended) != 0 {
		t.Errorf("%d more were asked, %d more ended", len(asked), len(ended))
	}
}

// TestNothingIsPreparedThatIsNotOffered: to a loop that only reads, and to an
// agent without the tool.
func TestNothingIsPreparedThatIsNotOffered(t *testing.T) {
	h := prepareHouse(t, say("done"), say("done"))
	asked, _ := preparing(h)
	h.start()
	for _, s := range []Submission{{ReadOnly: true}, {Agent: "reader"}} {
		if l := h.await(h.submit(s)); l.Status != sdk.StatusOK {
			t.Fatalf("ended %d %s", l.Status, l.Reason)
		}
	}
	if err := h.engine.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 0 {
		t.Errorf("asked for %+v", <-asked)
	}
}

// TestPreparingFailsNoTurn whatever comes of it.
func TestPreparingFailsNoTurn(t *testing.T) {
	for name, prepare := range map[string]func(){"an error": func() {}, "a panic": func() { panic("preparing") }} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t)
			preparing(h)
			over, seen := make(chan struct{}, 1), struct{}{}
			h.tools.prepare = func(context.Context, sdk.Place) error {
				defer func() { over <- struct{}{} }()
				prepare()
				return errors.New("there is no Podman")
			}
			h.models.steps = []step{after(over, &seen, say("done"))}
			h.start()
			if l := h.await(h.submit(Submission{})); l.Status != sdk.StatusOK {
				t.Errorf("ended %d %s", l.Status, l.Reason)
			}
		})
	}
}
