package server

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/bothyd/bothy/daemon/internal/runentry"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// useRuns uses a verb on run://ALIAS (decision 93). What it comes to is called as its method, through the
// same row of the table: the role, what attributes widen, and the limits of a channel are those of the effect.
func (s *Server) useRuns(ctx context.Context, c *conn, run, project string, call sdk.EntryCall) (sdk.EntryDone, error) {
	r, err := s.runsOf(ctx, c, run, project)
	if err != nil {
		return sdk.EntryDone{}, err
	}
	if c.grant != nil {
		call.Path, call.To = c.grant.path(ctx, s, r.Project.Root, call.Path), c.grant.path(ctx, s, r.Project.Root, call.To)
	}
	if call.Verb == sdk.VerbGet {
		return r.Get(ctx, call)
	}
	at, err := r.At(ctx, call.Path)
	if err != nil {
		return sdk.EntryDone{}, err
	}
	to, err := runentry.Of(call, at)
	if err != nil {
		return sdk.EntryDone{}, err
	}
	result, err := c.perform(ctx, to.Method, to.Params)
	if err != nil {
		return sdk.EntryDone{}, err
	}
	if r.Project.ID == 0 { // it is known by now
		r, _ = s.runsOf(ctx, c, run, project)
	}
	return r.Done(ctx, result), nil
}

// runsOf reads the runs of a project, named by itself or by one of its runs.
func (s *Server) runsOf(ctx context.Context, c *conn, run, project string) (runentry.Reader, error) {
	r := runentry.Reader{Store: s.cfg.Store, Sees: func(r sdk.Run) bool { return c.grant == nil || r.Channel == c.grant.instance }} // of a project of its own
	if project == "" {
		if run == "" {
			return r, wrongParams("run://ALIAS is a run of a project, which has to be named")
		}
		found, err := s.find(ctx, run, "")
		if err != nil {
			return r, err
		}
		projects, err := s.cfg.Store.Projects(ctx)
		for _, p := range projects {
			if p.ID == found.Project {
				r.Project = p
			}
		}
		return r, err
	}
	p, known, err := s.project(ctx, project)
	if !known {
		p = sdk.Project{Root: project}
	}
	r.Project = p
	return r, err
}

// perform calls a method as if the client had.
func (c *conn) perform(ctx context.Context, method string, params any) (any, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	return c.s.methods[method].call(ctx, c, method, raw)
}

// inject queues a prompt as the run's last one was given.
func (s *Server) inject(ctx context.Context, c *conn, p rpc.Inject) (rpc.Accepted, error) {
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.Accepted{}, err
	}
	r, err := s.runsOf(ctx, c, p.Run, p.Project)
	if err != nil {
		return rpc.Accepted{}, err
	}
	at, err := r.At(ctx, runentry.Path(run.Alias))
	if err != nil {
		return rpc.Accepted{}, err
	}
	return s.submit(ctx, c, at.ReadOnly, rpc.MethodInject, rpc.Prompt{Project: at.Project, Run: run.Alias, Prompt: p.Message, Quoted: p.Quoted, Key: p.Key, From: p.From})
}

// answers are the actions of run/resolve that a state of a proposed entry stands for.
var answers = map[sdk.State]rpc.ResolveAction{
	sdk.StateResolved: rpc.ActionAccept, sdk.StateCancelled: rpc.ActionReject, sdk.StateFailed: rpc.ActionError,
}

// proposes reports whether a use sets the state of an entry that waits for a person.
func (s *Server) proposes(ctx context.Context, run sdk.Run, call sdk.EntryCall) (bool, error) {
	if _, is := sdk.ParseActionPath(call.Path); !is || call.Verb != sdk.VerbSet || answers[call.State] == "" {
		return false, nil
	}
	found, err := s.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Path: call.Path, Brief: true})
	return err == nil && len(found) == 1 && found[0].State == sdk.StateProposed, err
}

// answerBy answers what a run proposes by the state that its entry is set to.
func (s *Server) answerBy(ctx context.Context, c *conn, run sdk.Run, call sdk.EntryCall) (sdk.EntryDone, error) {
	if err := runentry.Only(call, "path", "body", "state"); err != nil {
		return sdk.EntryDone{}, err
	}
	p := rpc.RunResolve{Run: strconv.FormatInt(run.ID, 10), Resolution: rpc.Resolution{Path: call.Path, Action: answers[call.State]}}
	if call.Body != nil {
		p.Resolution.Output = *call.Body
	}
	// In the project of the connection an id may be the alias of another run.
	if _, err := c.perform(context.WithValue(ctx, placeKey{}, sdk.Project{}), rpc.MethodRunResolve, p); err != nil {
		return sdk.EntryDone{}, err
	}
	done := sdk.EntryDone{Text: call.Path + " has its answer: " + string(p.Resolution.Action)}
	done.Entries, _ = s.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Path: call.Path}) // what was done is done, also where it cannot be read
	return done, nil
}
