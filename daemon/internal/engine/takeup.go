package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/guard"
	"github.com/bothyd/bothy/daemon/internal/reply"
	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/sdk"
)

// leftTurn is a turn of a loop as an earlier daemon left it in the store.
type leftTurn struct {
	row      sdk.Turn
	answer   sdk.Entry   // assistant://N; its zero value when there is none
	actions  []leftCall  // in the model's order
	children []leftCall  // what their plugins called
	errors   []sdk.Entry // failures that belong to no action
	plain    bool        // it was told that its answer in plain text ends nothing
	partials int
}

// leftCall is a call of the turn as it is recorded, read once.
type leftCall struct {
	entry sdk.Entry
	at    sdk.Action
	fault error // not all of it could be read
}

func (c leftCall) place() (path, parent string) { return c.at.Path, c.at.Parent }

// take sorts an entry in, when it belongs to the turn. Entries come in the order
// in which they were first written, which for actions is the model's.
func (l *leftTurn) take(entry sdk.Entry) {
	if entry.Phase != sdk.PhaseNone {
		at, err := sdk.ActionOf(entry)
		if c := (leftCall{entry, at, err}); at.Parent != "" {
			l.children = append(l.children, c)
		} else {
			l.actions = append(l.actions, c)
		}
		return
	}
	switch reply := sdk.ReplyPath(l.row.Sequence); {
	case entry.Path == reply:
		l.answer = entry
	case entry.Path == sdk.CorrectionPath(l.row.Sequence):
		l.plain = true
	case strings.HasPrefix(entry.Path, reply+"/partial_"):
		l.partials++
	case entry.State == sdk.StateFailed && entry.Scheme() == "log" && entry.Outcome != sdk.Overflow: // of which a loop ends, or nobody failed
		l.errors = append(l.errors, entry)
	}
}

// stage is how far the turn has come.
func (l *leftTurn) stage() stage {
	switch {
	case l.answer.State != sdk.StateResolved:
		return stageOpen
	case len(l.actions) == 0 && len(l.completion().Calls) > 0:
		return stageAnswered
	default:
		return stageRecorded
	}
}

// completion is the answer as it was recorded. The calls are those that were
// read, with the model's own text as their arguments.
func (l *leftTurn) completion() sdk.Completion {
	at, err := sdk.ReplyOf(l.answer.Attributes)
	if l.answer.State != sdk.StateResolved || err != nil {
		return sdk.Completion{}
	}
	c := sdk.Completion{Text: l.answer.Body, Reasoning: at.Reasoning, Calls: at.Calls, Usage: at.Usage, Finish: at.Finish, Found: at.Found, Lost: at.Lost}
	if at.Extra != "" {
		c.Extra = json.RawMessage(at.Extra)
	}
	return c
}

// turn makes a turn of it. Its actions know what is recorded of them; tools
// and arguments are found by equip.
func (l *leftTurn) turn(project, folder string) *turn {
	t := &turn{
		row: l.row, began: time.Now(), completion: l.completion(),
		partials: l.partials, streaming: l.answer.State == sdk.StateStreaming,
	}
	if l.stage() == stageRecorded {
		t.errors = l.errors // before that they are of a try that is void
	}
	for _, c := range l.actions {
		t.actions = append(t.actions, leftAction(c, project, folder))
	}
	t.children.takeUp(project, folder, t.actions, l.children)
	t.takeUpFollow()
	return t
}

// load reads what a loop that was left running has done already. It changes
// nothing, and is tried until it works: without it the loop cannot even end.
func (e *Engine) load(ctx context.Context, a *activeLoop) error {
	if !a.left {
		return nil
	}
	err := e.readLeft(a)
	for wait := firstPause; err != nil && passing(err) && sleep(ctx, wait); wait = min(2*wait, longestPause) {
		e.log.Error("a loop that was left running cannot be read yet", "run", a.loop.Run, "loop", a.loop.Sequence, "error", err)
		err = e.readLeft(a)
	}
	return err
}

