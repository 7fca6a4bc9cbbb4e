package engine

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bothyd/bothy/daemon/internal/compact"
	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/guard"
	"github.com/bothyd/bothy/daemon/internal/mirror"
	"github.com/bothyd/bothy/daemon/internal/tape"
	"github.com/bothyd/bothy/sdk"
)

// stopStopping is never recorded: the daemon stops, and the next one goes on.
const stopStopping = "stopping"

// activeLoop is a loop while it runs.
type activeLoop struct {
	project sdk.Project
	run     sdk.Run
	loop    sdk.Loop
	options atomic.Pointer[loopGiven] // see given
	mode    sdk.Mode
	asker   string // of what is proposed; see askers
	agent   sdk.Agent
	choice  sdk.ModelChoice
	plugged []sdk.Tool    // the plugins' tools that the turn offers
	own     sdk.TurnTools // the own tools of the turn; nil when there are none
	offered []sdk.Tool    // what the model is shown
	skills  string        // what the own tools have to say in the system text
	mirror  *mirror.Mirror

	head  sdk.ModelChoice // the model that the loop began with
	chain []string        // the names of those that may answer in its place still

	ceiling int    // in tokens, learned from the server of choice, that refused more; 0 is none
	missed  string // what was last said of the own tools
	long    bool   // people were told that its prompts come near the end of the context

	instructed []sdk.SystemInstructions    // the files that the system text has
	warned     map[string]bool             // what was said of instructions
	told       map[string]sdk.Instructions // what the run was told below folders, by file; nil before it is looked for

	first    []sdk.Write // of the run, with the turn that is opened next
	turns    int         // opened so far
	images   bool        // its prompt has some
	looked   string      // the model of which it was asked what it takes
	gathered bool        // the servers of MCP that it may use were started
	barred   error       // why the server of the tool was not started
	prepared bool        // what its calls need is being made ready, or is
	making   sync.WaitGroup
	turn     *turn // the open one
	from     stage // of that turn, when it was taken up; stageNone for a fresh one

	recorded bool         // a cassette is made of it
	played   *tape.Played // in the place of its model; nil is nothing

	joins    bool // a call that no loop makes, and that the model of the run reads
	approved bool // a call that no loop makes, by somebody who may approve it

	plain int       // its answers in plain text in a row
	team  *teamTurn // what its turn is for, of a team

	paid int64 // in the place of the loop, of a rest: the account of what is asked of models; see account

	left  bool                   // an earlier daemon began it
	had   []leftTurn             // what it had done by then; nil once it goes on
	asked []sdk.PluginCompletion // by plugins, of models
}

// prepare resolves what the loop's row only names.
func (e *Engine) prepare(ctx context.Context, a *activeLoop) error {
	err := e.locate(ctx, a)
	if err != nil {
		return err
	}
	if a.agent, err = e.keptAgent(ctx, a); err != nil {
		return err
	}
	if a.given().Compacts {
		a.agent = compact.Agent(a.agent)
	}
	e.options(a)
	if err := e.choose(ctx, a); err != nil {
		return err
	}
	a.head, a.chain = a.choice, a.choice.Fallback
	e.keepModel(ctx, a)
	if err := os.MkdirAll(e.runDir(a.run), 0o700); err != nil {
		return sdk.Errorf(sdk.Unavailable, "make the run's folder: %w", err)
	}
	if err := e.watch(ctx, a); err != nil {
		return err
	}
	e.price(ctx, a.loop.ID, &a.choice)
	return nil
}

// locate reads the loop's run and project.
func (e *Engine) locate(ctx context.Context, a *activeLoop) (err error) {
	if a.run, err = e.cfg.Store.Run(ctx, a.loop.Run); err != nil {
		return err
	}
	a.project, err = e.cfg.Store.Project(ctx, a.run.Project)
	return err
}

// ending is how a loop ends, and what is recorded with it.
type ending struct {
	status int
	stop   string
	reason string
	writes []sdk.Write
}

// loopError is an error with the ending it means.
type loopError struct {
	ending
	cause error
}

func (e *loopError) Error() string { return e.reason }
func (e *loopError) Unwrap() error { return e.cause }

