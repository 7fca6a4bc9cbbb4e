package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// A model gives a task to another agent by a call of delegate (decision 100). The call is an action like any other,
// but that nothing runs for it: the commit that starts it makes a run, its child, with the task as its first prompt
// at work, and the end of that is the end of the action. So the store says at any moment who works for whom, and
// a daemon that takes a loop up finds the children of its calls and waits for them as the one before did.

// errCaller is the cause with which the work of a child ends whose call is over.
var errCaller = errors.New("the work that it was for was ended")

// delegates reports whether the call gives a task to another agent.
func (x *action) delegates() bool {
	return x.Child != nil || x.own != nil && x.tool.Name == sdk.ToolDelegate
}

// begets works out the child of a call that delegates, unless it has one. A call of which there can be none is refused.
func (e *Engine) begets(ctx context.Context, a *activeLoop, x *action) {
	if x.ended() || x.Child != nil || !x.delegates() {
		return
	}
	child, err := e.childOf(ctx, a, x)
	if err != nil {
		x.refuse(err)
		return
	}
	x.child = &child
}

// childOf is the run of a task with its prompt. All that a person said of its agent holds, and beyond that nothing
// that the prompt may not do that delegates.
func (e *Engine) childOf(ctx context.Context, a *activeLoop, x *action) (sdk.Child, error) {
	task, err := a.task(x)
	if err != nil {
		return sdk.Child{}, err
	}
	given := a.given()
	switch may := a.delegatesTo(); {
	case len(may) == 0:
		return sdk.Child{}, sdk.Errorf(sdk.Permission, "this prompt is %d delegations below that of a person, and may not delegate again: do the work yourself", given.Below)
	case !slices.Contains(may, task.Agent):
		return sdk.Child{}, sdk.Errorf(sdk.Permission, "the agent %q may delegate to %s, and not to %.80q", a.agent.Name, strings.Join(may, ", "), task.Agent)
	}
	agent, err := e.AgentOf(agentsAt(a.project, a.run.Private), task.Agent)
	switch {
	case err != nil:
		return sdk.Child{}, err
	case !a.mayAsk(agent):
		return sdk.Child{}, sdk.Errorf(sdk.Permission, "the team %q could give nothing out here, as it would be %d delegations below the prompt of a person: ask another agent, or do the work yourself", task.Agent, given.Below+1)
	}
	choice, err := e.childModel(ctx, a, x, agent)
	if err != nil {
		return sdk.Child{}, err
	}
	if err := e.canWork(agent, choice); err != nil {
		return sdk.Child{}, err
	}
	options := loopOptions{
		Mode: e.childMode(a, agent), Asker: given.Asker, Plugin: given.Plugin, Depth: given.Depth,
		Agent: agent.Digest(), Caller: a.loop.ID, Below: given.Below + 1, Otherwise: narrower(agent.Otherwise(), a.agent.Otherwise()),
		Record: given.Record, Replay: given.Replay, ReplayAt: a.replayAt(x), Strict: given.Strict,
	}
	definition, err := e.keepAgent(ctx, placed{project: a.project, agent: agent}, options.Agent)
	if err != nil {
		return sdk.Child{}, err
	}
	child := sdk.Child{Run: task.Run(a.run, x.Path)}
	if child.Run.Model = choice.Alias; a.played != nil {
		child.Run.Model = choice.Name // what comes later is on no cassette
	}
	child.Loop = sdk.Loop{
		ReadOnly: a.loop.ReadOnly || task.OnlyReads(), Prompt: task.Prompt(), Model: choice.Alias, Agent: task.Agent, Options: encode(options),
	}
	a.bringAlong(&child.Loop, task)
	if definition != nil {
		child.Loop.Change = &sdk.RunChange{Writes: definition}
	}
	return child, nil
}

// task is what a call asks for, within what the loop may that makes it.
func (a *activeLoop) task(x *action) (delegate.Task, error) {
	task, err := delegate.Read(x.meant())
	if err != nil {
		return task, err
	}
	return task.Folders(func(path string) bool {
		info, err := os.Lstat(filepath.Join(x.files(), filepath.FromSlash(path)))
		return err == nil && info.IsDir()
	}).Within(a.run.Writes)
}

