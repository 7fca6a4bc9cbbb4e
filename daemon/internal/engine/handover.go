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
		Store: e.cfg.Store, Enter: e.enter, Redacting: e.cfg.Redacting, Log: e.log,
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
		defer e.cfg.Rules.Change()()
	}
	if done, err = e.commitAnswer(ctx, q, writes); err != nil {
		return done, err
	}
	e.cfg.Hooks.ProposalAccepted.Emit(ctx, sdk.EntryEvent{Run: q.a.run.ID, Entry: q.x.entry})
	done.Rule = rule
	return done, nil
}
