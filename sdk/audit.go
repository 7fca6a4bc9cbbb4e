package sdk

import (
	"encoding/json"
	"time"
)

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
	Verdict   Verdict         `json:"verdict,omitempty"`
	Rule      string          `json:"rule,omitempty"`
	Source    string          `json:"source,omitempty"`
	Answer    Answer          `json:"answer,omitempty"`
	State     State           `json:"state,omitempty"`
	Outcome   Outcome         `json:"outcome,omitempty"`
	Exit      *int            `json:"exit,omitempty"`
	Duration  Duration        `json:"duration,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Detail    string          `json:"detail,omitempty"`
}
