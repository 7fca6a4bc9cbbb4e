package engine

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// writes reports whether a change brings an action of the run to a phase.
func writes(c sdk.Change, run int64, phase sdk.Phase) bool {
	return c.Run == run && slices.ContainsFunc(c.Writes, func(w sdk.Write) bool { return w.Phase == phase })
}

var errFull = sdk.Errorf(sdk.Unavailable, "the disk is full")

// TestFullDiskBeforeAnEffect: an effect whose intent is not durable does not
// happen, and the loop goes on when there is room (fault 30).
func TestFullDiskBeforeAnEffect(t *testing.T) {
	for name, c := range map[string]struct {
		steps []step
		made  int // before there is room
	}{
		"the first of an answer": {[]step{calls(numbered("write", 1))}, 0},
		"the next of an answer":  {[]step{calls(numbered("write", 1), numbered("write", 2))}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, c.steps...)
			a, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "r"})
			if err != nil {
				t.Fatal(err)
			}
			run := a.Run.ID
			tried := make(chan struct{}, 1000)
			starts := 0
			h.store.setRefuse(func(_ int, change sdk.Change) error {
				if !writes(change, run, sdk.PhaseStarted) {
					return nil
				}
				if starts++; starts <= c.made {
					return nil
				}
				tried <- struct{}{}
				return errFull
			})
			a = h.submit(Submission{Run: "r"})
			for range 3 {
				<-tried
			}
			if n := len(h.tools.calledTools()); n != c.made {
				t.Errorf("%d calls were made without a record", n-c.made)
			}
			h.store.setRefuse(nil)
			if l := h.await(a); l.Status != 200 || len(h.models.asked()) != 2 {
				t.Errorf("ended %d: %s", l.Status, l.Reason)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestFullDiskAfterAnEffect: the result is held until there is room. Meanwhile
// no new work is taken and no other run has an effect. A daemon that dies first
// leaves a call of which nobody knows what it did (fault 31).
func TestFullDiskAfterAnEffect(t *testing.T) {
	for name, dies := range map[string]bool{"and there is room again": false, "and the daemon dies": true} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, calls(numbered("write", 1), numbered("write", 2)), calls(numbered("bash", 1), numbered("bash", 2)))
			made, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "full"})
			if err != nil {
				t.Fatal(err)
			}
			begun, release := make(chan struct{}, 2), make(chan struct{})
			h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
				begun <- struct{}{}
				<-release
				return ok("written")
			})
			ran := make(chan struct{}, 2)
			other := h.submit(Submission{Run: "other"})
			<-begun // the other one is in the midst of its first call
			tried := make(chan struct{}, 1000)
			h.store.setRefuse(func(_ int, c sdk.Change) error {
				if !writes(c, made.Run.ID, sdk.PhaseEnded) {
					return nil
				}
				tried <- struct{}{}
				return errFull
			})
			h.tools.on("bash", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
				ran <- struct{}{}
				return ok("run")
			})
			full := h.submit(Submission{Run: "full"})
			<-tried
			<-tried
			close(release)
			h.until("the other one's first call has its end", func() bool { return h.actions(other.Run.ID)[0].Phase == sdk.PhaseEnded })
			h.refusesWork()
			if got := h.actions(other.Run.ID)[1].Phase; got != sdk.PhaseRecorded || len(ran) != 1 {
				t.Errorf("the other run's next call is %s, %d calls ran in the full one", got, len(ran))
			}
			if dies {
				h.cut()
			}
			h.store.setRefuse(nil)
			want := "bash:resolved bash:resolved"
			if dies {
				h.start()
				want = "bash:failed:interrupted bash:failed:aborted"
			}
			for _, a := range []Accepted{full, other} {
				if l := h.await(a); l.Status != 200 {
					t.Errorf("ended %d: %s", l.Status, l.Reason)
				}
			}
			if got := h.outcomes(full.Run.ID); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if n := strings.Count(strings.Join(h.tools.calledTools(), " "), "bash"); n != len(ran) || dies && n != 1 {
				t.Errorf("bash ran %d times", n)
			}
			h.check(full.Run.ID, other.Run.ID)
			h.submit(Submission{Run: "new"})
		})
	}
}

// refusesWork fails unless every way to new work is closed, with the reason.
func (h *house) refusesWork() {
	h.t.Helper()
	ctx := context.Background()
	_, submit := h.engine.Submit(ctx, Submission{Project: h.project, Prompt: "p"})
	_, start := h.engine.StartRun(ctx, Submission{Project: h.project, Run: "another"})
	_, call := h.engine.CallTool(ctx, ToolCall{Project: h.project, Approved: true, Tool: "read"})
	for way, err := range map[string]error{"submit": submit, "start": start, "call": call} {
		if sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "the disk is full") {
			h.t.Errorf("%s answers %v", way, err)
		}
	}
}

// TestResultOfAClientsCallIsHeld: who called gets the answer when it is durable.
func TestResultOfAClientsCallIsHeld(t *testing.T) {
	h := newHouse(t)
	tried := make(chan struct{}, 1000)
	h.store.setRefuse(func(_ int, c sdk.Change) error {
		if c.CloseTurn == nil {
			return nil
		}
		tried <- struct{}{}
		return errFull
	})
	answered := make(chan ToolDone, 1)
	go func() { answered <- h.call(ToolCall{Tool: "write"}) }()
	<-tried
	<-tried
	h.store.setRefuse(nil)
	if done := <-answered; done.Entry.State != sdk.StateResolved || len(h.tools.calledTools()) != 1 {
		t.Errorf("%+v", done.Entry)
	}
	h.check(1)
}

