package server

import (
	"context"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// summaries makes lines of lists of runs.
type summaries struct {
	s       *Server
	roots   map[int64]string // by project
	waiting map[int64][]rpc.Waiting
}

func (s *Server) summaries(ctx context.Context) (summaries, error) {
	x := summaries{s: s, roots: map[int64]string{}}
	projects, err := s.cfg.Store.Projects(ctx)
	if err != nil {
		return x, err
	}
	for _, p := range projects {
		x.roots[p.ID] = p.Root
	}
	x.waiting, err = s.waits(ctx)
	return x, err
}

// of is the line of a run, without its children.
func (x summaries) of(ctx context.Context, run sdk.Run) (rpc.RunSummary, error) {
	loops, err := x.s.cfg.Store.Loops(ctx, run.ID)
	if err != nil {
		return rpc.RunSummary{}, err
	}
	r := rpc.RunSummary{
		Run: run, ProjectRoot: x.roots[run.Project], Summary: firstLine(lastPrompt(loops)), Queued: queued(loops), LastActivity: activity(run, loops), Waiting: x.waiting[run.ID],
	}
	r.LastPrompt, _ = cut(lastPrompt(loops), historyBody)
	r.Persona, _ = cut(run.Persona, historyBody)
	if r.Queued > 0 {
		r.Held, err = x.s.held(ctx, run.ID)
	}
	return r, err
}

// below are the lines of the children of a run, oldest first, and behind each those of its own.
func (x summaries) below(ctx context.Context, run sdk.Run) ([]rpc.RunChild, error) {
	found, err := x.s.cfg.Store.Runs(ctx, sdk.RunFilter{Below: run.ID, Hidden: true})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	of := map[int64][]sdk.Run{}
	for _, child := range slices.Backward(found) {
		of[child.Delegator] = append(of[child.Delegator], child)
	}
	var all []rpc.RunChild
	var list func(parent int64, depth int) error
	list = func(parent int64, depth int) error {
		for _, child := range of[parent] {
			r, err := x.of(ctx, child.ForHook())
			if err != nil {
				return err
			}
			all = append(all, rpc.RunChild{Run: r.Run, Depth: depth, Summary: r.Summary, LastActivity: r.LastActivity, Waiting: r.Waiting})
			if err := list(child.ID, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	err = list(run.ID, 1)
	return all, err
}
