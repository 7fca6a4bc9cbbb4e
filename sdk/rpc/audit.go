package rpc

import (
	"time"

	"github.com/bothyd/bothy/sdk"
)

// AuditParams is the parameters of audit/list.
type AuditParams struct {
	Project string    `json:"project,omitempty" access:"project" jsonschema:"absolute path of a project; all when absent"`
	Run     string    `json:"run,omitempty" access:"run" jsonschema:"alias of a run in the project, or its id"`
	Events  bool      `json:"events,omitempty" access:"free" jsonschema:"security events only"`
	Since   time.Time `json:"since,omitzero" access:"free" jsonschema:"not before"`
	After   int64     `json:"after,omitempty" access:"free" jsonschema:"behind this position of the journal: the Next of the page before"`
	Limit   int       `json:"limit,omitempty" access:"free" jsonschema:"at most so many, 200 when absent"`
}

// AuditPage answers audit/list, oldest first.
type AuditPage struct {
	Records []AuditRecord `json:"records"`
	Next    int64         `json:"next,omitempty"` // ask again with after = next; 0 is the end
}

// AuditRecord is one line of the audit.
type AuditRecord = sdk.AuditRecord

// AuditVerdict answers audit/verify: whether the journal's chain holds.
type AuditVerdict struct {
	Rows     int64  `json:"rows"`
	Whole    bool   `json:"whole"`
	BrokenAt int64  `json:"broken_at,omitempty"` // the first row that does not fit
	Detail   string `json:"detail,omitempty"`
}