// endOf says which end an error means. What cancelled the loop's context goes
// before anything that failed because of it.
func endOf(ctx context.Context, err error) ending {
	var own *loopError
	isOwn := errors.As(err, &own)
	end := ending{status: sdk.StatusFailed, stop: sdk.StopFailed, reason: err.Error()}
	if isOwn {
		end = own.ending
	}
	var late *guard.Late
	var costly *guard.Costly
	var other *tape.Mismatch
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &late):
		return ending{status: sdk.StatusAborted, stop: guard.Deadline, reason: late.Error(), writes: end.writes}
	case errors.Is(cause, errAborted):
		return ending{status: sdk.StatusAborted, stop: sdk.StopAborted, reason: "aborted by a person", writes: end.writes}
	case errors.Is(cause, errCaller):
		return ending{status: sdk.StatusAborted, stop: sdk.StopAborted, reason: errCaller.Error(), writes: end.writes}
	case errors.Is(cause, errStopping), errors.Is(err, errStopping):
		return ending{stop: stopStopping}
	case !isOwn && errors.As(err, &costly):
		end.status, end.stop = sdk.StatusAborted, guard.MaxCost
	case !isOwn && errors.As(err, &other):
		end.stop = sdk.StopMismatch
	case !isOwn && errors.Is(err, ErrConfig):
		end.stop = sdk.StopConfig
	case !isOwn && sdk.OutcomeOf(err) == sdk.Overflow:
		end.status, end.stop = sdk.StatusOverflow, sdk.StopOverflow
	}
	return end
}

// finish ends the loop: every action that has no end gets one, the open turn
// is closed and the loop ended, all in one commit. It is the only place where
// a loop ends. Who follows the run waits for it, and the run takes no other
// prompt before it, so it is tried until the daemon stops. What it returns
// tells the subscribers.
func (e *Engine) finish(ctx context.Context, a *activeLoop, end ending) (tell func()) {
	ctx = context.WithoutCancel(ctx)
	failpoint.Hit(failpoint.FinishBefore)
	swept, receipt, err := e.commitFinish(a, end)
	if err != nil && !passing(err) {
		// Something of the turn is not as it should be; the loop ends all the same.
		e.log.Error("a turn could not be closed; it is closed at the next start", "run", a.loop.Run, "loop", a.loop.Sequence, "error", err)
		swept = nil
		end.unarchived(a, err)
		receipt, err = e.commit(e.base, final, sdk.Change{Run: a.loop.Run, EndLoop: loopEnd(a, end)})
	}
	failpoint.Hit(failpoint.FinishAfter)
	e.guards.End(a.loop.ID)
	if a.given().Caller == 0 { // else it is the caller's
		e.askers.forget(a.asker)
	}
	if err != nil {
		e.log.Error("the end of a loop could not be recorded; it goes on at the next start", "run", a.loop.Run, "loop", a.loop.Sequence, "error", err)
		return func() {}
	}
	return func() {
		e.tellEnded(ctx, a, swept, receipt)
		e.tellLoopEnd(ctx, a, end)
	}
}

func loopEnd(a *activeLoop, end ending) *sdk.LoopEnd {
	return &sdk.LoopEnd{Loop: a.loop.ID, Status: end.status, Reason: end.reason, Stop: end.stop}
}

// commitFinish makes the one commit of finish, and returns which actions it gave
// their end. A person may answer a proposal at the same moment: who is first
// wins, and the end is tried again on what is there then.
func (e *Engine) commitFinish(a *activeLoop, end ending) (swept []*action, receipt sdk.Receipt, err error) {
	change := sdk.Change{Run: a.loop.Run, EndLoop: loopEnd(a, end)}
	if a.run.Status == sdk.StatusProposed {
		change.Status = sdk.StatusRunning // not every end can follow upon waiting
	}
	end.writes = append(end.writes, e.leaveSteps(a, end)...)
	if err = e.archive(a, &end); err != nil {
		return nil, receipt, err
	}
	t := a.turn
	if t == nil {
		change.Writes = end.writes
		receipt, err = e.commit(e.base, final, change)
		return nil, receipt, err
	}
	rest := t.takeWrites()
	if w, cut := a.cutAnswer(end); cut {
		rest = append(rest, w)
	}
	rest = append(rest, end.writes...)
	change.Notes, change.CloseTurn = t.takeNotes(), t.closing()
	a.tellSent(&change)
	rest = append(rest, change.Writes...)
	for again := true; ; again = false {
		swept = t.sweep(end)
		e.mark(a, swept)
		unasked := e.leaveUnasked(t, end.reason)
		change.Writes = slices.Concat(endWrites(swept), unasked, rest)
		receipt, err = e.commit(e.base, final, change)
		if err == nil || !again || sdk.OutcomeOf(err) != sdk.Conflict || !e.overtaken(a, swept) {
			return swept, receipt, err
		}
	}
}

