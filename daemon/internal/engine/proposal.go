package engine

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/sdk"
)

// Access tells what the calls of tools could touch. Answers to proposals are bound
// to what it says.
type Access interface {
	Reach(call sdk.PolicyRequest, runDir string) sdk.Reach
	// Network reports whether the network was opened for a project.
	Network(project string) bool
	// View says whether commands work on a copy of a project, and why they do not;
	// false when that is not known yet.
	View(project string) (sdk.Prepared, bool)
	// Protection is what was configured to be protected in a project.
	Protection(project string) sdk.Protection
	// Arguments are those of a call as its tool gets them, or nil when they are as they are.
	Arguments(call sdk.PolicyRequest) json.RawMessage
	// Worked are the paths of a project that a call works on, relative to it and where
	// links lead.
	Worked(call sdk.PolicyRequest) []string
}

// idLength is how much of the first hash names a proposal.
const idLength = 8

// bind makes arguments canonical and works out what an answer to the call would
// agree to. Base and Diff are still to come, and the hash with them.
func (e *Engine) bind(a *activeLoop, x *action) (sdk.ActionProposal, error) {
	arguments, err := sdk.Canonical(x.Arguments)
	if err != nil {
		return sdk.ActionProposal{}, err
	}
	x.use(arguments)
	p := sdk.ActionProposal{ReadOnly: a.loop.ReadOnly, Mode: a.mode, Dir: x.files(), Digest: x.tool.Digest, Bytes: len(arguments)}
	if e.cfg.Access != nil {
		call := x.request()
		call.Offline = a.run.Offline
		if x.own != nil {
			call.Tool.Grants = nil // policy alone judges an own tool's call by what it starts
		}
		r := e.cfg.Access.Reach(call, e.runDir(a.run))
		p.Digest, p.Dir, p.Mounts, p.Network = cmp.Or(r.Digest, p.Digest), cmp.Or(r.Dir, x.files()), r.Mounts, r.Network
	}
	if p.Command = x.calling(a.run).Command(); p.Command != "" {
		p.Bytes = len(p.Command)
	}
	return p, nil
}

// calling is the call of an action, for a proposal of it.
func (x *action) calling(run sdk.Run) proposal.Call {
	return proposal.Call{Run: run, Path: x.Path, Tool: x.tool, Arguments: x.Arguments, Project: x.project}
}

// sealed says what the action would be bound to if it were proposed now, with
// the difference that was shown then.
func (e *Engine) sealed(a *activeLoop, x *action) (sdk.ActionProposal, error) {
	now, err := e.bind(a, x)
	if err != nil {
		return now, err
	}
	now.Base, now.Diff, now.OldForm = x.Proposal.Base, x.Proposal.Diff, x.Proposal.OldForm
	return now, proposal.Seal(&now, x.calling(a.run))
}

// proposalOf is the proposal of an action's entry for people to see; false when
// it was never proposed.
func (e *Engine) proposalOf(ctx context.Context, run sdk.Run, project sdk.Project, entry sdk.Entry) (sdk.Proposal, bool) {
	a, err := sdk.ActionOf(entry)
	if err != nil {
		return sdk.Proposal{}, false
	}
	p, ok := a.Question(run, project, e.said(ctx, run.ID, entry.Turn))
	if ok && run.Delegator != 0 {
		chain, err := e.cfg.Store.Delegators(ctx, run.ID)
		if err != nil {
			return p, false
		}
		p.Chain = sdk.Aliases(chain)
	}
	return p, ok
}
