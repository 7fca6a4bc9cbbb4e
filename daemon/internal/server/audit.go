package server

import (
	"context"
	"errors"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Audit is the view on the journal that tells who did what, and takes the
// security events that the server itself sees.
type Audit interface {
	Records(ctx context.Context, q sdk.AuditQuery) (page []sdk.AuditRecord, next int64, err error)
	// Raise keeps an event, such as "refused_approval". It returns at once.
	Raise(event, detail string)
}

func (s *Server) audit(ctx context.Context, _ *conn, p rpc.AuditParams) (rpc.AuditPage, error) {
	q := sdk.AuditQuery{Events: p.Events, Since: p.Since, After: p.After, Limit: p.Limit}
	if p.Project != "" {
		project, known, err := s.project(ctx, p.Project)
		if err != nil || !known {
			return rpc.AuditPage{Records: []sdk.AuditRecord{}}, err
		}
		q.Project = project.ID
	}
	if p.Run != "" {
		run, err := s.find(ctx, p.Run, p.Project)
		if err != nil {
			return rpc.AuditPage{}, err
		}
		q.Run = run.ID
	}
	records, next, err := s.cfg.Audit.Records(ctx, q)
	return rpc.AuditPage{Records: orEmpty(records), Next: next}, err
}

func (s *Server) auditVerify(ctx context.Context, _ *conn, _ rpc.Empty) (rpc.AuditVerdict, error) {
	v := rpc.AuditVerdict{Rows: s.cfg.Store.Seq(), Whole: true}
	err := s.cfg.Store.Verify(ctx, 0)
	var damage *sdk.JournalDamage
	if errors.As(err, &damage) {
		v.Whole, v.BrokenAt, v.Detail = false, damage.Seq, sdk.Errorf(sdk.Internal, "%w", err).Error()
		return v, nil
	}
	return v, err
}
