package daemon

import (
	"context"
	"errors"
	"strconv"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// auditFace is the audit as the server shows it.
type auditFace struct{ d *Daemon }

// eventRefusedCallback is that a plugin asked the daemon for what it is not
// granted, or for more than its quota.
const eventRefusedCallback = "refused_callback"

// startSecurity keeps security events as long as the store is open.
func (d *Daemon) startSecurity(context.Context) error {
	d.security = audit.KeepSecurity(d.store, d.log.Named("security"))
	d.onClose("security events", d.security.Close)
	return nil
}

// Records implements server.Audit.
func (f auditFace) Records(ctx context.Context, p rpc.AuditParams) (rpc.AuditPage, error) {
	q := audit.Query{Events: p.Events, Since: p.Since, After: p.After, Limit: p.Limit}
	if p.Project != "" {
		known, err := f.project(ctx, p.Project)
		if err != nil || known == 0 {
			return rpc.AuditPage{}, err
		}
		q.Project = known
	}
	if p.Run != "" {
		run, err := f.run(ctx, q.Project, p.Run)
		if err != nil {
			return rpc.AuditPage{}, err
		}
		q.Run = run.ID
	}
	records, next, err := audit.Records(ctx, f.d.store, q)
	return rpc.AuditPage{Records: records, Next: next}, err
}

// project is the id of a project by its root; 0 is that nothing ever ran there.
func (f auditFace) project(ctx context.Context, root string) (int64, error) {
	all, err := f.d.store.Projects(ctx)
	for _, p := range all {
		if p.Root == root {
			return p.ID, err
		}
	}
	return 0, err
}

// run finds a run by its id, or by its alias in a project.
func (f auditFace) run(ctx context.Context, project int64, name string) (sdk.Run, error) {
	if id, err := strconv.ParseInt(name, 10, 64); err == nil {
		return f.d.store.Run(ctx, id)
	}
	if project == 0 {
		return sdk.Run{}, sdk.Errorf(sdk.Validation, "%q is an alias, which is one of a project: name the project too, or give the run's id", name)
	}
	return f.d.store.RunByAlias(ctx, project, name)
}

// Verify implements server.Audit.
func (f auditFace) Verify(ctx context.Context) (rpc.AuditVerdict, error) {
	v := rpc.AuditVerdict{Rows: f.d.store.Seq(), Whole: true}
	err := f.d.store.Verify(ctx, 0)
	var damage *store.Damage
	if errors.As(err, &damage) {
		v.Whole, v.BrokenAt, v.Detail = false, damage.Seq, sdk.Errorf(sdk.Internal, "%w", err).Error()
		return v, nil
	}
	return v, err
}

// Security implements server.Audit.
func (f auditFace) Security(event, detail string) { f.d.security.Raise(event, detail) }
