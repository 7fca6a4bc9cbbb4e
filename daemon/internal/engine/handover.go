package engine

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/command"
	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/daemon/internal/rulebook"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// A client that accepts a proposed command of sh or env as its own runs it: the action ends there, the loop goes
// on, and the command's output comes from the client. What it sends is bound to the connection that accepted it; when
// that closes, or the daemon ends, the output ends at 499 (package command).

// newClients are the commands that clients run.
func (e *Engine) newClients() *command.Clients {
	return &command.Clients{
		Store: e.cfg.Store, Redacting: e.redacting, Log: e.log,
		Commit: func(ctx context.Context, c sdk.Change) (sdk.Receipt, error) { return e.commit(ctx, happened, c) },
		Kill: func(run int64, path, reason string) bool {
			return e.commands.cancel(run, path, fmt.Errorf("%w (%s)", errAborted, reason))
		},
	}
}

// handOver ends the action of a command that the client runs which accepted it. Filters may veto that.
func (e *Engine) handOver(ctx context.Context, q *question, h here, remember sdk.Remember) (done rpc.Resolved, err error) {
	if h.session == "" {
		return rpc.Resolved{}, sdk.Errorf(sdk.Validation, "whoever runs a command stays connected: accept it over a WebSocket or the Unix socket, or have the daemon run it (proposals/resolve)")
	}
	rule, err := q.call().Rule(remember, e.cfg.Clock())
	if err != nil {
		return rpc.Resolved{}, err
	}
	ruled, err := e.cfg.Hooks.ProposalAccepting.Apply(ctx, sdk.Resolution{Run: q.a.run.ID, Entry: q.x.entry, Allow: true})
	if err != nil {
		ruled.Allow, ruled.Outcome, ruled.Body = false, sdk.OutcomeOf(err), err.Error()
	}
	if !ruled.Allow {
		return e.veto(ctx, q, ruled)
	}
	begun, err := e.clients.Take(h.session, q.a.run, q.x.Path)
	if err != nil {
		return rpc.Resolved{}, err
	}
	defer func() { begun(err == nil) }()
	outputs := command.Outputs(q.x.Path)
	q.given.Runs = sdk.RunsClient
	if rule != nil {
		q.given.Rule = rule.ID
	}
	told := fmt.Sprintf("'%s' runs at the person who accepted it, not in the sandbox; Output: %s and %s, which grow while it runs", sdk.Excerpt(q.x.command()), outputs[0], outputs[1])
	writes := append([]sdk.Write{proposal.Answer(q.x.entry, q.given, told)}, outputWrites([]*action{q.x})...)
	if rule != nil {
		writes = append(writes, rulebook.Write(*rule))
	}
	if done, err = e.commitAnswer(ctx, q, writes); err != nil {
		return done, err
	}
	e.cfg.Hooks.ProposalAccepted.Emit(ctx, sdk.EntryEvent{Run: q.a.run.ID, Entry: q.x.entry})
	if done.Rule = rule; rule != nil {
		e.cfg.Rules.Changed()
	}
	return done, nil
}

// StreamsCancelled has somebody told of commands of clients that end and not by their client's word. It is
// called before there are any.
func (e *Engine) StreamsCancelled(tell func(session string, run int64, p rpc.StreamCancelled)) {
	e.clients.Cancelled(tell)
}

// Stream takes a piece of what a client's command printed. It is durable when that returns, but for the
// beginning of a secret at its end.
func (e *Engine) Stream(ctx context.Context, session string, run int64, p rpc.Stream) error {
	leave, err := e.enter()
	if err != nil {
		return err
	}
	defer leave()
	return e.clients.Stream(ctx, session, run, p)
}

// StreamCompleted ends a client's command that came to its own end.
func (e *Engine) StreamCompleted(ctx context.Context, session string, run int64, p rpc.StreamCompleted) ([]rpc.StreamOutput, error) {
	leave, err := e.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	return e.clients.Completed(ctx, session, run, p)
}

// StreamAborted ends a client's command that the client ended.
func (e *Engine) StreamAborted(ctx context.Context, session string, run int64, p rpc.StreamAborted) ([]rpc.StreamOutput, error) {
	leave, err := e.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	return e.clients.Aborted(ctx, session, run, p)
}

// StreamCancel ends a command of sh or env, whoever runs it: a client is told, one in the sandbox is killed. What is left at
// 102 with nobody who runs it is ended as well.
func (e *Engine) StreamCancel(ctx context.Context, run int64, p rpc.StreamCancel) ([]rpc.StreamOutput, error) {
	leave, err := e.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	return e.clients.Cancel(ctx, run, p)
}

// LeaveStreams ends the commands of a client that is gone.
func (e *Engine) LeaveStreams(session string) {
	leave, err := e.enter()
	if err != nil {
		return // the next daemon ends them
	}
	defer leave()
	e.clients.Leave(session)
}
