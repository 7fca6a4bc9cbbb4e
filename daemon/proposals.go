package daemon

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// policyFace is what waits for a person, and the rules, as the server shows them.
type policyFace struct{ d *Daemon }

// Pages of proposals.
const (
	proposalPage = 100
	proposalMost = 1000
)

// Proposals implements server.Policy.
func (f policyFace) Proposals(ctx context.Context, p rpc.ProposalsParams) (rpc.Proposals, error) {
	if p.Limit < 0 {
		return rpc.Proposals{}, sdk.Errorf(sdk.Validation, "limit of %s is not negative", rpc.MethodProposals)
	}
	limit := min(p.Limit, proposalMost)
	if limit == 0 {
		limit = proposalPage
	}
	project, run, err := f.place(ctx, p.Project, p.Run)
	if err != nil {
		return rpc.Proposals{}, err
	}
	all, err := f.d.engine.Proposals(ctx)
	if err != nil {
		return rpc.Proposals{}, err
	}
	all = slices.DeleteFunc(all, func(x sdk.Proposal) bool {
		return project.ID != 0 && x.Project != project.Root || run != 0 && x.Run != run
	})
	if p.Ended {
		ended, err := f.d.engine.Answered(ctx, project.ID, run, "", limit)
		if err != nil {
			return rpc.Proposals{}, err
		}
		all = append(all, ended...)
		slices.SortStableFunc(all, func(a, b sdk.Proposal) int { return b.Created.Compare(a.Created) })
	}
	return rpc.Proposals{Proposals: all[:min(len(all), limit)]}, nil
}

// place finds a project by its root, and a run by its alias there or its id. A
// project that is not known yet is an error: nothing can wait in it.
func (f policyFace) place(ctx context.Context, root, name string) (p sdk.Project, run int64, err error) {
	if root != "" {
		if p, err = f.project(ctx, root); err != nil {
			return p, 0, err
		}
	}
	if name == "" {
		return p, 0, nil
	}
	if p.ID != 0 {
		r, err := f.d.store.RunByAlias(ctx, p.ID, name)
		if err == nil || sdk.OutcomeOf(err) != sdk.NotFound {
			return p, r.ID, err
		}
	}
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return p, 0, sdk.Errorf(sdk.NotFound, "there is no run %q here: `bothy runs list -a` shows what there is; a run of another project is named by its id", name)
	}
	r, err := f.d.store.Run(ctx, id)
	if err == nil && p.ID != 0 && r.Project != p.ID {
		err = sdk.Errorf(sdk.NotFound, "the run %d is of another project than %s", id, p.Root)
	}
	return p, r.ID, err
}

func (f policyFace) project(ctx context.Context, root string) (sdk.Project, error) {
	if !filepath.IsAbs(root) {
		return sdk.Project{}, sdk.Errorf(sdk.Validation, "the project is %q and must be an absolute path", root)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		real = filepath.Clean(root) // a folder that is gone still has its runs
	}
	all, err := f.d.store.Projects(ctx)
	if err != nil {
		return sdk.Project{}, err
	}
	if i := slices.IndexFunc(all, func(p sdk.Project) bool { return p.Root == real }); i >= 0 {
		return all[i], nil
	}
	return sdk.Project{}, sdk.Errorf(sdk.NotFound, "nothing is known of the project %s: no prompt was given there yet", root)
}

// shortestID is how much of a proposal's id names it.
const shortestID = 4

// Proposal implements server.Policy: by the id or a beginning of it that is
// unique, what waits before what is over.
func (f policyFace) Proposal(ctx context.Context, id string) (sdk.Proposal, error) {
	if len(id) < shortestID || strings.Trim(id, "0123456789abcdef") != "" {
		return sdk.Proposal{}, sdk.Errorf(sdk.Validation, "%.80q names no proposal: an id is of hex digits, at least %d of them", id, shortestID)
	}
	all, err := f.d.engine.Proposals(ctx)
	if err != nil {
		return sdk.Proposal{}, err
	}
	if p, some, err := oneProposal(all, id); some || err != nil {
		return p, err
	}
	if all, err = f.d.engine.Answered(ctx, 0, 0, id, proposalPage); err != nil {
		return sdk.Proposal{}, err
	}
	p, some, err := oneProposal(all, id)
	if err == nil && !some {
		err = sdk.Errorf(sdk.NotFound, "there is no proposal %s; `bothy proposals` shows what waits", id)
	}
	return p, err
}

// oneProposal finds the one that an id names; the whole id goes before its
// beginning.
func oneProposal(all []sdk.Proposal, id string) (found sdk.Proposal, some bool, err error) {
	for _, p := range all {
		switch {
		case p.ID == id:
			return p, true, nil
		case !strings.HasPrefix(p.ID, id):
		case some:
			err = sdk.Errorf(sdk.Conflict, "the id %s may be that of %s or of %s; write more of it", id, found.ID, p.ID)
		default:
			found, some = p, true
		}
	}
	return found, some, err
}

// Resolve implements server.Policy.
func (f policyFace) Resolve(ctx context.Context, p rpc.Resolve) (rpc.Resolved, error) {
	if err := relay(f).intake(); err != nil {
		return rpc.Resolved{}, err
	}
	id := p.ID
	if found, err := f.Proposal(ctx, p.ID); err == nil {
		id = found.ID
	}
	r, err := f.d.engine.Resolve(ctx, engine.Resolution{
		ID: id, Hash: p.Hash, Answer: p.Answer, Reason: p.Reason, Arguments: p.Arguments, Remember: p.Remember,
	})
	if err != nil {
		return rpc.Resolved{}, err
	}
	return rpc.Resolved{Proposal: r.Proposal, Status: r.Status, Seq: r.Seq, Rule: r.Rule}, nil
}

// Explain implements server.Policy.
func (f policyFace) Explain(ctx context.Context, p rpc.ExplainParams) (rpc.Explained, error) {
	run, path, err := f.action(ctx, p)
	if err != nil {
		return rpc.Explained{}, err
	}
	x, err := f.d.engine.Explain(ctx, run, path)
	if err != nil {
		return rpc.Explained{}, err
	}
	return rpc.Explained{
		Run: x.Run.Alias, Path: x.Entry.Path, Tool: x.Tool, Arguments: x.Arguments, Command: x.Command,
		Decision: x.Decision, Now: x.Now, Answer: x.Answer, AnsweredBy: x.By, Status: x.Entry.Status(), Outcome: x.Entry.Outcome,
	}, nil
}

// action finds what explain is asked about: a proposal by its id, else an action
// of a run by its path or the end of it, the newest that fits.
func (f policyFace) action(ctx context.Context, p rpc.ExplainParams) (run int64, path string, err error) {
	if !strings.Contains(p.Action, "/") {
		if found, err := f.Proposal(ctx, p.Action); err == nil {
			return found.Run, found.Path, nil
		}
	}
	project, run, err := f.place(ctx, p.Project, p.Run)
	if err != nil {
		return 0, "", err
	}
	if run == 0 {
		newest, err := reader{f.d.store}.Runs(ctx, project.ID, false, 1, 0)
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
	entries, err := f.d.store.EntriesBrief(ctx, run, "log://**")
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
