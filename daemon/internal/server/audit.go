package server

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Audit is the view on the journal that tells who did what, and takes the
// security events that the server itself sees.
type Audit interface {
	Records(ctx context.Context, p rpc.AuditParams) (rpc.AuditPage, error)
	Verify(ctx context.Context) (rpc.AuditVerdict, error)
	// Security keeps an event, such as "refused_approval". It returns at once.
	Security(event, detail string)
}

func (s *Server) audit(ctx context.Context, _ *conn, p rpc.AuditParams) (rpc.AuditPage, error) {
	page, err := s.cfg.Audit.Records(ctx, p)
	page.Records = orEmpty(page.Records)
	return page, err
}

func (s *Server) auditVerify(ctx context.Context, _ *conn, _ rpc.Empty) (rpc.AuditVerdict, error) {
	return s.cfg.Audit.Verify(ctx)
}
