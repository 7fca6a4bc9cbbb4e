package rpc

import (
	"encoding/json"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// AuditParams is the parameters of audit/list.
type AuditParams struct {
	Project string    `json:"project,omitempty" jsonschema:"absolute path of a project; all when absent"`
	Run     string    `json:"run,omitempty" jsonschema:"alias of a run in the project, or its id"`
	Events  bool      `json:"events,omitempty" jsonschema:"security events only"`
	Since   time.Time `json:"since,omitzero" jsonschema:"not before"`
	After   int64     `json:"after,omitempty" jsonschema:"behind this position of the journal: the Next of the page before"`
	Limit   int       `json:"limit,omitempty" jsonschema:"at most so many, 200 when absent"`
}

// AuditPage answers audit/list, oldest first.
type AuditPage struct {
	Records []AuditRecord `json:"records"`
	Next    int64         `json:"next,omitempty"` // ask again with after = next; 0 is the end
}

// AuditRecord is one action, or one security event. It is a view of the journal:
// nothing is kept for it.
type AuditRecord struct {
	Seq       int64           `json:"seq"`
	Time      time.Time       `json:"time"`
	Event     string          `json:"event,omitempty"` // of a security event: "sandbox_violation", "path_escape", "refused_approval", ...
	Project   string          `json:"project,omitempty"`
	Run       string          `json:"run,omitempty"`
	RunID     int64           `json:"run_id,omitempty"`
	Path      string          `json:"path,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Plugin    string          `json:"plugin,omitempty"`
	Digest    string          `json:"digest,omitempty"` // of the plugin's binary
	Dir       string          `json:"dir,omitempty"`
	Command   string          `json:"command,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // when there is no command
	Verdict   sdk.Verdict     `json:"verdict,omitempty"`
	Rule      string          `json:"rule,omitempty"`
	Source    string          `json:"source,omitempty"`
	Answer    sdk.Answer      `json:"answer,omitempty"`
	State     sdk.State       `json:"state,omitempty"`
	Outcome   sdk.Outcome     `json:"outcome,omitempty"`
	Exit      *int            `json:"exit,omitempty"`
	Duration  sdk.Duration    `json:"duration,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Detail    string          `json:"detail,omitempty"`
}

// AuditVerdict answers audit/verify: whether the journal's chain holds.
type AuditVerdict struct {
	Rows     int64  `json:"rows"`
	Whole    bool   `json:"whole"`
	BrokenAt int64  `json:"broken_at,omitempty"` // the first row that does not fit
	Detail   string `json:"detail,omitempty"`
}
