package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// EventViolation is the security event of a command that touched what it may
// not. Others are named by a decision (path_escape) or by who saw them.
const EventViolation = "sandbox_violation"

// KindSecurity is the kind of the rows of security events that belong to no
// action.
const KindSecurity = sdk.KindNoteSecurity

// SecurityEvent is the Data of such a row.
type SecurityEvent struct {
	Event   string `json:"event"`
	Detail  string `json:"detail,omitempty"`
	Dropped int64  `json:"dropped,omitempty"` // events before it that could not be kept
}

// recordOf is what a row says; false is that the audit does not speak of it.
func recordOf(row sdk.JournalRow) (sdk.AuditRecord, bool) {
	r := sdk.AuditRecord{Seq: row.Seq, Time: row.Time, Path: row.Path}
	switch row.Kind {
	case KindSecurity:
		return r, readEvent(row.Data, &r)
	case sdk.KindNoteCall:
		return r, readCall(row.Data, &r)
	case sdk.KindEntrySet:
		return r, readAction(row, &r)
	}
	return r, false
}

func readEvent(data json.RawMessage, r *sdk.AuditRecord) bool {
	var e SecurityEvent
	if json.Unmarshal(data, &e) != nil {
		return false
	}
	r.Event, r.Detail = e.Event, e.Detail
	if e.Dropped > 0 {
		r.Detail = strings.TrimSpace(fmt.Sprintf("%s (%d events before it were not kept)", e.Detail, e.Dropped))
	}
	return true
}

// readCall reads what a plugin called through the services of the host. What
// came of it was never part of the journal.
func readCall(data json.RawMessage, r *sdk.AuditRecord) bool {
	var a sdk.Action // the members of such a row are named alike
	if json.Unmarshal(data, &a) != nil {
		return false
	}
	d := decisionOf(&a)
	r.Tool, r.Event, r.Verdict, r.Rule, r.Source = a.Tool, d.Violation, d.Verdict, d.Rule, d.Source
	r.Command, r.Arguments = calledWith(&a)
	r.Detail = "called by the plugin " + a.Plugin
	if d.Verdict != sdk.Allow && d.Reason != "" {
		r.Detail += ": " + d.Reason
	}
	return true
}

// readAction reads the end of an action, whatever it came to.
func readAction(row sdk.JournalRow, r *sdk.AuditRecord) bool {
	var c sdk.EntryChange
	if json.Unmarshal(row.Data, &c) != nil || c.Phase != sdk.PhaseEnded {
		return false
	}
	a, err := sdk.ActionOf(sdk.Entry{Path: row.Path, State: c.State, Outcome: c.Outcome, Attributes: c.Attributes})
	if err != nil {
		a.Error = "what it was cannot be read"
	}
	d := decisionOf(&a)
	r.State, r.Outcome, r.Parent, r.Exit, r.Duration, r.Truncated = c.State, c.Outcome, a.Parent, a.ExitCode(), sdk.Millis(a.Took()), a.Truncated
	r.Container = a.Container()
	r.Tool, r.Plugin, r.Digest = cmp.Or(a.Tool, toolOf(row.Path)), a.Plugin, a.Digest
	r.Event, r.Verdict, r.Rule, r.Source = d.Violation, d.Verdict, d.Rule, d.Source
	r.Command, r.Arguments = calledWith(&a)
	if p := a.Proposal; p != nil {
		r.Dir, r.Digest = p.Dir, cmp.Or(a.Digest, p.Digest)
		if p.Command != "" {
			r.Command, r.Arguments = p.Command, nil
		}
	}
	if a.Answer != nil {
		r.Answer, r.Runs, r.Channel, r.From = a.Answer.Answer, a.Answer.Runs, a.Answer.Channel, a.Answer.From
	}
	if c.State != sdk.StateResolved {
		r.Detail = a.Why()
	}
	if violations := a.Violations(); len(violations) > 0 {
		r.Event, r.Detail = EventViolation, "a command may not do that: "+strings.Join(violations, ", ")
	}
	return true
}

// decisionOf is what was decided about an action; nothing when nobody was asked.
func decisionOf(a *sdk.Action) sdk.Decision {
	if a.Decision == nil {
		return sdk.Decision{}
	}
	return *a.Decision
}

// calledWith are the arguments of a call: the line of one that runs a command, nothing of one that keeps what is
// remembered of somebody, and those of any other.
func calledWith(a *sdk.Action) (command string, arguments json.RawMessage) {
	if a.Keeps {
		return "", nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(a.Arguments, &object) == nil && json.Unmarshal(object["command"], &command) == nil && command != "" {
		return command, nil
	}
	return "", a.Arguments
}
