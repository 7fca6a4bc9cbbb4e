package sdk

import (
	"encoding/json"
	"fmt"
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
	Parent    string          `json:"parent,omitempty"` // of a call that a plugin made: the path of the action whose plugin did
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
	Channel   string          `json:"channel,omitempty"` // by which it was answered; empty at this machine
	From      *From           `json:"from,omitempty"`    // who answered by it, and below which message
	Runs      string          `json:"runs,omitempty"`    // RunsClient: who answered ran the command, outside of the sandbox
	State     State           `json:"state,omitempty"`
	Outcome   Outcome         `json:"outcome,omitempty"`
	Exit      *int            `json:"exit,omitempty"`
	Container string          `json:"container,omitempty"` // that a command ran in
	Duration  Millis          `json:"duration_ms,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Detail    string          `json:"detail,omitempty"`
}

// AuditQuery says which records to read. Zero fields are all.
type AuditQuery struct {
	Project int64
	Run     int64
	Events  bool // security events only
	Since   time.Time
	After   int64 // behind this seq
	Limit   int
}

// JournalDamage is what a check of the journal reports when what is stored is not
// what was committed: a changed byte in a row or a body, a row too many or too few.
// It is found with errors.As.
type JournalDamage struct {
	Seq  int64 // of the row that no longer agrees
	What string
}

func (d *JournalDamage) Error() string {
	return fmt.Sprintf("the journal is damaged at row %d: %s", d.Seq, d.What)
}
