package engine

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/command"
	"github.com/bothyd/bothy/daemon/internal/rulebook"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Socket is the engine in the words of the socket: what a call says becomes what
// the engine takes, and what comes of it an answer. All else is the engine's own, and
// that of rooms which it works with.
type Socket struct {
	*Engine
	*command.Clients
	*rulebook.Book
}

// Socket is the engine for the socket.
func (e *Engine) Socket() Socket { return Socket{e, e.clients, e.cfg.Rules} }

// Submit queues a prompt. The session is that of the connection that answers what is
// proposed, empty when none does; approved says that the caller may approve, origin whose the run is to be.
func (s Socket) Submit(ctx context.Context, session string, readOnly, approved bool, origin sdk.Origin, p rpc.Prompt) (rpc.Accepted, error) {
	a, err := s.Engine.Submit(ctx, Submission{
		Project: p.Project, Run: p.Run, Fork: p.Fork, Agent: p.Agent, Model: p.Model, Prompt: p.Prompt, Quoted: p.Quoted, Attachments: p.Attachments, Media: p.Media, Schema: p.Schema, ReadOnly: readOnly, Mode: p.Mode, Yolo: p.Yolo, Key: p.Key, Session: session, Approved: approved, Origin: origin,
		From: p.From, Usually: p.Usually, Record: p.Record, Replay: p.Replay, Strict: p.Strict, Options: p.RunOptions, Usual: p.Usual, Plan: p.Plan,
	})
	return accepted(a), err
}

func accepted(a Accepted) rpc.Accepted {
	return rpc.Accepted{
		Run: a.Run.Alias, ID: a.Run.ID, Loop: a.Loop.ID, Sequence: a.Loop.Sequence, Status: a.Loop.Status, Seq: a.Seq, Model: a.Model, Why: a.Why, Ahead: a.Ahead, Mode: a.Mode,
	}
}

// Compact has a run's model summarize it.
func (s Socket) Compact(ctx context.Context, run int64) (rpc.Accepted, error) {
	a, err := s.Engine.Compact(ctx, run)
	return accepted(a), err
}

// StartRun makes a run without a prompt. Origin says whose it is to be.
func (s Socket) StartRun(ctx context.Context, origin sdk.Origin, p rpc.StartRun) (rpc.Started, error) {
	a, err := s.Engine.StartRun(ctx, Submission{Project: p.Project, Run: p.Run, Agent: p.Agent, Model: p.Model, Yolo: p.Yolo, Origin: origin, From: p.From, Usually: p.Usually, Options: p.RunOptions})
	return rpc.Started{Run: a.Run.Alias, ID: a.Run.ID, Model: a.Model, Why: a.Why}, err
}

// Init makes a folder known as a project, and its files entries. That those cannot all be looked at
// in time is no failure: the next prompt looks again.
func (s Socket) Init(ctx context.Context, root string) (sdk.Project, error) {
	leave, err := s.enter()
	if err != nil {
		return sdk.Project{}, err
	}
	defer leave()
	p, err := s.openProject(ctx, root)
	if err != nil || s.cfg.Files == nil {
		return p, err
	}
	ctx, cancel := context.WithTimeout(ctx, scanTime)
	defer cancel()
	if _, err := s.cfg.Files.Scan(ctx, p); err != nil {
		s.log.Warn("the files of the project could not all be looked at", "project", p.Root, "error", err)
	}
	return p, nil
}

// CallTool calls one tool. approved says that whoever calls may approve, origin who that is.
func (s Socket) CallTool(ctx context.Context, approved bool, origin sdk.Origin, p rpc.ToolCall) (rpc.ToolDone, error) {
	done, err := s.Engine.CallTool(ctx, ToolCall{Project: p.Project, Run: p.Run, Tool: p.Tool, Arguments: p.Arguments, Model: p.Model, Join: p.Join, Approved: approved, Origin: origin})
	return rpc.ToolDone{Result: done.Result, Path: done.Entry.Path, Run: done.Run.Alias}, err
}

// Resume goes on with a run whose last loop was cut short.
func (s Socket) Resume(ctx context.Context, run int64) (rpc.Accepted, error) {
	a, err := s.Engine.Resume(ctx, run)
	return accepted(a), err
}

// Fork makes a run that begins with what another one knew.
func (s Socket) Fork(ctx context.Context, run int64, p rpc.Fork) (rpc.Forked, error) {
	child, err := s.Engine.Fork(ctx, Fork{Run: run, Alias: p.As, Turn: p.Turn})
	return rpc.Forked{Run: child.Alias, ID: child.ID, Turn: child.Turns}, err
}
