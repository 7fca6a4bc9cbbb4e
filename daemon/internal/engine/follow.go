package engine

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/verdict"
	"github.com/bothyd/bothy/sdk"
)

// A result may ask for a call of an unlisted tool of the same plugin, for example because a
// person has to agree to a part of what was done. It is an action of the same turn, with
// the other as its parent, and waits for its turn as the model's do: behind that one, before
// what the model called next. It is judged, proposed, answered and taken up like any other; only that it
// was not made gives up nothing, for nobody counted on it.

// wants reports whether the result of a call asks for another, of which there is no action yet.
func (x *action) wants() bool {
	return x.ended() && x.result.Follow != nil && x.behind == nil && !x.Follows
}

// unrecorded reports whether the store knows nothing of the action yet.
func (x *action) unrecorded() bool { return x.entry.Path == "" }

// followUps makes actions of the calls that results ask for and judges them. They are recorded by
// the next commit, which is the one of the results' own ends when those are new.
func (e *Engine) followUps(ctx context.Context, a *activeLoop) []*action {
	var fresh []*action
	for _, x := range a.turn.all() {
		if x.wants() {
			f := e.followUp(a.turn, x)
			e.judge(ctx, a, f)
			fresh = append(fresh, f)
		}
	}
	return fresh
}

// followUp makes an action of the call that a result asks for.
func (e *Engine) followUp(t *turn, x *action) *action {
	wanted := x.result.Follow
	t.children.mu.Lock()
	defer t.children.mu.Unlock()
	tool, fault := e.followTool(x.tool.Plugin, wanted.Tool)
	f := e.below(t, x, "follow", sdk.ActionCall{
		Tool: wanted.Tool, Arguments: wanted.Arguments, Plugin: x.tool.Plugin, Follows: true, Otherwise: wanted.Otherwise,
	}, tool, fault)
	t.children.actions = append(t.children.actions, f)
	x.behind = f
	return f
}

// followTool finds the unlisted tool of a plugin that somebody vouches for.
func (e *Engine) followTool(plugin, name string) (sdk.Tool, error) {
	for _, t := range e.cfg.Tools.Tools() {
		if t.Plugin == plugin && (t.Name == name || t.Name == t.Plugin+"__"+name) && t.Unlisted && t.Pinned {
			return t, nil
		}
	}
	return sdk.Tool{}, sdk.Errorf(sdk.NotFound, "there is no tool %q of the plugin %q that a result may ask for", name, plugin)
}

// takeUpFollow has what follows the calls of an earlier daemon follow them again.
func (t *turn) takeUpFollow() {
	by := map[string]*action{}
	for _, x := range t.all() {
		by[x.Path] = x
		if x.ended() {
			x.result.Follow = x.ActionEnd.Follow
		}
	}
	for _, f := range t.children.actions {
		if parent := by[f.Parent]; f.Follows && parent != nil {
			parent.behind = f
		}
	}
}

// queue are the actions in the order in which they are worked on: each of the model's, and
// behind it what its result, or those of the calls that were made for it, asked for. An update that
// ends the loop is the last, wherever it was written: it is judged by what all else came to.
func (t *turn) queue() []*action {
	all := t.withFollowing()
	others := which(all, func(x *action) bool { return x.ends == 0 })
	if len(others) == len(all) {
		return all
	}
	return append(others, which(all, func(x *action) bool { return x.ends != 0 })...)
}

// withFollowing are the model's actions in its order, each with what follows it.
func (t *turn) withFollowing() []*action {
	var behind map[string][]*action
	for _, f := range t.children.actions {
		if !f.Follows {
			continue
		}
		if behind == nil {
			behind = map[string][]*action{}
		}
		caller := t.caller(f)
		behind[caller] = append(behind[caller], f)
	}
	if behind == nil {
		return t.actions
	}
	var all []*action
	for _, x := range t.actions {
		all = append(append(all, x), behind[x.Path]...)
	}
	return all
}

// caller is the path of the model's call for which one was made.
func (t *turn) caller(x *action) string {
	parent := x.Parent
	for _, c := range t.children.actions {
		if c.Path == parent {
			return t.caller(c)
		}
	}
	return parent
}

// leaveUnasked gives up what results ask for in a turn that is cut short, and returns what
// is to be recorded of it.
func (e *Engine) leaveUnasked(t *turn, reason string) []sdk.Write {
	var writes []sdk.Write
	for _, x := range t.all() {
		f := x.behind
		if x.wants() {
			f = e.followUp(t, x)
		}
		if f == nil || !f.unrecorded() {
			continue
		}
		f.refuse(verdict.WorkEnded(reason))
		writes = append(writes, f.recordWrite())
	}
	return writes
}

// forgetUnrecorded has results ask again, in the next daemon, for what could not be recorded.
func (t *turn) forgetUnrecorded() {
	for _, x := range t.all() {
		if x.behind != nil && x.behind.unrecorded() {
			x.behind = nil
		}
	}
	t.children.actions = which(t.children.actions, func(x *action) bool { return !x.unrecorded() })
}
