package engine

import (
	"context"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/sdk"
)

// apart are those of neighbouring calls that delegate, from the first on, whose children may be at work at the same
// time (decision 103); what stands behind them waits for their ends. Other calls are left as they are.
func (e *Engine) apart(ctx context.Context, a *activeLoop, group []*action) []*action {
	if len(group) < 2 || !group[0].delegates() || a.loop.ReadOnly {
		return group
	}
	tasks := make([]delegate.Task, len(group))
	for i, x := range group {
		var err error
		if tasks[i], err = a.task(x); err != nil { // it is refused, or was
			return group[:max(i, 1)]
		}
	}
	copies := true
	if slices.ContainsFunc(tasks, func(t delegate.Task) bool { return !t.OnlyReads() }) {
		copies = e.copies(ctx, a)
	}
	for i := range tasks {
		if slices.ContainsFunc(tasks[:i], func(before delegate.Task) bool { return !tasks[i].Beside(before, copies) }) {
			return group[:i]
		}
	}
	return group
}

// copies reports whether the commands of a loop's children work on copies of the project. What is not known yet is
// found out, as the first command of one of them would.
func (e *Engine) copies(ctx context.Context, a *activeLoop) bool {
	if e.cfg.Access == nil {
		return true // nothing here runs commands
	}
	view, known := e.view(a.project, a.run)
	for _, agent := range e.agentsFor(a) {
		if known {
			break
		}
		for _, at := range e.places(e.offer(agent, false), a.project, a.run) {
			e.prepareTool(ctx, at)
		}
		view, known = e.view(a.project, a.run)
	}
	return view.View
}

// besideSiblings makes a call of a tool. Of a child it heeds what its siblings do.
func (e *Engine) besideSiblings(ctx context.Context, a *activeLoop, x *action, do func() (sdk.ToolResult, error)) (sdk.ToolResult, error) {
	if a.run.Delegator == 0 || e.cfg.Access == nil {
		return do()
	}
	var named []string
	if x.workOnFiles() {
		named = e.cfg.Access.Worked(x.request())
	}
	changes := x.changesFiles()
	return e.abreast.Call(ctx, a.run.ID, a.project.ID, named, changes, changes && !a.turn.changesFor(x), do)
}

// workOnFiles reports whether the call's tool works on the project itself: commands do not, whose changes are compared
// with it when they are applied.
func (x *action) workOnFiles() bool {
	return x.own == nil && slices.Contains(x.tool.Grants, sdk.GrantProject) && x.tool.Command == ""
}

// changesFiles reports whether it may change files there.
func (x *action) changesFiles() bool { return x.workOnFiles() && !x.tool.Annotations.ReadOnly }

// changesFor reports whether a call is made for another one of the turn that changes files, and is alone in that already.
func (t *turn) changesFor(x *action) bool {
	t.children.mu.Lock()
	defer t.children.mu.Unlock()
	all := t.all()
	for x.plugged() {
		i := slices.IndexFunc(all, func(by *action) bool { return by.Path == x.Parent })
		if i < 0 {
			return false
		}
		if x = all[i]; x.changesFiles() {
			return true
		}
	}
	return false
}
