package daemon

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// auditFace is the audit as the server shows it.
type auditFace struct{ d *Daemon }

// Records implements server.Audit.
func (f auditFace) Records(context.Context, rpc.AuditParams) (rpc.AuditPage, error) {
	return rpc.AuditPage{}, sdk.Errorf(sdk.Unavailable, "there is no audit in this version")
}

// Verify implements server.Audit.
func (f auditFace) Verify(context.Context) (rpc.AuditVerdict, error) {
	return rpc.AuditVerdict{}, sdk.Errorf(sdk.Unavailable, "there is no audit in this version")
}

// Security implements server.Audit.
func (f auditFace) Security(event, detail string) {
	f.d.log.Warn("security event", "event", event, "detail", detail)
}
