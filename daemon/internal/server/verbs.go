package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// use uses one verb on entries of a run.
func (s *Server) use(ctx context.Context, run sdk.Run, c sdk.EntryCall) (sdk.EntryDone, error) {
	done, err := s.cfg.Engine.UseEntries(ctx, run, []sdk.EntryCall{c})
	if err != nil {
		return sdk.EntryDone{}, err
	}
	return done[0], nil
}

func (s *Server) set(ctx context.Context, run sdk.Run, p rpc.Set) (sdk.EntryDone, error) {
	return s.use(ctx, run, sdk.EntryCall{
		Verb: sdk.VerbSet, Path: p.Path, Body: p.Body, Append: p.Append, State: p.State, Outcome: p.Outcome,
		Visibility: p.Visibility, Attributes: p.Attributes, Summary: p.Summary, Pattern: p.Pattern, Filter: p.Filter,
	})
}

func (s *Server) get(ctx context.Context, run sdk.Run, p rpc.Get) (sdk.EntryDone, error) {
	return s.use(ctx, run, sdk.EntryCall{Verb: sdk.VerbGet, Path: p.Path, Line: p.Line, Limit: p.Limit, Preview: p.Preview, Filter: p.Filter})
}

func (s *Server) remove(ctx context.Context, run sdk.Run, p rpc.Remove) (sdk.EntryDone, error) {
	return s.use(ctx, run, sdk.EntryCall{Verb: sdk.VerbRemove, Path: p.Path, Filter: p.Filter})
}

// move is cp and mv.
func (s *Server) move(verb sdk.Verb) func(context.Context, sdk.Run, rpc.Move) (sdk.EntryDone, error) {
	return func(ctx context.Context, run sdk.Run, p rpc.Move) (sdk.EntryDone, error) {
		return s.use(ctx, run, sdk.EntryCall{Verb: verb, Path: p.Path, To: p.To, Visibility: p.Visibility})
	}
}

func (s *Server) progress(ctx context.Context, run sdk.Run, p rpc.Update) (sdk.EntryDone, error) {
	return s.use(ctx, run, sdk.EntryCall{Verb: sdk.VerbUpdate, Body: &p.Body, Status: p.Status, Attributes: p.Attributes})
}
