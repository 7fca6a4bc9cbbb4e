package server

import (
	"context"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Policy answers for what waits for a person, and for the rules that answers left.
type Policy interface {
	Proposals(ctx context.Context) ([]sdk.Proposal, error) // that wait, oldest first
	// Answered are those that wait no more, newest first; zero values are all.
	Answered(ctx context.Context, project, run int64, id string, limit int) ([]sdk.Proposal, error)
	Resolve(ctx context.Context, p rpc.Resolve) (rpc.Resolved, error)
	// ResolveRun is Resolve for a client that answers by run/resolve, of a session. Output goes with an answer
	// that accepts.
	ResolveRun(ctx context.Context, session string, p rpc.Resolve, output string) (rpc.Resolved, error)
	// Message is a proposal as a message of a channel has it, without a ticket, and ResolveByChannel is Resolve for a
	// person who answers by that, and who may.
	Message(ctx context.Context, p rpc.TicketParams) (rpc.Ticket, error)
	ResolveByChannel(ctx context.Context, p rpc.ChannelAnswer) (rpc.Resolved, error)
	Rules(ctx context.Context, root string) ([]sdk.RememberedRule, error)
	Forget(ctx context.Context, root, id string) (sdk.RememberedRule, error)
	Explain(ctx context.Context, run int64, path string) (rpc.Explained, error)
}

func (s *Server) proposals(ctx context.Context, c *conn, p rpc.ProposalsParams) (rpc.Proposals, error) {
	limit, err := page(rpc.MethodProposals, p.Limit, 0)
	if err != nil {
		return rpc.Proposals{}, err
	}
	project, run, err := s.placeOf(ctx, p.Project, p.Run)
	if err != nil {
		return rpc.Proposals{}, err
	}
	all, err := s.cfg.Policy.Proposals(ctx)
	if err != nil {
		return rpc.Proposals{}, err
	}
	all = slices.DeleteFunc(all, func(x sdk.Proposal) bool {
		return project.ID != 0 && x.Project != project.Root || run != 0 && x.Run != run && (len(x.Chain) == 0 || !s.below(x.Run, run))
	})
	if p.Ended {
		ended, err := s.cfg.Policy.Answered(ctx, project.ID, run, "", limit)
		if err != nil {
			return rpc.Proposals{}, err
		}
		all = append(all, ended...)
		slices.SortStableFunc(all, func(a, b sdk.Proposal) int { return b.Created.Compare(a.Created) })
	}
	if all, err = kept(all, func(x sdk.Proposal) (bool, error) { return c.sees(ctx, x.Run) }); err != nil {
		return rpc.Proposals{}, err
	}
	return rpc.Proposals{Proposals: orEmpty(all[:min(len(all), limit)])}, nil
}

// placeOf finds a project by its root and a run in it, or anywhere by its id. Empty
// names are zero values. A project that is not known yet is an error: nothing can
// wait in it.
func (s *Server) placeOf(ctx context.Context, root, name string) (p sdk.Project, run int64, err error) {
	if root != "" {
		known := false
		if p, known, err = s.project(ctx, root); err == nil && !known {
			err = sdk.Errorf(sdk.NotFound, "nothing is known of the project %s: no prompt was given there yet", root)
		}
	}
	if err != nil || name == "" {
		return p, 0, err
	}
	r, err := s.find(ctx, name, root)
	return p, r.ID, err
}

func (s *Server) proposal(ctx context.Context, _ *conn, p rpc.ProposalRef) (sdk.Proposal, error) {
	return s.findProposal(ctx, p.ID, nil)
}

// shortestID is how much of a proposal's id names it.
const shortestID = 4

// findProposal finds a proposal by its id or a beginning of it that is unique, what
// waits before what is over. sees, which may be nil, says of which it may be one.
func (s *Server) findProposal(ctx context.Context, id string, sees func(sdk.Proposal) (bool, error)) (sdk.Proposal, error) {
	if len(id) < shortestID || strings.Trim(id, "0123456789abcdef") != "" {
		return sdk.Proposal{}, sdk.Errorf(sdk.Validation, "%.80q names no proposal: an id is of hex digits, at least %d of them", id, shortestID)
	}
	all, err := s.cfg.Policy.Proposals(ctx)
	if err == nil {
		all, err = kept(all, sees)
	}
	found := named(all, id, proposalID)
	if err == nil && len(found) == 0 {
		if all, err = s.cfg.Policy.Answered(ctx, 0, 0, id, defaultPage); err == nil {
			all, err = kept(all, sees)
		}
		found = named(all, id, proposalID)
	}
	switch {
	case err != nil:
		return sdk.Proposal{}, err
	case len(found) == 0:
		return sdk.Proposal{}, sdk.Errorf(sdk.NotFound, "there is no proposal %s; `bothy proposals` shows what waits", id)
	case len(found) > 1:
		return sdk.Proposal{}, sdk.Errorf(sdk.Conflict, "the id %s may be that of %s or of %s; write more of it", id, found[0].ID, found[1].ID)
	}
	return found[0], nil
}

// kept are the proposals of a list that sees reports true for; all with nil.
func kept(all []sdk.Proposal, sees func(sdk.Proposal) (bool, error)) ([]sdk.Proposal, error) {
	if sees == nil {
		return all, nil
	}
	var own []sdk.Proposal
	for _, x := range all {
		is, err := sees(x)
		if err != nil {
			return nil, err
		}
		if is {
			own = append(own, x)
		}
	}
	return own, nil
}

func proposalID(p sdk.Proposal) string { return p.ID }

// named are those of a list that an id names: the whole id goes before its
// beginning.
func named[T any](all []T, id string, idOf func(T) string) []T {
	var whole, begun []T
	for _, x := range all {
		switch {
		case idOf(x) == id:
			whole = append(whole, x)
		case id != "" && strings.HasPrefix(idOf(x), id):
			begun = append(begun, x)
		}
	}
	if len(whole) > 0 {
		return whole
	}
	return begun
}

func (s *Server) resolve(ctx context.Context, _ *conn, p rpc.Resolve) (rpc.Resolved, error) {
	if found, err := s.findProposal(ctx, p.ID, nil); err == nil {
		p.ID = found.ID
	}
	return s.cfg.Policy.Resolve(ctx, p)
}

func (s *Server) explain(ctx context.Context, _ *conn, p rpc.ExplainParams) (rpc.Explained, error) {
	run, path, err := s.action(ctx, p)
	if err != nil {
		return rpc.Explained{}, err
	}
	return s.cfg.Policy.Explain(ctx, run, path)
}

// action finds what explain is asked about: a proposal by its id, else an action
// of a run by its path or the end of it, the newest that fits.
func (s *Server) action(ctx context.Context, p rpc.ExplainParams) (run int64, path string, err error) {
	if !strings.Contains(p.Action, "/") {
		if found, err := s.findProposal(ctx, p.Action, nil); err == nil {
			return found.Run, found.Path, nil
		}
	}
	project, run, err := s.placeOf(ctx, p.Project, p.Run)
	if err != nil {
		return 0, "", err
	}
	if run == 0 {
		newest, err := s.cfg.Store.Runs(ctx, sdk.RunFilter{Project: project.ID, Limit: 1})
		if err != nil {
			return 0, "", err
		}
		if len(newest) == 0 {
			return 0, "", sdk.Errorf(sdk.NotFound, "there is no run here whose actions could be explained")
		}
		run = newest[0].ID
	}
	if p.Action == "" {
		return 0, "", sdk.Errorf(sdk.Validation, "name the action to explain: its path (log://turn_2/bash/call), its end (turn_2/bash/call), or a proposal's id")
	}
	entries, err := s.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run, Pattern: "log://**", Brief: true})
	if err != nil {
		return 0, "", err
	}
	for _, e := range slices.Backward(entries) {
		if e.Phase != sdk.PhaseNone && (e.Path == p.Action || strings.HasSuffix(e.Path, "/"+strings.TrimPrefix(p.Action, "/"))) {
			return run, e.Path, nil
		}
	}
	return 0, "", sdk.Errorf(sdk.NotFound, "the run has no action %q; `bothy runs show` names its actions", p.Action)
}
