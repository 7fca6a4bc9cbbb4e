package audit

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Source is what the audit is a view of.
type Source interface {
	Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error)
	Project(ctx context.Context, id int64) (sdk.Project, error)
	Run(ctx context.Context, id int64) (sdk.Run, error)
}

const (
	// defaultRecords and mostRecords bound a page.
	defaultRecords, mostRecords = 200, 1000
	// auditPage is how many rows are read at a time; each may bring arguments of
	// some KiB.
	auditPage = 200
	// mostRows is how many rows one page is looked for in. Of a long journal
	// with few events, a page may be empty and still not the last.
	mostRows = 20_000
)

// Audit is the view on the journal that tells who did what, and takes the security
// events that belong into it.
type Audit struct {
	Source
	*Security
}

// Records returns a page of the audit; see the function of that name.
func (a Audit) Records(ctx context.Context, q sdk.AuditQuery) (page []sdk.AuditRecord, next int64, err error) {
	return Records(ctx, a.Source, q)
}

// Records returns a page of the audit, oldest first, and behind which seq the
// next one begins; 0 is that there is no more.
func Records(ctx context.Context, s Source, q sdk.AuditQuery) (page []sdk.AuditRecord, next int64, err error) {
	limit := min(q.Limit, mostRecords)
	if limit <= 0 {
		limit = defaultRecords
	}
	names := names{source: s, projects: map[int64]string{0: ""}, runs: map[int64]string{0: ""}}
	after := q.After
	for seen := 0; seen < mostRows; seen += auditPage {
		rows, err := s.Journal(ctx, sdk.JournalQuery{Audit: true, After: after, Limit: auditPage, Project: q.Project, Run: q.Run, Since: q.Since})
		if err != nil {
			return nil, 0, err
		}
		for _, row := range rows {
			after = row.Seq
			record, ok := recordOf(row)
			if !ok || q.Events && record.Event == "" {
				continue
			}
			if err := names.fill(ctx, row, &record); err != nil {
				return nil, 0, err
			}
			if page = append(page, record); len(page) == limit {
				return page, after, nil
			}
		}
		if len(rows) < auditPage {
			return page, 0, nil
		}
	}
	return page, after, nil
}

// names are those of the projects and runs of a page, each looked up once.
type names struct {
	source   Source
	projects map[int64]string
	runs     map[int64]string
}

// fill names the project and the run of a record. One that was deleted keeps its
// number alone.
func (n *names) fill(ctx context.Context, row sdk.JournalRow, r *sdk.AuditRecord) error {
	root, known := n.projects[row.Project]
	if !known {
		p, err := n.source.Project(ctx, row.Project)
		if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
			return err
		}
		root = p.Root
		n.projects[row.Project] = root
	}
	alias, known := n.runs[row.Run]
	if !known {
		run, err := n.source.Run(ctx, row.Run)
		if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
			return err
		}
		alias = run.Alias
		n.runs[row.Run] = alias
	}
	r.Project, r.Run, r.RunID = root, alias, row.Run
	if r.Dir == "" && r.Tool != "" {
		r.Dir = root
	}
	return nil
}
