package daemon

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// relay is the engine in the words of the socket.
type relay struct{ d *Daemon }

// intake refuses what is new once the daemon stops. The code says that nothing
// was done: a client may call again, and then starts the next daemon.
func (r relay) intake() error {
	if r.d.stopping.Err() == nil {
		return nil
	}
	return rpc.Errorf(rpc.CodeBusy, sdk.Unavailable, "the daemon is stopping: try again when it has ended")
}

// Submit implements server.Engine.
func (r relay) Submit(ctx context.Context, mode sdk.Mode, p rpc.Prompt) (rpc.Accepted, error) {
	if err := r.intake(); err != nil {
		return rpc.Accepted{}, err
	}
	a, err := r.d.engine.Submit(ctx, engine.Submission{
		Project: p.Project, Run: p.Run, Agent: p.Agent, Model: p.Model, Prompt: p.Prompt, Mode: mode,
	})
	if err != nil {
		return rpc.Accepted{}, err
	}
	return rpc.Accepted{
		Run: a.Run.Alias, ID: a.Run.ID, Loop: a.Loop.ID, Sequence: a.Loop.Sequence, Seq: a.Seq, Model: a.Model, Why: a.Why,
	}, nil
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
func (r relay) CallTool(ctx context.Context, p rpc.ToolCall) (rpc.ToolDone, error) {
	if err := r.intake(); err != nil {
		return rpc.ToolDone{}, err
	}
	done, err := r.d.engine.CallTool(ctx, engine.ToolCall{Project: p.Project, Run: p.Run, Tool: p.Tool, Arguments: p.Arguments})
	if err != nil {
		return rpc.ToolDone{}, err
	}
	return rpc.ToolDone{Result: done.Result, Path: done.Entry.Path, Run: done.Run.Alias}, nil
}

// Abort implements server.Engine.
func (r relay) Abort(ctx context.Context, run int64) error { return r.d.engine.Abort(ctx, run) }

// reader is the store as the server reads it.
type reader struct{ *store.Store }

// Runs implements server.Store.
func (r reader) Runs(ctx context.Context, project int64, hidden bool, limit, offset int) ([]sdk.Run, error) {
	return r.Store.Runs(ctx, store.RunFilter{Project: project, Hidden: hidden, Limit: limit, Offset: offset})
}
