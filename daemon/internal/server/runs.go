package server

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

const (
	defaultPage = 100
	maxPage     = 1000
)

// find resolves a run: an alias in its project, else an id.
func (s *Server) find(ctx context.Context, run, project string) (sdk.Run, error) {
	id, notNumber := strconv.ParseInt(run, 10, 64)
	if project == "" {
		if notNumber != nil {
			return sdk.Run{}, wrongParams("run %q is named by its alias, so its project is needed too", run)
		}
		return s.cfg.Store.Run(ctx, id)
	}
	p, ok, err := s.project(ctx, project)
	if err != nil {
		return sdk.Run{}, err
	}
	if !ok {
		return sdk.Run{}, sdk.Errorf(sdk.NotFound, "there is no run %q, for project %s has none yet", run, project)
	}
	found, err := s.cfg.Store.RunByAlias(ctx, p.ID, run)
	if err == nil || sdk.OutcomeOf(err) != sdk.NotFound {
		return found, err
	}
	if notNumber == nil {
		if found, err = s.cfg.Store.Run(ctx, id); err == nil && found.Project == p.ID {
			return found, nil
		}
	}
	return sdk.Run{}, sdk.Errorf(sdk.NotFound, "there is no run %q in %s: `bothy runs list -a` shows what there is", run, project)
}

// onRun is the handler of a method about one run, which its parameters name.
func onRun[P, R any](s *Server, handle func(context.Context, sdk.Run, P) (R, error)) func(context.Context, *conn, P) (R, error) {
	return onRunOf(s, func(ctx context.Context, _ *conn, run sdk.Run, p P) (R, error) { return handle(ctx, run, p) })
}

// onRunOf is onRun for a handler to which it matters who calls.
func onRunOf[P, R any](s *Server, handle func(context.Context, *conn, sdk.Run, P) (R, error)) func(context.Context, *conn, P) (R, error) {
	return func(ctx context.Context, c *conn, p P) (R, error) {
		named := paramsOf(&p)
		run, err := s.find(ctx, *named.text(rpc.AccessRun), *named.text(rpc.AccessProject))
		if err != nil {
			var none R
			return none, err
		}
		return handle(ctx, c, run, p)
	}
}

// project looks a project up; asking about one does not make it.
func (s *Server) project(ctx context.Context, root string) (sdk.Project, bool, error) {
	if !filepath.IsAbs(root) {
		return sdk.Project{}, false, wrongParams("the project is %q and must be an absolute path", root)
	}
	root = sdk.WithoutLinks(root) // a folder that is gone still has its runs
	projects, err := s.cfg.Store.Projects(ctx)
	if err != nil {
		return sdk.Project{}, false, err
	}
	for _, p := range projects {
		if p.Root == root {
			return p, true, nil
		}
	}
	return sdk.Project{}, false, nil
}

func (s *Server) runs(ctx context.Context, c *conn, p rpc.RunsParams) ([]rpc.RunSummary, error) {
	limit, err := page(rpc.MethodRuns, p.Limit, p.Offset)
	if err != nil {
		return nil, err
	}
	var project int64
	if p.Project != "" {
		found, ok, err := s.project(ctx, p.Project)
		if err != nil || !ok {
			return []rpc.RunSummary{}, err
		}
		project = found.ID
	}
	of, err := c.conversation(rpc.MethodRuns, p.From)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.Runs(ctx, sdk.RunFilter{
		Of: of, Project: project, Hidden: p.Hidden, Last: p.Last, Search: p.Search, Children: p.Search != "", Channel: c.channel(), Limit: limit, Offset: p.Offset,
	})
	if err != nil {
		return nil, err
	}
	sums, err := s.summaries(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]rpc.RunSummary, 0, len(found))
	for _, run := range found {
		r, err := sums.of(ctx, run)
		if err == nil && p.Search == "" {
			r.Children, err = sums.below(ctx, run)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// lastPrompt is the newest that was not taken back.
func lastPrompt(loops []sdk.Loop) string {
	for _, l := range slices.Backward(loops) {
		if l.Stop != sdk.StopTaken {
			return l.Prompt
		}
	}
	return ""
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	first, _ = cut(first, 200)
	return first
}

func page(method string, limit, offset int) (int, error) {
	switch {
	case limit < 0 || offset < 0:
		return 0, wrongParams("limit and offset of %s are not negative", method)
	case limit == 0:
		return defaultPage, nil
	default:
		return min(limit, maxPage), nil
	}
}
