package server

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) usage(ctx context.Context, c *conn, p rpc.UsageParams) (rpc.Usage, error) {
	out := rpc.Usage{By: cmp.Or(p.By, rpc.UsageByDay), Rows: []rpc.UsageRow{}}
	if !slices.Contains([]string{rpc.UsageByDay, rpc.UsageByProject, rpc.UsageByRun, rpc.UsageByModel}, out.By) {
		return out, wrongParams("by of %s is day, project, run or model, not %q", rpc.MethodUsage, out.By)
	}
	roots := map[int64]string{}
	projects, err := s.cfg.Store.Projects(ctx)
	if err != nil {
		return out, err
	}
	for _, x := range projects {
		roots[x.ID] = x.Root
	}
	var only int64
	if p.Project != "" {
		project, known, err := s.project(ctx, p.Project)
		if err != nil || !known {
			return out, err
		}
		only = project.ID
	}
	at := map[string]int{}
	err = s.cfg.Store.Usage(ctx, p.Since, func(u sdk.Used) error {
		if sees, err := c.sees(ctx, u.Run); err != nil || !sees || only != 0 && u.Project != only {
			return err
		}
		key, row := usageRow(out.By, u, roots)
		i, ok := at[key]
		if !ok {
			i = len(out.Rows)
			at[key], out.Rows = i, append(out.Rows, row)
		}
		sumUsage(&out.Rows[i].UsageSum, u.Usage)
		sumUsage(&out.All, u.Usage)
		return nil
	})
	if err != nil {
		return out, err
	}
	if out.By != rpc.UsageByDay {
		slices.SortStableFunc(out.Rows, dearestFirst)
	}
	return out, s.nameRuns(ctx, out.Rows)
}

// usageRow is the row that a completion belongs to, with what tells it apart.
func usageRow(by string, u sdk.Used, roots map[int64]string) (string, rpc.UsageRow) {
	switch by {
	case rpc.UsageByModel:
		return u.Model, rpc.UsageRow{Model: u.Model}
	case rpc.UsageByProject:
		return strconv.FormatInt(u.Project, 10), rpc.UsageRow{Project: roots[u.Project]}
	case rpc.UsageByRun:
		return strconv.FormatInt(u.Run, 10), rpc.UsageRow{RunID: u.Run, Project: roots[u.Project]}
	default:
		day := u.Time.Local().Format(time.DateOnly)
		return day, rpc.UsageRow{Day: day}
	}
}

func sumUsage(sum *rpc.UsageSum, u *sdk.Usage) {
	sum.Requests++
	if u == nil {
		sum.Untold++
		sum.Unpriced++
		return
	}
	sum.Prompt, sum.Cached, sum.Completed = sum.Prompt+u.Prompt, sum.Cached+u.Cached, sum.Completed+u.Completion
	if u.Estimated {
		sum.Estimated++
	}
	if u.Cost == nil {
		sum.Unpriced++
		return
	}
	cost := *u.Cost
	if sum.Cost != nil {
		cost += *sum.Cost
	}
	sum.Cost = &cost
}

func dearestFirst(a, b rpc.UsageRow) int {
	cost := func(r rpc.UsageRow) float64 {
		if r.Cost == nil {
			return 0
		}
		return *r.Cost
	}
	return cmp.Or(cmp.Compare(cost(b), cost(a)), cmp.Compare(b.Prompt+b.Completed, a.Prompt+a.Completed))
}

// nameRuns gives the runs that are there still their aliases.
func (s *Server) nameRuns(ctx context.Context, rows []rpc.UsageRow) error {
	for i := range rows {
		if rows[i].RunID == 0 {
			continue
		}
		run, err := s.cfg.Store.Run(ctx, rows[i].RunID)
		if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
			return err
		}
		rows[i].Run = run.Alias
	}
	return nil
}
