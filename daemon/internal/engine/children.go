package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/actionpath"
	"github.com/bothyd/bothy/daemon/internal/deadline"
	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// children are the calls that plugins make within a turn: each is an action of
// that turn, and its parent is the action whose plugin made it. The model knows
// nothing of them, so they are never proposed and never begin by themselves. Among
// them are the calls that results ask for (follow.go), of which that is not so.
type children struct {
	mu      sync.Mutex
	actions []*action       // in the order in which they were recorded
	taken   map[string]bool // the paths of all actions of the turn
	next    int             // the index of the next
	asking  chan struct{}   // see turnToAsk
}

// child makes an action of a call that a plugin makes while it serves another.
func (e *Engine) child(parent *serving, tool string, arguments json.RawMessage) *action {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	t := parent.a.turn
	t.children.mu.Lock()
	defer t.children.mu.Unlock()
	found, fault := e.pluginTool(parent.a.run, tool)
	return e.below(t, parent.x, "plugin", sdk.ActionCall{Tool: tool, Arguments: arguments}, found, fault)
}

// below makes an action of a call that is made for another action, by its tool or by why that is none. Whose word it is
// names it to its turn, whose children the caller has locked.
func (e *Engine) below(t *turn, of *action, whose string, call sdk.ActionCall, tool sdk.Tool, fault error) *action {
	call.Parent, call.Index = of.Path, max(t.children.next, len(t.actions))
	t.children.next = call.Index + 1
	call.CallID = fmt.Sprintf("%s_%d", whose, call.Index)
	x := &action{Action: sdk.Action{Loop: of.Loop, Turn: of.Turn, ActionCall: call}, tool: tool, fault: fault, project: of.project, folder: of.folder}
	x.call = sdk.ReadCall{ID: x.CallID, Tool: x.Tool, Arguments: x.Arguments, Raw: string(x.Arguments)}
	if x.fault == nil && !json.Valid(x.Arguments) {
		x.Arguments, x.fault = nil, sdk.Errorf(sdk.Validation, "the arguments of %s are not JSON", x.Tool)
	}
	x.Path = actionpath.Of(x.Turn, x.call, t.children.taken, e.cfg.Redact)
	return x
}

// pluginTool finds a plugin's tool by its bare name or as plugin__tool. What an
// agent's model is offered does not narrow what plugins may call: their blocks do.
func (e *Engine) pluginTool(run sdk.Run, name string) (sdk.Tool, error) {
	var names []string
	for _, t := range e.listed(run) {
		if t.Name == name || t.Qualified() == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return sdk.Tool{}, e.noTool(name, names)
}

// callFor makes the call of a plugin that serves another, on the path of all
// actions: recorded, judged, dispatched. It costs two durable commits, a call
// that is refused one. An error is a call that was refused or could not be made.
func (e *Engine) callFor(ctx context.Context, parent *serving, x *action) (sdk.ToolResult, error) {
	a, t := parent.a, parent.a.turn
	e.judge(ctx, a, x)
	if ctx.Err() != nil {
		x.refuse(sdk.Errorf(sdk.Aborted, "the call that this one was made for has ended, so this one was not made").Tell("not made: leave it, for the call that it was for has ended"))
	}
	x.start()
	receipt, err := e.commit(ctx, ahead, sdk.Change{Run: a.run.ID, Writes: []sdk.Write{x.recordWrite()}})
	if err != nil {
		return sdk.ToolResult{}, fmt.Errorf("record the call: %w", err)
	}
	x.committed(receipt.Entries[0])
	t.children.mu.Lock()
	t.children.actions = append(t.children.actions, x)
	t.children.mu.Unlock()
	if x.closed() {
		e.cfg.Hooks.EntryCreated.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: x.entry})
		return sdk.ToolResult{}, &sdk.Error{Outcome: x.Outcome, Message: x.Body}
	}
	failpoint.Hit(failpoint.ChildRecorded)
	e.cfg.Hooks.ToolBefore.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: x.entry})
	var failed error
	if ctx.Err() != nil { // while the hooks were told
		x.refuse(sdk.Errorf(sdk.Aborted, "the call that this one was made for has ended, so this one was not made").Tell("not made: leave it, for the call that it was for has ended"))
		failed = &sdk.Error{Outcome: x.Outcome, Message: x.Body}
	} else {
		failed = e.run(ctx, a, x)
	}
	if !x.ended() {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Interrupted, "the daemon stopped while the call ran; what it did is unknown")
	}
	over := []*action{x}
	receipt, err = e.commitEnds(e.base, happened, a, over, func() sdk.Change { return sdk.Change{Run: a.run.ID, Writes: endWrites(over)} })
	if err != nil { // the turn's next commit has its end
		return sdk.ToolResult{}, fmt.Errorf("the call ended, and its end could not be recorded: %w", err)
	}
	x.committed(receipt.Entries[0])
	failpoint.Hit(failpoint.ChildEnded)
	e.tellOver(context.WithoutCancel(ctx), a, x)
	result := x.result
	result.Follow = nil // which is the turn's to make
	return result, failed
}

