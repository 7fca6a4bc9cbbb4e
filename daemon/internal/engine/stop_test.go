package engine

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bothyd/bothy/sdk"
)

func TestCloseDuringACompletion(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, hanging(begun))
	a := h.submit(Submission{})
	waits := h.submit(Submission{Run: a.Run.Alias})
	<-begun
	if err := h.engine.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "p"}); sdk.OutcomeOf(err) != sdk.Unavailable {
		t.Errorf("a closed engine took a prompt: %v", err)
	}
	loops, err := h.store.Loops(t.Context(), a.Run.ID)
	if err != nil || loops[0].Status != sdk.StatusRunning || loops[1].Status != sdk.StatusQueued {
		t.Errorf("%+v, %v", loops, err)
	}
	h.start() // both go on, in order
	for _, x := range []Accepted{a, waits} {
		if l := h.await(x); l.Status != 200 {
			t.Errorf("%d ended %d: %s", l.Sequence, l.Status, l.Reason)
		}
	}
	if asked := h.models.asked(); len(asked) != 3 || len(asked[1].Messages) != len(asked[0].Messages) {
		t.Errorf("the model was asked %d times", len(asked))
	}
	h.check(a.Run.ID)
}

func TestCloseLetsAToolEnd(t *testing.T) {
	begun, release := make(chan struct{}, 2), make(chan struct{})
	h := newHouse(t, calls(numbered("write", 1), numbered("write", 2)))
	h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		begun <- struct{}{}
		<-release
		return ok("written")
	})
	a := h.submit(Submission{})
	<-begun
	closed := make(chan error, 1)
	go func() { closed <- h.engine.Close(context.Background()) }()
	<-h.engine.draining.Done()
	close(release)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if got, want := h.outcomes(a.Run.ID), "write:resolved write:streaming"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := h.actions(a.Run.ID)[1].Phase; got != sdk.PhaseRecorded {
		t.Errorf("the second call is %s", got)
	}
	h.start()
	if l := h.await(a); l.Status != 200 || len(h.tools.calledTools()) != 2 {
		t.Errorf("ended %d %q, called %v", l.Status, l.Stop, h.tools.calledTools())
	}
	h.check(a.Run.ID)
}

// TestCloseCutsWhatDoesNotEnd: after the grace, or at once when a second signal
// ends the patience. Nobody claims to know what the cut call did.
func TestCloseCutsWhatDoesNotEnd(t *testing.T) {
	for name, c := range map[string]struct {
		patience context.Context
		least    time.Duration
	}{
		"after the grace": {context.Background(), defaultGrace},
		"at once":         {ended(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := make(chan struct{}, 1)
				h := newHouse(t, calls(numbered("bash", 1), numbered("write", 2)))
				h.tools.on("bash", waiting(begun))
				a := h.submit(Submission{})
				<-begun
				start := time.Now()
				if err := h.engine.Close(c.patience); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took < c.least || took > c.least+time.Second {
					t.Errorf("it took %v", took)
				}
				if got := h.actions(a.Run.ID); got[0].Phase != sdk.PhaseStarted || got[0].Body != "so far" || got[1].Phase != sdk.PhaseRecorded {
					t.Errorf("%+v", got)
				}
				h.start()
				if l := h.await(a); l.Status != 200 {
					t.Errorf("ended %d: %s", l.Status, l.Reason)
				}
				if got, want := h.outcomes(a.Run.ID), "bash:failed:interrupted write:failed:aborted"; got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				if body := h.actions(a.Run.ID)[0].Body; !strings.HasPrefix(body, "so far\n\nthe daemon ended while this call ran") {
					t.Errorf("the action says %q", body)
				}
				h.check(a.Run.ID)
			})
		})
	}
}

// TestCutKeepsWhatHadEnded: a call that came to its end while it was cut is
// recorded with all that it did, and not made again.
func TestCutKeepsWhatHadEnded(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, calls(numbered("write", 1)))
	h.tools.on("write", func(ctx context.Context, _ sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return sdk.ToolResult{Success: true, Output: "written", Changes: []sdk.FileChange{{Path: "f1"}}}, nil
	})
	a := h.submit(Submission{})
	<-begun
	h.cut()
	if got := h.outcomes(a.Run.ID); got != "write:resolved" || len(h.entries(a.Run.ID, "change://")) != 1 {
		t.Errorf("recorded are %s and %d changes", got, len(h.entries(a.Run.ID, "change://")))
	}
	h.start()
	if l := h.await(a); l.Status != 200 || len(h.tools.calledTools()) != 1 {
		t.Errorf("ended %d, called %v", l.Status, h.tools.calledTools())
	}
	h.check(a.Run.ID)
}

// TestDeadlineBeforeTheRecord: calls that come too late are recorded and not
// made.
func TestDeadlineBeforeTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := prepareHouse(t, calls(numbered("write", 1)))
		h.agents["default"] = sdk.Agent{Guards: sdk.Guards{Deadline: sdk.Duration(time.Second)}}
		h.hooks.TurnResponse.On(10, "slow", func(context.Context, sdk.TurnResult) error {
			time.Sleep(2 * time.Second)
			return nil
		})
		h.start()
		a := h.submit(Submission{})
		if l := h.await(a); l.Stop != "deadline" {
			t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
		}
		if got := h.outcomes(a.Run.ID); got != "write:failed:aborted" || len(h.tools.calledTools()) != 0 {
			t.Errorf("%s, called %v", got, h.tools.calledTools())
		}
		h.check(a.Run.ID)
	})
}

// ended is a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
