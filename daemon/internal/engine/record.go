package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/actionpath"
	"github.com/bothyd/bothy/daemon/internal/command"
	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/misnamed"
	"github.com/bothyd/bothy/daemon/internal/reply"
	"github.com/bothyd/bothy/daemon/internal/verdict"
	"github.com/bothyd/bothy/sdk"
)

// record commits the whole answer at once: the text, every call as an action,
// what the dialect had to say, and the system prompt when it changed. The
// first calls to run are committed as started, so that a turn with one call
// costs this commit and the one of its end; while the daemon stops none is.
// Nothing has had an effect before this commit is durable.
func (e *Engine) record(ctx context.Context, a *activeLoop) error {
	t := a.turn
	t.actions = e.actions(ctx, a, t.reading.Calls)
	a.remark()
	change := sdk.Change{Run: a.run.ID, Writes: []sdk.Write{answerWrite(a, t.completion, t.reading)}, Notes: t.takeNotes()}
	change.Writes = append(change.Writes, t.takeWrites()...)
	for i, warning := range t.reading.Warnings {
		change.Writes = append(change.Writes, a.errorWrite(sdk.DialectSlug(i+1), sdk.Validation, warning))
	}
	a.tellSent(&change)
	first := len(change.Writes)
	switch cause := context.Cause(ctx); {
	case cause != nil && !errors.Is(cause, errStopping):
		for _, x := range t.actions {
			x.refuse(verdict.WorkEnded(context.Cause(ctx).Error()))
		}
	case e.draining.Err() == nil:
		e.answerRepeated(ctx, a)
		for _, x := range e.apart(ctx, a, e.group(t)) {
			x.start()
		}
	}
	for _, x := range t.actions {
		change.Writes = append(change.Writes, x.recordWrite())
	}
	started := which(t.actions, (*action).running)
	change.Writes, change.Children = append(change.Writes, outputWrites(started)...), e.marked(a, childrenOf(started), nil)
	failpoint.Hit(failpoint.AnswerUnwritten)
	e.previewed(a)
	receipt, err := e.commit(ctx, ahead, change)
	if err != nil {
		t.actions = nil // nothing of them is known to the store, so nothing needs an end
		return fmt.Errorf("record the answer: %w", err)
	}
	failpoint.Hit(failpoint.RecordAfter)
	e.childrenBegun(ctx, a, started, receipt.Children)
	t.streaming = false
	for i, x := range t.actions {
		x.committed(receipt.Entries[first+i])
	}
	for _, entry := range receipt.Entries[:first] {
		if entry.State == sdk.StateFailed {
			t.errors = append(t.errors, entry)
			e.cfg.Hooks.ErrorLog.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: entry})
		}
	}
	e.tellRefused(ctx, t)
	return nil
}

// tellRefused tells of the actions that ended by being recorded.
func (e *Engine) tellRefused(ctx context.Context, t *turn) {
	for _, x := range t.actions {
		if x.ended() {
			e.cfg.Hooks.EntryCreated.Emit(ctx, sdk.EntryEvent{Run: t.row.Run, Entry: x.told(x.entry)})
		}
	}
}

// answerWrite is assistant://N. The calls are those that were read, with the
// ids that their results carry; those of the text stand there.
func answerWrite(a *activeLoop, c sdk.Completion, read sdk.Reading) sdk.Write {
	at := sdk.Reply{Reasoning: c.Reasoning, Finish: c.Finish, Extra: string(c.Extra), Model: a.choice.Alias, Usage: c.Usage, Ratio: a.turn.ratio, Ceiling: a.ceiling, Lost: read.Lost}
	if at.Context = a.choice.Context; c.Usage == nil {
		at.Estimate = a.turn.estimate
	}
	for _, call := range read.Calls {
		if !call.At.Empty() {
			continue // it stands in the text
		}
		at.Calls = append(at.Calls, sdk.Call{ID: call.ID, Tool: call.Tool, Arguments: call.Raw})
	}
	text := strings.ToValidUTF8(c.Text, "\uFFFD")
	if at.Found = reply.Found(text, read.Calls); at.Found != nil && at.Said(text) != read.Narration {
		at.Narration = &read.Narration
	}
	return sdk.Write{
		Path: sdk.ReplyPath(a.turn.row.Sequence), Body: &text, Attributes: encode(at),
		State: sdk.StateResolved, Writer: sdk.WriterSystem, Loop: a.loop.ID, Turn: a.turn.row.Sequence,
	}
}

// tellSent has a change tell what the model was sent, and keep the texts of it that no entry has.
func (a *activeLoop) tellSent(c *sdk.Change) {
	out, writes := a.turn.sent.Take(a.mirror, sdk.SystemText{Instructions: a.instructed}, a.loop.ID, a.turn.row.Sequence)
	c.Before, c.Writes = append(c.Before, out...), append(c.Writes, writes...)
}

