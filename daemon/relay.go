package daemon

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/daemon/internal/server"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// relay is the engine in the words of the socket.
type relay struct {
	d *Daemon
	*project.History
}

// intake refuses what is new once the daemon stops. The code says that nothing
// was done: a client may call again, and then starts the next daemon.
func (r relay) intake() error {
	if r.d.stopping.Err() == nil {
		return nil
	}
	return rpc.Errorf(rpc.CodeBusy, sdk.Unavailable, "the daemon is stopping: try again when it has ended")
}

// Submit implements server.Engine.
func (r relay) Submit(ctx context.Context, by server.Caller, readOnly bool, p rpc.Prompt) (rpc.Accepted, error) {
	if err := r.intake(); err != nil {
		return rpc.Accepted{}, err
	}
	s := engine.Submission{
		Project: p.Project, Run: p.Run, Agent: p.Agent, Model: p.Model, Prompt: p.Prompt, ReadOnly: readOnly, Mode: p.Mode, Yolo: p.Yolo,
	}
	if p.Attend {
		s.Session = by.Session
	}
	a, err := r.d.engine.Submit(ctx, s)
	return accepted(a), err
}

func accepted(a engine.Accepted) rpc.Accepted {
	return rpc.Accepted{
		Run: a.Run.Alias, ID: a.Run.ID, Loop: a.Loop.ID, Sequence: a.Loop.Sequence, Seq: a.Seq, Model: a.Model, Why: a.Why, Ahead: a.Ahead,
	}
}

// StartRun implements server.Engine.
func (r relay) StartRun(ctx context.Context, p rpc.StartRun) (rpc.Started, error) {
	if err := r.intake(); err != nil {
		return rpc.Started{}, err
	}
	a, err := r.d.engine.StartRun(ctx, engine.Submission{Project: p.Project, Run: p.Run, Agent: p.Agent, Model: p.Model})
	if err != nil {
		return rpc.Started{}, err
	}
	return rpc.Started{Run: a.Run.Alias, ID: a.Run.ID, Model: a.Model, Why: a.Why}, nil
}

// CallTool implements server.Engine.
func (r relay) CallTool(ctx context.Context, by server.Caller, p rpc.ToolCall) (rpc.ToolDone, error) {
	if err := r.intake(); err != nil {
		return rpc.ToolDone{}, err
	}
	done, err := r.d.engine.CallTool(ctx, engine.ToolCall{
		Project: p.Project, Run: p.Run, Tool: p.Tool, Arguments: p.Arguments, Approved: by.Role.Allows(rpc.RoleApprove),
	})
	if err != nil {
		return rpc.ToolDone{}, err
	}
	return rpc.ToolDone{Result: done.Result, Path: done.Entry.Path, Run: done.Run.Alias}, nil
}

// Abort implements server.Engine.
func (r relay) Abort(ctx context.Context, run int64) error { return r.d.engine.Abort(ctx, run) }

// Resume implements server.Engine.
func (r relay) Resume(ctx context.Context, run int64) (rpc.Accepted, error) {
	if err := r.intake(); err != nil {
		return rpc.Accepted{}, err
	}
	a, err := r.d.engine.Resume(ctx, run)
	return accepted(a), err
}

// Fork implements server.Engine.
func (r relay) Fork(ctx context.Context, run int64, p rpc.Fork) (rpc.Forked, error) {
	if err := r.intake(); err != nil {
		return rpc.Forked{}, err
	}
	child, err := r.d.engine.Fork(ctx, engine.Fork{Run: run, Alias: p.As, Turn: p.Turn})
	return rpc.Forked{Run: child.Alias, ID: child.ID, Turn: child.Turns}, err
}

// Reset implements server.Engine.
func (r relay) Reset(ctx context.Context, run int64) error { return r.d.engine.Reset(ctx, run) }

// Delete implements server.Engine.
func (r relay) Delete(ctx context.Context, run int64) error { return r.d.engine.Delete(ctx, run) }

// Rename implements server.Engine.
func (r relay) Rename(ctx context.Context, run int64, name string) (sdk.Run, error) {
	return r.d.engine.Rename(ctx, run, name)
}
