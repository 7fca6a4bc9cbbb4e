package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) abort(ctx context.Context, _ *conn, p rpc.RunRef) (rpc.Aborted, error) {
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.Aborted{}, err
	}
	loops, err := s.cfg.Store.Loops(ctx, run.ID) // now: the next one may be at work when the abort returns
	if err != nil {
		return rpc.Aborted{}, err
	}
	if err := s.cfg.Engine.Abort(ctx, run.ID); err != nil {
		return rpc.Aborted{}, err
	}
	run, err = s.cfg.Store.Run(ctx, run.ID)
	return rpc.Aborted{Run: run.Alias, ID: run.ID, Status: run.Status, Queued: queued(loops)}, err
}

// queued counts the loops that wait.
func queued(loops []sdk.Loop) int {
	n := 0
	for _, l := range loops {
		if l.Status == sdk.StatusQueued {
			n++
		}
	}
	return n
}

func (s *Server) resume(ctx context.Context, _ *conn, p rpc.RunRef) (rpc.Accepted, error) {
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.Accepted{}, err
	}
	return s.cfg.Engine.Resume(ctx, run.ID)
}

func (s *Server) fork(ctx context.Context, _ *conn, p rpc.Fork) (rpc.Forked, error) {
	if p.Turn < 0 {
		return rpc.Forked{}, wrongParams("there is no turn %d: turns begin with 1", p.Turn)
	}
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.Forked{}, err
	}
	forked, err := s.cfg.Engine.Fork(ctx, run.ID, p)
	forked.Parent = rpc.RunName{ID: run.ID, Run: run.Alias}
	return forked, err
}

func (s *Server) reset(ctx context.Context, _ *conn, p rpc.RunRef) (rpc.Changed, error) {
	return s.change(ctx, p, s.cfg.Engine.Reset)
}

func (s *Server) delete(ctx context.Context, _ *conn, p rpc.RunRef) (rpc.Changed, error) {
	return s.change(ctx, p, s.cfg.Engine.Delete)
}

func (s *Server) change(ctx context.Context, p rpc.RunRef, do func(context.Context, int64) error) (rpc.Changed, error) {
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.Changed{}, err
	}
	return rpc.Changed{Run: run.Alias, ID: run.ID}, do(ctx, run.ID)
}

func (s *Server) changes(ctx context.Context, _ *conn, p rpc.RunRef) (rpc.Changes, error) {
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.Changes{}, err
	}
	return s.cfg.History.Changes(ctx, run.ID)
}

func (s *Server) undo(ctx context.Context, _ *conn, p rpc.Undo) (rpc.Undone, error) {
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.Undone{}, err
	}
	return s.cfg.History.Undo(ctx, run.ID, p.Partial)
}

func (s *Server) rename(ctx context.Context, _ *conn, p rpc.Rename) (rpc.Changed, error) {
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.Changed{}, err
	}
	run, err = s.cfg.Engine.Rename(ctx, run.ID, p.Name)
	return rpc.Changed{Run: run.Alias, ID: run.ID}, err
}