// childMode is the stricter of an agent's mode and that of the loop that delegates to it. Workspace has the stricter of
// both in its place by itself.
func (e *Engine) childMode(a *activeLoop, agent sdk.Agent) sdk.Mode {
	mode := narrower(cmp.Or(agent.Mode, a.mode), a.mode)
	if mode == sdk.ModeWorkspace {
		return mode
	}
	return narrower(mode, e.modeNow(a))
}

// childModel is the model that an agent names, else that of the prompt that delegates to it, or what is played.
func (e *Engine) childModel(ctx context.Context, a *activeLoop, x *action, agent sdk.Agent) (sdk.ModelChoice, error) {
	if a.played != nil {
		return a.played.ChildChoice(a.turns-1, x.Index), nil
	}
	if agent.Model == "" {
		return e.cfg.Models.Resolve(ctx, a.loop.Model)
	}
	return e.cfg.Models.ResolveConfigured(ctx, agent.Model)
}

// delegatesTo are the agents that the loop may delegate to; none where it is as far below a prompt of a person as
// may be.
func (a *activeLoop) delegatesTo() []string {
	if a.given().Below >= delegate.Depth {
		return nil
	}
	if a.agent.Team != nil && !slices.Contains(a.agent.Agents, sdk.DefaultAgent) { // a prompt that is for none of them is for that one
		return append(slices.Clip(a.agent.Agents), sdk.DefaultAgent)
	}
	return a.agent.Agents
}

// mayAsk reports whether an agent could do something for the loop: a team could not from where it may not delegate.
func (a *activeLoop) mayAsk(agent sdk.Agent) bool {
	return agent.Team == nil || a.given().Below+1 < delegate.Depth
}

// agentsFor are those of delegatesTo that are there and that its model may name: of a team its members.
func (e *Engine) agentsFor(a *activeLoop) []sdk.Agent {
	var all []sdk.Agent
	for _, name := range a.delegatesTo() {
		if !slices.Contains(a.agent.Agents, name) {
			continue
		}
		if agent, err := e.AgentOf(agentsAt(a.project, a.run.Private), name); err == nil && a.mayAsk(agent) {
			all = append(all, agent)
		}
	}
	return all
}

// childrenOf are the children that begin with actions which are started.
func childrenOf(started []*action) []sdk.Child {
	var all []sdk.Child
	for _, x := range started {
		if x.child != nil {
			all = append(all, *x.child)
		}
	}
	return all
}

// childrenBegun has the children work that a commit made.
func (e *Engine) childrenBegun(ctx context.Context, a *activeLoop, begun []*action, made []sdk.Child) {
	if len(made) == 0 {
		return
	}
	failpoint.Hit(failpoint.DelegateAfter)
	ctx = context.WithoutCancel(ctx)
	for _, child := range made {
		i := slices.IndexFunc(begun, func(x *action) bool { return x.Path == child.Run.DelegatedBy })
		begun[i].Child, begun[i].child = &sdk.ActionChild{Run: child.Run.ID, Alias: child.Run.Alias, Loop: child.Loop.ID, Agent: child.Loop.Agent}, nil
		run := child.Run.ForHook()
		e.cfg.Hooks.RunCreated.Emit(ctx, sdk.RunEvent{Run: run, Project: a.project.Root, RunDir: e.runDir(run)})
		started := e.cfg.Hooks.ActStarted
		if child.Loop.ReadOnly {
			started = e.cfg.Hooks.AskStarted
		}
		started.Emit(ctx, sdk.LoopEvent{Project: a.project.ID, Run: run, Loop: child.Loop.ForHook()})
		e.wakeWith(child.Run.ID, next{loop: child.Loop})
	}
}

// awaitChild waits for the end of an action's child, and makes it the action's. When ctx ends the child is ended,
// and waited for; when the daemon stops the action is left to the next one, as the child is.
func (e *Engine) awaitChild(ctx context.Context, a *activeLoop, x *action) error {
	began := time.Now()
	loop, err := e.childEnd(ctx, x)
	switch {
	case errors.Is(err, errStopping):
		return err
	case err != nil:
		x.refuse(fmt.Errorf("the work of %s in the run %s cannot be followed: %w", x.Child.Agent, x.Child.Alias, err))
		return err
	}
	failpoint.Hit(failpoint.DelegateEnded)
	var done delegate.Done
	err = e.readable(func() (err error) {
		done, err = delegate.ReadDone(context.WithoutCancel(ctx), e.cfg.Store, *x.Child, loop)
		return err
	})
	if errors.Is(err, errStopping) {
		return err
	}
	if err != nil {
		e.log.Warn("what a child answered cannot be read", "run", x.Child.Alias, "error", err)
	}
	x.Answer = done.Said
	x.conclude(concluded, delegate.End(done), time.Since(began))
	if context.Cause(ctx) != nil {
		x.cancel(sdk.Aborted)
	}
	e.markTask(ctx, a, x)
	return nil
}