// takeUp takes over what an earlier daemon recorded of a turn.
func (c *children) takeUp(project, folder string, actions []*action, left []leftCall) {
	for _, l := range left {
		c.actions = append(c.actions, leftAction(l, project, folder))
	}
	c.taken = map[string]bool{}
	for _, x := range slices.Concat(actions, c.actions) {
		c.taken[x.Path] = true
		c.next = max(c.next, x.Index+1)
	}
}

// inOrder are calls, each behind those that its plugin made on its way.
func inOrder[C any](calls, children []C, place func(C) (path, parent string)) []C {
	if len(children) == 0 {
		return calls
	}
	of := map[string][]C{}
	for _, c := range children {
		_, parent := place(c)
		of[parent] = append(of[parent], c)
	}
	var all []C
	var add func([]C)
	add = func(calls []C) {
		for _, c := range calls {
			path, _ := place(c)
			add(of[path])
			all = append(all, c)
		}
	}
	add(calls)
	return all
}

// serving is an action whose plugin serves its call now, and may make others.
type serving struct {
	a    *activeLoop
	x    *action
	ctx  context.Context    // of the call
	late *deadline.Deadline // its end, which stands still while a person is asked
	open sync.WaitGroup     // calls that were made while it is served
}

// servings knows what plugins serve now, by the id of the call.
type servings struct {
	mu sync.Mutex
	by map[string]*serving
}

// begin has a plugin make other calls until end, which ends those that are still
// under way and waits for them.
func (s *servings) begin(ctx context.Context, late *deadline.Deadline, id string, a *activeLoop, x *action) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	now := &serving{a: a, x: x, ctx: ctx, late: late}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string]*serving{}
	}
	s.by[id] = now
	return func() {
		s.mu.Lock()
		delete(s.by, id)
		s.mu.Unlock()
		cancel()
		now.open.Wait()
	}
}

// find returns what a plugin serves.
func (s *servings) find(id string) (*serving, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, ok := s.by[id]
	if !ok {
		return nil, sdk.Errorf(sdk.Validation, "this call belongs to no run, or has ended: there are no entries to read or write, and no tool is called for it")
	}
	return now, nil
}

// enter is find for a call, which the end of the other waits for until done.
func (s *servings) enter(id string) (now *serving, done func(), err error) {
	if now, err = s.find(id); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by[id] != now {
		return nil, nil, sdk.Errorf(sdk.Aborted, "the call that this one was made for has ended")
	}
	now.open.Add(1)
	return now, now.open.Done, nil
}

// within is the context of a request that a plugin makes while it serves a call:
// it ends with the request and with the call, and then with the call's cause.
func (s *serving) within(request context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(request))
	stopCall := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	stop := context.AfterFunc(request, func() {
		if s.ctx.Err() != nil { // it ended because of that
			cancel(context.Cause(s.ctx))
		} else if !errors.Is(request.Err(), context.DeadlineExceeded) {
			cancel(context.Cause(request))
		}
	})
	return ctx, func() { stopCall(); stop(); cancel(nil) }
}
