package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) abort(ctx context.Context, run sdk.Run, p rpc.Abort) (rpc.Aborted, error) {
	if p.Hold {
		held, err := s.cfg.Engine.AbortHeld(ctx, run.ID)
		if err != nil {
			return rpc.Aborted{}, err
		}
		run, err = s.cfg.Store.Run(ctx, run.ID)
		return rpc.Aborted{Run: run.Alias, ID: run.ID, Status: run.Status, Held: held}, err
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

func (s *Server) release(ctx context.Context, run sdk.Run, _ rpc.RunRef) (rpc.Released, error) {
	n, err := s.cfg.Engine.Release(ctx, run.ID)
	return rpc.Released{Run: run.Alias, ID: run.ID, Queued: n}, err
}

func (s *Server) takeBack(ctx context.Context, run sdk.Run, p rpc.PromptRef) (rpc.TakenBack, error) {
	if p.Prompt < 1 {
		return rpc.TakenBack{}, wrongParams("there is no prompt %d: prompts begin with 1", p.Prompt)
	}
	return s.cfg.Engine.TakeBack(ctx, run.ID, p.Prompt)
}

func (s *Server) cassette(ctx context.Context, run sdk.Run, p rpc.CassetteOf) (rpc.CassettePiece, error) {
	return s.cfg.Engine.Cassette(ctx, run.ID, p.Prompt, p.Offset)
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

func (s *Server) resume(ctx context.Context, run sdk.Run, _ rpc.RunRef) (rpc.Accepted, error) {
	return s.cfg.Engine.Resume(ctx, run.ID)
}

func (s *Server) compact(ctx context.Context, run sdk.Run, _ rpc.RunRef) (rpc.Accepted, error) {
	return s.cfg.Engine.Compact(ctx, run.ID)
}

func (s *Server) fork(ctx context.Context, run sdk.Run, p rpc.Fork) (rpc.Forked, error) {
	if p.Turn < 0 {
		return rpc.Forked{}, wrongParams("there is no turn %d: turns begin with 1", p.Turn)
	}
	forked, err := s.cfg.Engine.Fork(ctx, run.ID, p)
	forked.Parent = rpc.RunName{ID: run.ID, Run: run.Alias}
	return forked, err
}

func (s *Server) reset(ctx context.Context, run sdk.Run, _ rpc.RunRef) (rpc.Changed, error) {
	return rpc.Changed{Run: run.Alias, ID: run.ID}, s.cfg.Engine.Reset(ctx, run.ID)
}

func (s *Server) leave(ctx context.Context, run sdk.Run, _ rpc.RunRef) (rpc.Left, error) {
	rested, err := s.cfg.Engine.Leave(ctx, run.ID)
	return rpc.Left{Run: run.Alias, ID: run.ID, Rested: rested}, err
}

func (s *Server) delete(ctx context.Context, run sdk.Run, _ rpc.RunRef) (rpc.Changed, error) {
	return rpc.Changed{Run: run.Alias, ID: run.ID}, s.cfg.Engine.Delete(ctx, run.ID)
}

func (s *Server) changes(ctx context.Context, run sdk.Run, p rpc.ChangesOf) (rpc.Changes, error) {
	return s.cfg.History.Changes(ctx, run.ID, p)
}

func (s *Server) undo(ctx context.Context, run sdk.Run, p rpc.Undo) (rpc.Undone, error) {
	return s.cfg.History.Undo(ctx, run.ID, p)
}

func (s *Server) redo(ctx context.Context, run sdk.Run, p rpc.Redo) (rpc.Undone, error) {
	return s.cfg.History.Redo(ctx, run.ID, p.Partial)
}

func (s *Server) rename(ctx context.Context, run sdk.Run, p rpc.Rename) (rpc.Changed, error) {
	run, err := s.cfg.Engine.Rename(ctx, run.ID, p.Name)
	return rpc.Changed{Run: run.Alias, ID: run.ID}, err
}

func (s *Server) configure(ctx context.Context, run sdk.Run, p rpc.RunConfig) (rpc.Configured, error) {
	run, err := s.cfg.Engine.ConfigureRun(ctx, run.ID, p)
	return rpc.Configured{Run: run.Alias, ID: run.ID, Agent: run.Agent, Model: run.Model, RunConfig: run.RunConfig}, err
}