// actions makes an action of each call, in the model's order. What can be
// refused already is: a call that cannot be read or made, one that a filter
// rejects, one that policy denies, and what stands behind a refused side effect
// or behind what could not be read. One that a person has to be asked about is
// recorded like any other, and proposed when its turn comes.
func (e *Engine) actions(ctx context.Context, a *activeLoop, calls []sdk.ReadCall) []*action {
	taken := map[string]bool{}
	a.turn.children.taken = taken
	var all []*action
	var broken *action
	for i, call := range calls {
		x := e.action(a, i, call, taken)
		e.fill(ctx, x, all)
		e.stand(a, x)
		x.mayEnd()
		all = append(all, x)
		if broken != nil && (broken.turnedDown() || !x.updates()) {
			x.refuse(verdict.GivenUp(broken.Tool, "was refused"))
		} else if call.Behind != "" && !x.updates() {
			x.refuse(verdict.Unread(call.Behind))
		} else if e.judge(ctx, a, x); x.ended() && x.breaks() {
			broken = cmp.Or(broken, x)
		}
	}
	for _, i := range verdict.Replaced(claims(all)) {
		all[i].refuse(verdict.ErrReplaced)
	}
	return all
}

func (e *Engine) action(a *activeLoop, index int, call sdk.ReadCall, taken map[string]bool) *action {
	x := &action{call: call, answer: a.turn.completion.Text, project: a.project.Root, folder: e.folder(a.run), Action: sdk.Action{Loop: a.loop.ID, Turn: a.turn.row.Sequence, ActionCall: sdk.ActionCall{
		CallID: call.ID, Tool: call.Tool, Arguments: call.Arguments, Index: index, Person: a.joins,
	}}}
	x.lone, x.strict = a.team != nil, !e.dialectOf(a).Native()
	if x.tool, x.own, x.fault = e.find(a, call.Tool); x.fault != nil && a.barred != nil {
		x.fault = a.barred
	}
	if call.Fault != "" && x.fault == nil {
		x.fault = sdk.Errorf(sdk.Validation, "%s", call.Fault)
	}
	if x.tool.Runs != "" {
		x.Streams, call.Tool = x.tool.Command != "", x.tool.Name // whichever of its names the model wrote
		if given := command.Given(x.tool, x.Arguments); given != nil {
			x.use(given)
		}
	}
	x.Path = actionpath.Of(x.Turn, call, taken, e.cfg.Redact)
	return x
}

// recording is a call as the recording filters see it: as its tool gets it.
func (e *Engine) recording(a *activeLoop, x *action) sdk.Recording {
	at := x.recorded()
	said := at.Arguments
	if local := e.localArguments(x); x.fault == nil && len(local) > 0 {
		at.Arguments = local
		if x.stands != nil {
			at.Changed = "" // which is of the verb
		}
	}
	return sdk.Recording{
		Run: a.run.ID, Turn: x.Turn, Loop: x.Loop, ReadOnly: sdk.AskOrAct(a.loop.ReadOnly), Tool: x.declared(), Path: x.Path,
		Attributes: encode(at), State: sdk.StateStreaming, Parent: x.Parent, Said: said,
	}
}

// judge asks the recording filters and policy, in this order. They know a tool
// by its own name, whichever of its names the model wrote. A filter lets an
// action pass by leaving its state as it is; any other state is a refusal.
func (e *Engine) judge(ctx context.Context, a *activeLoop, x *action) {
	e.fixCommand(ctx, a.run, x)
	rec := e.recording(a, x)
	ruled, err := e.cfg.Hooks.EntryRecording.Apply(ctx, rec)
	switch {
	case err != nil:
		x.refuse(err)
	case ruled.State != sdk.StateStreaming:
		x.refuse(refusal(ruled.By, ruled.Outcome, ruled.Body))
		if ruled.State == sdk.StateCancelled {
			x.cancel(x.Outcome)
		}
	case ruled.Repeats != "" && !x.tool.Annotations.Terminal: // whether one is accepted depends on its turn
		x.Repeats = ruled.Repeats
	case x.fault != nil:
		x.refuse(x.fault)
	case !x.adopt(rec.Attributes, ruled.Attributes):
		x.refuse(sdk.Errorf(sdk.Permission, "a hook of entry.recording left no arguments that could be used, so this call was not made").Tell("not made: do it another way, or leave it to the person"))
	case x.misnames():
	case x.own != nil && x.tool.Name == sdk.ToolAskUser:
		e.judgeQuestion(a, x)
	default:
		x.ask(ctx)
		if !x.readOnly() && !x.touchesEntries() && !x.delegates() {
			e.awaitView(ctx, a)
		}
		x.rule(a, e.decide(a, x, a.approved && !x.plugged()))
		e.acceptUnasked(ctx, a, x)
		e.begets(ctx, a, x)
	}
}

// refusal is why a call is not made that a hook refused: who did, and in their words.
func refusal(by string, outcome sdk.Outcome, said string) error {
	outcome = cmp.Or(outcome, sdk.Permission)
	if said == "" {
		return sdk.Errorf(outcome, "%s refused this call", by).Tell("refused: do it another way, or leave it to the person")
	}
	return sdk.Errorf(outcome, "%s refused this call: %s", by, said)
}

// misnames refuses a call whose arguments have the names of another agent, before policy
// wonders what they mean, and a call of sh, env or search with arguments that are none of theirs.
func (x *action) misnames() bool {
	if x.finishes() { // its schema is somebody's own
		return false
	}
	err := cmp.Or(misnamed.Arguments(x.tool, x.meant()), command.Exceeds(x.tool, x.Arguments))
	if err != nil {
		x.refuse(err)
	}
	return err != nil
}