// overtaken looks again at swept actions that waited for a person, and reports
// whether there were any.
func (e *Engine) overtaken(a *activeLoop, swept []*action) bool {
	some := false
	for _, x := range swept {
		if x.entry.State != sdk.StateProposed {
			continue
		}
		entry, err := e.cfg.Store.Entry(e.base, a.run.ID, x.Path)
		if err != nil {
			continue
		}
		x.follow(entry)
		some = true
	}
	return some
}

// putDown leaves the loop to the next daemon: what has ended and is not
// recorded yet is, everything else is in the store already.
func (e *Engine) putDown(a *activeLoop) {
	e.guards.End(a.loop.ID)
	if a.turn == nil {
		return
	}
	a.turn.forgetUnrecorded()
	for _, x := range which(a.turn.actions, (*action).planned) {
		x.reopen() // the next daemon makes it
	}
	change := sdk.Change{Run: a.loop.Run, Writes: a.turn.takeWrites(), Notes: a.turn.takeNotes()}
	over, first := a.turn.unclosed(), len(change.Writes)
	e.leaveMoved(e.base, over)
	e.mark(a, over)
	change.Writes = append(change.Writes, endWrites(over)...)
	if len(change.Writes)+len(change.Notes) == 0 {
		return
	}
	receipt, err := e.commit(e.base, happened, change)
	if err != nil {
		e.log.Error("what a call came to could not be recorded before the stop; it ends as interrupted at the next start", "run", a.loop.Run, "error", err)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.base), settleTime) // Close waits for it
	defer cancel()
	for i, x := range over {
		e.tellActionEnd(ctx, a, x, receipt.Entries[first+i])
	}
}

func (e *Engine) tellEnded(ctx context.Context, a *activeLoop, swept []*action, receipt sdk.Receipt) {
	for i, entry := range receipt.Entries {
		payload := sdk.EntryEvent{Run: a.loop.Run, Entry: entry}
		if i >= len(swept) {
			if entry.State == sdk.StateFailed && entry.Scheme() == "log" && entry.Visibility != sdk.Archived {
				e.cfg.Hooks.ErrorLog.Emit(ctx, payload)
			}
			continue
		}
		e.tellActionEnd(ctx, a, swept[i], entry)
	}
}

// tellActionEnd tells the end of an action that was committed when its loop ended
// or was put down. A call that had come to its own end is told like any other.
func (e *Engine) tellActionEnd(ctx context.Context, a *activeLoop, x *action, entry sdk.Entry) {
	payload := sdk.EntryEvent{Run: a.loop.Run, Entry: x.told(entry)}
	switch {
	case x.cause == concluded && x.State != sdk.StateCancelled:
		e.cfg.Hooks.ToolAfter.Emit(ctx, payload)
	case x.ran():
		e.cfg.Hooks.StreamCancelled.Emit(ctx, payload)
	}
	e.cfg.Hooks.EntryCreated.Emit(ctx, payload)
}

func (e *Engine) tellLoopEnd(ctx context.Context, a *activeLoop, end ending) {
	payload := sdk.LoopEvent{Project: a.project.ID, Run: a.run.ForHook(), Loop: a.loop.ForHook(), Turns: a.turns, Status: end.status, Reason: end.reason}
	payload.Loop.Status, payload.Loop.Reason, payload.Loop.Stop = end.status, end.reason, end.stop
	payload.Loop.Result = a.turn.result()
	completed := e.cfg.Hooks.ActCompleted
	if a.loop.ReadOnly {
		completed = e.cfg.Hooks.AskCompleted
	}
	e.cfg.Hooks.LoopCompleted.Emit(ctx, payload)
	completed.Emit(ctx, payload)
	if a.turn != nil {
		e.cfg.Hooks.RunState.Emit(ctx, a.turnEvent(map[string]any{"status": end.status, "reason": end.reason}))
	}
}

// errorWrite is the entry of a failure that belongs to no action.
func (a *activeLoop) errorWrite(slug string, outcome sdk.Outcome, message string) sdk.Write {
	return sdk.Write{
		Path: sdk.ActionPath{Turn: a.turn.row.Sequence, Tool: sdk.ErrorTool, Slug: slug}.String(), Body: &message, Writer: sdk.WriterSystem,
		State: sdk.StateFailed, Outcome: outcome, Loop: a.loop.ID, Turn: a.turn.row.Sequence,
	}
}

func (a *activeLoop) turnEvent(detail any) sdk.TurnEvent {
	ev := sdk.TurnEvent{Run: a.run.ForHook(), Loop: a.loop.ForHook(), Turn: a.turn.row, Messages: len(a.turn.prompt.Messages)}
	if detail != nil {
		ev.Detail = encode(detail)
	}
	return ev
}