func (e *Engine) readLeft(a *activeLoop) error {
	if err := e.locate(e.base, a); err != nil {
		return err
	}
	rows, err := e.cfg.Store.Turns(e.base, a.loop.Run)
	if err != nil {
		return err
	}
	entries, err := a.mirror.Refresh(e.base)
	if err != nil {
		return err
	}
	if a.asked, err = e.askedBefore(a); err != nil {
		return err
	}
	a.had = make([]leftTurn, 0, len(rows))
	at := make(map[int]int, len(rows))
	for _, row := range rows {
		if row.Loop == a.loop.ID {
			at[row.Sequence] = len(a.had)
			a.had = append(a.had, leftTurn{row: row})
		}
	}
	for _, entry := range entries {
		if n, ok := at[sdk.TurnOf(entry.Path)]; ok {
			a.had[n].take(entry)
		}
	}
	a.turns = len(a.had)
	for _, l := range a.had {
		switch {
		case l.plain && len(l.actions) == 0: // else a team was told to put its work together
			a.plain++
		case l.row.Closed:
			a.plain = 0
		}
	}
	if last := a.turns - 1; last >= 0 && !a.had[last].row.Closed {
		a.turn, a.from = a.had[last].turn(a.project.Root, e.folder(a.run)), a.had[last].stage()
	}
	return nil
}

// askedBefore is what plugins asked of models in a loop, as the journal tells. It
// is read where a limit on cost counts it: looking through a long run takes as long
// as all else of taking it up.
func (e *Engine) askedBefore(a *activeLoop) ([]sdk.PluginCompletion, error) {
	agent, err := e.keptAgent(e.base, a)
	if err != nil || e.narrowing(a.project.Root).Guards(agent.Guards).MaxCost <= 0 && a.given().Caller == 0 {
		return nil, nil // prepare ends a loop whose agent is gone
	}
	return e.askedIn(e.base, a.loop)
}

// askedIn is what plugins asked of models in a loop.
func (e *Engine) askedIn(ctx context.Context, l sdk.Loop) ([]sdk.PluginCompletion, error) {
	rows, err := e.cfg.Store.Journal(ctx, sdk.JournalQuery{Run: l.Run, Kinds: []string{sdk.KindNoteCompletion}})
	if err != nil {
		return nil, err
	}
	var all []sdk.PluginCompletion
	for _, row := range rows {
		var asked sdk.PluginCompletion
		if row.Loop == l.ID && json.Unmarshal(row.Data, &asked) == nil {
			all = append(all, asked)
		}
	}
	return all, nil
}

// past is what the guards are told of the turns so far. An open one is not
// among them: its verdict is still to come.
func (a *activeLoop) past(yield func(guard.Past) bool) {
	for i := range a.had {
		l := &a.had[i]
		if !l.row.Closed {
			continue
		}
		p := guard.Past{Answer: l.completion, TurnResult: sdk.TurnResult{
			Run: a.run, Loop: a.loop.ForHook(), Turn: l.row.Sequence, LoopTurn: i + 1,
			Errors: l.errors, Duration: sdk.Duration(l.row.Duration),
			Ruling: sdk.Ruling{Continue: true, Status: sdk.StatusRunning},
		}}
		for _, c := range inOrder(l.actions, l.children, leftCall.place) {
			p.Actions = append(p.Actions, c.at)
		}
		if !yield(p) {
			return
		}
	}
}

