package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

const (
	journalBytes = 4 << 20 // where a page of rows ends; one row always fits
	journalScan  = 4096    // rows of others that one page passes over
)

// journal answers a page of rows. A page that found little because others'
// rows stand there ends all the same and says where to go on.
func (s *Server) journal(ctx context.Context, c *conn, p rpc.JournalParams) (rpc.JournalPage, error) {
	limit, err := page(rpc.MethodJournal, p.Limit, 0)
	if err != nil {
		return rpc.JournalPage{}, err
	}
	run, project, err := s.scope(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.JournalPage{}, err
	}
	seq := s.cfg.Store.Seq()
	if p.After < 0 || p.After > seq {
		return rpc.JournalPage{}, wrongParams("after is %d, and the journal ends at %d", p.After, seq)
	}
	answer := rpc.JournalPage{Rows: []sdk.JournalRow{}, Seq: seq}
	if project == unknown {
		return answer, nil
	}
	size, after := 0, p.After
	for scanned := 0; scanned < journalScan; {
		rows, err := s.cfg.Store.Journal(ctx, sdk.JournalQuery{After: after, Limit: watchPage, Run: run, Children: p.Children && run != 0, Longest: rowBody})
		if err != nil {
			return rpc.JournalPage{}, err
		}
		for _, row := range rows {
			if row.Seq > seq { // committed since: who goes on behind it would be told that nothing is there yet
				return answer, nil
			}
			sees, err := c.seesRow(ctx, row)
			if err != nil {
				return rpc.JournalPage{}, err
			}
			if row = briefRow(row); sees && (project == 0 || row.Project == project) {
				if row.Body != nil {
					size += len(*row.Body)
				}
				size += len(row.Data)
				if len(answer.Rows) == limit || len(answer.Rows) > 0 && size > journalBytes {
					answer.Next = after
					return answer, nil
				}
				answer.Rows = append(answer.Rows, row)
			}
			after = row.Seq
		}
		if scanned += len(rows); len(rows) < watchPage {
			return answer, nil
		}
	}
	answer.Next = after
	return answer, nil
}

// unknown is the project of a folder in which nothing was done yet.
const unknown = -1

// scope resolves what a journal is read of; 0 is all.
func (s *Server) scope(ctx context.Context, run, project string) (runID, projectID int64, err error) {
	if run != "" {
		found, err := s.find(ctx, run, project)
		return found.ID, 0, err
	}
	if project == "" {
		return 0, 0, nil
	}
	p, ok, err := s.project(ctx, project)
	if err == nil && !ok {
		p.ID = unknown
	}
	return 0, p.ID, err
}

// briefRow leaves out a body that is too long for a row.
func briefRow(row sdk.JournalRow) sdk.JournalRow {
	if row.Body != nil && len(*row.Body) > rowBody {
		row.Body = nil
	}
	return row
}
