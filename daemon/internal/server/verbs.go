package server

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/runentry"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// onEntry is the handler of a verb on entries: of those of a run, which its parameters name, of runs
// themselves (run://ALIAS), and of what a run proposes, where a state answers it.
func onEntry[P any](s *Server, callOf func(P) sdk.EntryCall) func(context.Context, *conn, P) (sdk.EntryDone, error) {
	return func(ctx context.Context, c *conn, p P) (sdk.EntryDone, error) {
		named, call := paramsOf(&p), callOf(p)
		run, project := *named.text(rpc.AccessRun), *named.text(rpc.AccessProject)
		if runentry.Names(call) {
			return s.useRuns(ctx, c, run, project, call)
		}
		if run == "" {
			return sdk.EntryDone{}, wrongParams("%s needs the parameter \"run\" for %.80s, which is an entry of a run", call.Verb, call.Path)
		}
		found, err := s.find(ctx, run, project)
		if err != nil {
			return sdk.EntryDone{}, err
		}
		proposed, err := s.proposes(ctx, found, call)
		switch {
		case err != nil:
			return sdk.EntryDone{}, err
		case proposed:
			return s.answerBy(ctx, c, found, call)
		}
		return s.use(ctx, c, found, call)
	}
}

// use uses one verb on entries of a run.
func (s *Server) use(ctx context.Context, c *conn, run sdk.Run, call sdk.EntryCall) (sdk.EntryDone, error) {
	if err := c.reachesOwners(string(call.Verb), run, call.Path, call.To); err != nil {
		return sdk.EntryDone{}, err
	}
	var within func(path string) bool
	if !c.seesOwners(run) {
		within = func(path string) bool { return !s.ownerScheme(path) }
	}
	done, err := s.cfg.Engine.UseEntries(ctx, c.allowed().Allows(rpc.RoleApprove), within, run, []sdk.EntryCall{call})
	if err != nil {
		return sdk.EntryDone{}, err
	}
	return done[0], nil
}

func setCall(p rpc.Set) sdk.EntryCall {
	return sdk.EntryCall{
		Verb: sdk.VerbSet, Path: p.Path, Body: p.Body, Append: p.Append, State: p.State, Outcome: p.Outcome,
		Visibility: p.Visibility, Attributes: p.Attributes, Summary: p.Summary, Pattern: p.Pattern, Filter: p.Filter,
	}
}

func getCall(p rpc.Get) sdk.EntryCall {
	return sdk.EntryCall{Verb: sdk.VerbGet, Path: p.Path, Line: p.Line, Limit: p.Limit, Preview: p.Preview, Filter: p.Filter}
}

func removeCall(p rpc.Remove) sdk.EntryCall {
	return sdk.EntryCall{Verb: sdk.VerbRemove, Path: p.Path, Filter: p.Filter}
}

// moveCall is that of cp and mv.
func moveCall(verb sdk.Verb) func(rpc.Move) sdk.EntryCall {
	return func(p rpc.Move) sdk.EntryCall {
		return sdk.EntryCall{Verb: verb, Path: p.Path, To: p.To, Visibility: p.Visibility}
	}
}

func (s *Server) progress(ctx context.Context, c *conn, run sdk.Run, p rpc.Update) (sdk.EntryDone, error) {
	return s.use(ctx, c, run, sdk.EntryCall{Verb: sdk.VerbUpdate, Body: &p.Body, Status: p.Status, Attributes: p.Attributes})
}