// takeUp brings the open turn to where the ordinary steps go on: half an answer
// is put aside, and every call that was begun and cannot be made again gets its
// end. Each commit of it can be followed by another crash.
func (e *Engine) takeUp(ctx context.Context, a *activeLoop) error {
	if !a.left {
		return nil
	}
	a.had = nil
	if t := a.turn; t != nil {
		if a.from != stageOpen { // it takes them when it asks the model
			e.gather(ctx, a)
			e.takeTools(ctx, a)
			a.offerTools()
		}
		e.equip(ctx, a)
		if err := e.putAside(ctx, a); err != nil {
			return err
		}
		if withdrawn := t.withdrawLeft(); e.settleLeft(ctx, a) || withdrawn {
			failpoint.Hit(failpoint.RecoverSettled)
			if err := e.step(ctx, a, t.unclosed(), nil, nil); err != nil {
				return err
			}
			failpoint.Hit(failpoint.RecoverRecorded)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if a.run.Status == sdk.StatusProposed && (a.turn == nil || a.turn.waiting() == nil) {
		if err := e.moveRun(ctx, a, sdk.StatusRunning); err != nil {
			return err
		}
	}
	failpoint.Hit(failpoint.RecoverResume)
	return nil
}

// equip finds for each action of the turn the call that the model wrote, and
// the tool that it means today.
func (e *Engine) equip(ctx context.Context, a *activeLoop) {
	t := a.turn
	offered := a.offered
	for _, x := range t.actions { // a tool that is gone was one when the answer was read first
		if !slices.ContainsFunc(offered, func(had sdk.Tool) bool { return had.Name == x.Tool }) {
			offered = append(slices.Clip(offered), sdk.Tool{ToolSpec: sdk.ToolSpec{Name: x.Tool}})
		}
	}
	t.reading = e.reading(a, offered)
	for _, x := range t.queue() {
		at := slices.IndexFunc(t.reading.Calls, func(c sdk.ReadCall) bool { return c.ID == x.CallID && c.Tool == x.Tool })
		switch {
		case x.Follows:
		case at < 0 && !x.ended() && !e.dialectOf(a).Native():
			x.fault = sdk.Errorf(sdk.Again, "this call was not made: it cannot be read again, for the tools have changed since it was written").Tell("not made: make the call again")
		case at >= 0:
			x.call = reply.Again(t.reading.Calls[at], x.ActionCall)
			if x.Changed == "" {
				x.Arguments = x.call.Arguments
			}
		}
		err := e.equipOne(ctx, a, x)
		switch {
		case x.fault != nil:
		case err != nil:
			x.fault = err
		case x.call.Fault != "":
			x.fault = sdk.Errorf(sdk.Validation, "%s", x.call.Fault)
		case e.cfg.Hidden != "" && bytes.Contains(x.Arguments, []byte(e.cfg.Hidden)):
			x.fault = sdk.Errorf(sdk.Again, "this call was not made: it held a secret, which is not kept, and the daemon that knew it has ended").Tell("not made: make the call again, with the secret in it")
		}
	}
}

// putAside keeps the pieces of an answer that never came to its end for
// people to see, and empties its entry: the model is asked again.
func (e *Engine) putAside(ctx context.Context, a *activeLoop) error {
	t := a.turn
	if !t.streaming {
		return nil
	}
	path := sdk.ReplyPath(t.row.Sequence)
	chunks, err := e.cfg.Store.Chunks(ctx, a.run.ID, path)
	if err != nil {
		return fmt.Errorf("read the part of the answer that came: %w", err)
	}
	if len(chunks) == 0 {
		return nil
	}
	var text, reasoning strings.Builder
	for _, c := range chunks {
		if c.Channel == stream.ChannelReasoning {
			reasoning.WriteString(c.Text)
		} else {
			text.WriteString(c.Text)
		}
	}
	body, empty := text.String(), ""
	_, err = e.commit(ctx, happened, sdk.Change{Run: a.run.ID, Writes: []sdk.Write{
		{
			Path: fmt.Sprintf("%s/partial_%d", path, t.partials+1), Create: true, Body: &body, Writer: sdk.WriterSystem,
			Attributes: encode(sdk.Reply{Reasoning: reasoning.String(), Model: t.row.Model, Partial: true}),
			State:      sdk.StateFailed, Outcome: sdk.Interrupted, Loop: a.loop.ID, Turn: t.row.Sequence,
		},
		{Path: path, Body: &empty, Writer: sdk.WriterSystem, State: sdk.StateStreaming, Loop: a.loop.ID, Turn: t.row.Sequence},
	}})
	if err != nil {
		return fmt.Errorf("keep the part of the answer that came: %w", err)
	}
	t.partials++
	return nil
}

// settleLeft gives an end to the calls that were begun and cannot be made
// again, those of plugins among them, and reports whether there were any: the end that their tool still
// knows (no own tool does), or interrupted. Those that can be made again are left as they are, and
// dispatch makes them.
func (e *Engine) settleLeft(ctx context.Context, a *activeLoop) bool {
	some := false
	for _, x := range a.turn.begun() {
		if x.Child != nil { // which goes on
			x.again = true
			continue
		}
		if a.left && !x.plugged() && e.again(a, x) {
			x.again = true
			continue
		}
		if context.Cause(ctx) != nil {
			return some
		}
		if x.plugged() {
			x.tool, _ = e.pluginTool(a.run, x.Tool) // what is gone is asked about by its name
		}
		result, err := settle(ctx, e, "asking what the call of "+x.Tool+" came to", func() (sdk.ToolResult, error) {
			if x.own != nil {
				return sdk.ToolResult{}, sdk.Errorf(sdk.Interrupted, "%s keeps nothing of its calls", x.tool.Name)
			}
			return e.cfg.Tools.Settle(ctx, e.invocation(a.run, x))
		})
		switch {
		case err == nil:
			result, x.printed = x.ranAs(result, [2]int{})
			x.conclude(concluded, result, 0)
		case context.Cause(ctx) != nil:
			return some
		default:
			e.log.Info("nobody knows what a call came to", "run", a.run.Alias, "path", x.Path, "error", err)
			x.interrupt()
		}
		some = true
	}
	return some
}

// again reports whether a call that was begun is made again.
func (e *Engine) again(a *activeLoop, x *action) bool {
	if x.fault != nil || !x.repeatable() {
		return false
	}
	return e.decide(a, x, false).Verdict == sdk.Allow
}