// childEnd is the prompt of an action's child once it has ended. One that an earlier daemon left running goes on.
func (e *Engine) childEnd(ctx context.Context, x *action) (sdk.Loop, error) {
	reading, over := context.WithoutCancel(ctx), ctx.Done()
	for left := x.again; ; left = false {
		changed := e.cfg.Store.Changed()
		var loop sdk.Loop
		err := e.readable(func() (err error) {
			loop, err = delegate.Prompt(reading, e.cfg.Store, *x.Child)
			return err
		})
		if err != nil || !isOpen(loop) {
			return loop, err
		}
		if left {
			e.wakeWith(loop.Run, next{loop: loop, left: true})
		}
		select {
		case <-changed:
		case <-over:
			if errors.Is(context.Cause(ctx), errStopping) {
				return loop, errStopping
			}
			over = nil // it ends soon, as all work does that is told to
			e.endWork(loop)
		case <-e.draining.Done():
			return loop, errStopping
		}
	}
}

// readable reads what is to be known of a child until that can be read: without it nobody would wait for the child any
// more, or know what it came to. A daemon that stops leaves it to the next one.
func (e *Engine) readable(read func() error) error {
	err := read()
	for wait := firstPause; err != nil && passing(err); wait = min(2*wait, longestPause) {
		e.log.Error("the work of a child cannot be read yet", "error", err)
		if !sleep(e.draining, wait) {
			return errStopping
		}
		err = read()
	}
	return err
}

// endChildren ends the children of calls that nobody waits for any more, because their loop cannot go on.
func (e *Engine) endChildren(a *activeLoop) {
	ctx, cancel := context.WithCancelCause(e.base)
	cancel(errCaller)
	if a.turn == nil {
		if a.left {
			e.endUnread(ctx, a.loop)
		}
		return
	}
	for _, x := range which(a.turn.begun(), func(x *action) bool { return x.Child != nil }) {
		x.again = a.left
		_ = e.awaitChild(ctx, a, x) // the action says it
	}
}

// endUnread ends the children that say whose they are, of a loop that an earlier daemon began and whose calls could not
// be read.
func (e *Engine) endUnread(ctx context.Context, by sdk.Loop) {
	var running []sdk.Loop
	err := e.readable(func() (err error) {
		running, err = e.cfg.Store.Unfinished(context.WithoutCancel(ctx))
		return err
	})
	for _, l := range which(running, func(l sdk.Loop) bool { return optionsOf(l).Caller == by.ID }) {
		if err == nil {
			_, err = e.childEnd(ctx, &action{again: true, Action: sdk.Action{ActionCall: sdk.ActionCall{Child: &sdk.ActionChild{Run: l.Run, Loop: l.ID}}}})
		}
	}
	if err != nil {
		e.log.Error("work that a loop delegated could not be ended; it is ended at the next start", "run", by.Run, "loop", by.Sequence, "error", err)
	}
}

// awaited reports whether a loop at work is a child's whose call waits for it: that has it go on. What nobody waits
// for any more is orphaned.
func (e *Engine) awaited(ctx context.Context, l sdk.Loop, running []sdk.Loop) (waits, orphaned bool, err error) {
	if optionsOf(l).Caller == 0 {
		return false, false, nil
	}
	run, err := e.cfg.Store.Run(ctx, l.Run)
	if err != nil {
		return false, false, err
	}
	call, err := e.cfg.Store.Entry(ctx, run.Delegator, run.DelegatedBy)
	if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
		return false, false, err
	}
	waits = err == nil && call.Phase == sdk.PhaseStarted && slices.ContainsFunc(running, func(by sdk.Loop) bool { return by.ID == call.Loop })
	return waits, !waits, nil
}
