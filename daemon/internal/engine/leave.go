package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// loopOptions is what a loop's row holds of how it was given.
type loopOptions struct {
	Resumes int64     `json:"resumes,omitempty"` // the loop that it goes on with
	Leave   sdk.Leave `json:"leave,omitempty"`
	Asker   string    `json:"asker,omitempty"` // by which the connection is known that answers what is proposed; see askers
}

// leavePath is the entry of a run that may do anything from now on.
const leavePath = "leave://run"

// grant finds the leave of a new loop: the one that was asked for, full in a run
// that was given it for good, else the agent's.
func (e *Engine) grant(ctx context.Context, p placed, s Submission) (sdk.Leave, error) {
	if s.Yolo {
		return sdk.LeaveFull, e.grantAll(ctx, p.run)
	}
	if s.Leave != "" {
		return s.Leave, nil
	}
	all, err := e.grantedAll(ctx, p.run)
	if err != nil || all {
		return sdk.LeaveFull, err
	}
	return e.agentLeave(p.agent), nil
}

// agentLeave is that of an agent, which may leave it to the configuration.
func (e *Engine) agentLeave(a sdk.Agent) sdk.Leave {
	if a.Leave != "" {
		return a.Leave
	}
	if e.cfg.Leave != nil {
		if l := e.cfg.Leave(); l.Valid() {
			return l
		}
	}
	return sdk.LeaveRestricted
}

// callLeave is that of calls which no loop makes: restricted, unless everything
// has full leave that says nothing else.
func (e *Engine) callLeave() sdk.Leave {
	if e.agentLeave(sdk.Agent{}) == sdk.LeaveFull {
		return sdk.LeaveFull
	}
	return sdk.LeaveRestricted
}

// grantAll records that every prompt of the run has full leave from now on.
func (e *Engine) grantAll(ctx context.Context, run sdk.Run) error {
	body := "a person gave this run full leave: nothing is asked, and what is not denied runs"
	_, err := e.commit(ctx, sdk.Change{Run: run.ID, Writes: []sdk.Write{{
		Path: leavePath, Body: &body, Attributes: encode(map[string]sdk.Leave{"leave": sdk.LeaveFull}), Writer: sdk.WriterSystem, Visibility: sdk.Archived,
	}}})
	return err
}

// grantedAll reports whether that is recorded. A fork does not inherit it: the
// person spoke of another run.
func (e *Engine) grantedAll(ctx context.Context, run sdk.Run) (bool, error) {
	entry, err := e.cfg.Store.Entry(ctx, run.ID, leavePath)
	if err != nil && sdk.OutcomeOf(err) == sdk.NotFound {
		return false, nil
	}
	return err == nil && entry.Scope == fmt.Sprintf("run:%d", run.ID), err
}

// options reads what the loop was given with. A loop of an earlier version has
// the leave of its agent.
func (e *Engine) options(a *activeLoop) {
	var o loopOptions
	if len(a.loop.Options) > 0 && json.Unmarshal(a.loop.Options, &o) != nil {
		o = loopOptions{}
	}
	a.asker = o.Asker
	if a.leave = o.Leave; !a.leave.Valid() {
		a.leave = e.agentLeave(a.agent)
	}
}

// LeaveOf is the leave in which a loop works: that of its prompt, else its
// agent's; empty where that leaves it to the configuration.
func LeaveOf(l sdk.Loop, agent sdk.Agent) sdk.Leave {
	var o loopOptions
	if len(l.Options) > 0 && json.Unmarshal(l.Options, &o) != nil || !o.Leave.Valid() {
		return agent.Leave
	}
	return o.Leave
}
