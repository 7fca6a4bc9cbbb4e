package server

import (
	"cmp"
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// keeping is a get that first has the files which it names be those of their project.
func (s *Server) keeping(get func(context.Context, *conn, rpc.Get) (sdk.EntryDone, error)) func(context.Context, *conn, rpc.Get) (sdk.EntryDone, error) {
	return func(ctx context.Context, c *conn, p rpc.Get) (sdk.EntryDone, error) {
		if to := constraintOf(p.Persist, p.ReadOnly); to != "" {
			root, err := s.rootOf(ctx, p.Run, p.Project)
			if err == nil {
				_, _, err = s.cfg.Engine.ConstrainProject(ctx, root, p.Path, to)
			}
			if err != nil {
				return sdk.EntryDone{}, err
			}
		}
		return get(ctx, c, p)
	}
}

func constraintOf(persist, readonly bool) sdk.Constraint {
	switch {
	case readonly:
		return sdk.ConstraintReadOnly
	case persist:
		return sdk.ConstraintAdd
	}
	return ""
}

// store says what a project makes of some of its files, and takes them out of the sight of a run.
func (s *Server) store(ctx context.Context, c *conn, p rpc.Store) (rpc.Stored, error) {
	said := 0
	for _, x := range []bool{p.Persist, p.Ignore, p.Clear} {
		if x {
			said++
		}
	}
	if said > 1 || said == 0 && p.Run == "" {
		return rpc.Stored{}, wrongParams("store takes one of persist, ignore and clear, or a run out of whose sight the entries go")
	}
	done := rpc.Stored{}
	root, err := s.rootOf(ctx, p.Run, p.Project)
	if err != nil {
		return done, err
	}
	if said == 1 {
		to := constraintOf(p.Persist, false)
		if p.Ignore {
			to = sdk.ConstraintIgnore
		}
		_, scanned, err := s.cfg.Engine.ConstrainProject(ctx, root, p.Path, to)
		if err != nil {
			return done, err
		}
		done.Scanned = &scanned
	}
	if p.Run == "" {
		return done, nil
	}
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return done, err
	}
	archived, err := s.use(ctx, c, run, sdk.EntryCall{Verb: sdk.VerbSet, Path: p.Path, Visibility: sdk.Archived})
	if err != nil && said == 1 && sdk.OutcomeOf(err) == sdk.NotFound {
		err = nil // of what is ignored there is no entry any more
	}
	done.Text = archived.Text
	return done, err
}

// rootOf is the root of the project of a run, or of one that is named.
func (s *Server) rootOf(ctx context.Context, run, project string) (string, error) {
	root := project
	if run != "" {
		found, err := s.find(ctx, run, project)
		if err != nil {
			return "", err
		}
		var d rpc.RunDetail
		if err := s.place(ctx, found, &d); err != nil {
			return "", err
		}
		root = cmp.Or(d.Project, project)
	}
	return root, s.workable(rpc.MethodStore, root)
}