// TestClientsCallWithoutRoom is refused at once: nothing has happened, so
// nothing is held, and nobody else has to wait.
func TestClientsCallWithoutRoom(t *testing.T) {
	h := newHouse(t)
	h.store.setRefuse(func(int, sdk.Change) error { return errFull })
	_, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Approved: true, Tool: "write"})
	wants(t, err, sdk.Unavailable, "the disk is full")
	if why := h.engine.backlog.Reason(); why != nil || len(h.tools.calledTools()) != 0 {
		t.Errorf("%v; called %v", why, h.tools.calledTools())
	}
}

// TestRetryWithoutRoom: that a retry cannot be told is no reason to give up.
func TestRetryWithoutRoom(t *testing.T) {
	h := newHouse(t, func(ctx context.Context, r sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		if err := retry(sdk.Retry{Attempt: 1}); err != nil {
			return err
		}
		return say("fine")(ctx, r, send, retry)
	})
	h.store.setRefuse(func(_ int, c sdk.Change) error {
		if len(c.Notes) > 0 && len(c.Writes) == 0 {
			return errFull
		}
		return nil
	})
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != 200 {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	h.check(a.Run.ID)
}

// TestFailureThatWaitingDoesNotMend ends the loop, and keeps nobody else from
// working.
func TestFailureThatWaitingDoesNotMend(t *testing.T) {
	for _, outcome := range []sdk.Outcome{sdk.Internal, sdk.Validation} {
		h := prepareHouse(t, calls(numbered("write", 1)))
		h.start()
		h.engine.patience = 100 * time.Millisecond
		h.store.setRefuse(func(_ int, c sdk.Change) error {
			if writes(c, c.Run, sdk.PhaseEnded) && c.EndLoop == nil {
				return sdk.Errorf(outcome, "this cannot be stored")
			}
			return nil
		})
		a := h.submit(Submission{})
		if l := h.await(a); l.Status != 500 || !strings.Contains(l.Reason, "this cannot be stored") {
			t.Errorf("%s: ended %d: %s", outcome, l.Status, l.Reason)
		}
		h.store.setRefuse(nil)
		h.run(Submission{})
		h.check(a.Run.ID)
	}
}

// TestAbortOfWorkThatIsTakenUp: within a second, whatever the recovery waits
// for.
func TestAbortOfWorkThatIsTakenUp(t *testing.T) {
	for name, c := range map[string]struct {
		left    []sdk.Write
		prepare func(r *ruin, begun chan struct{}, hang chan struct{})
		want    string
	}{
		"a plugin that does not answer what a call came to": {
			[]sdk.Write{answered("bash", "bash"), started(0, "bash"), started(1, "bash")},
			func(r *ruin, begun, hang chan struct{}) {
				r.tools.settle = func(sdk.Invocation) (sdk.ToolResult, error) {
					begun <- struct{}{}
					<-hang
					return ok("late")
				}
			},
			"bash:failed:interrupted bash:failed:interrupted",
		},
		"a call that is made again": {
			[]sdk.Write{answered("read"), started(0, "read")},
			func(r *ruin, begun, _ chan struct{}) { r.tools.on("read", waiting(begun)) },
			"read:cancelled:aborted",
		},
		"a completion that is asked again": {
			nil,
			func(r *ruin, begun, _ chan struct{}) { r.models.steps = []step{silent(begun)} },
			"",
		},
		"a person who does not decide": {
			[]sdk.Write{answered("write"), at(0, "write", sdk.PhaseRecorded, sdk.StateProposed, "")},
			func(r *ruin, begun, _ chan struct{}) {
				r.store.setRefuse(func(_ int, c sdk.Change) error {
					if c.Status == sdk.StatusProposed {
						begun <- struct{}{}
					}
					return nil
				})
			},
			"write:failed:aborted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRuin(t)
				r.opened()
				r.left(sdk.Change{Writes: c.left})
				begun, hang := make(chan struct{}, 2), make(chan struct{})
				c.prepare(r, begun, hang)
				r.start()
				<-begun
				start := time.Now()
				if err := r.engine.Abort(t.Context(), r.run.ID); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took > time.Second {
					t.Errorf("it took %v", took)
				}
				if l := r.await(Accepted{Run: r.run, Loop: r.loops[0]}); l.Stop != "aborted" {
					t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
				}
				if got := r.outcomes(r.run.ID); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				close(hang)
				r.await(Accepted{Run: r.run, Loop: r.loops[1]})
				r.check(r.run.ID)
			})
		})
	}
}

// TestAbortWithoutRoom: the work ends within a second and the person is told
// why its end cannot be seen yet.
func TestAbortWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, calls(numbered("write", 1), numbered("write", 2)))
		tried := make(chan struct{}, 1000)
		h.store.setRefuse(func(_ int, c sdk.Change) error {
			if !writes(c, c.Run, sdk.PhaseEnded) {
				return nil
			}
			tried <- struct{}{}
			return errFull
		})
		a := h.submit(Submission{})
		<-tried
		start := time.Now()
		if err := h.engine.Abort(t.Context(), a.Run.ID); sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("%v", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %v", took)
		}
		h.store.setRefuse(nil)
		if l := h.await(a); l.Stop != "aborted" {
			t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
		}
		if got := h.outcomes(a.Run.ID); got != "write:resolved write:failed:aborted" {
			t.Error(got)
		}
		h.check(a.Run.ID)
	})
}
