package audit

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// EventViolation is the security event of a command that touched what it may
// not. Others are named by a decision (path_escape) or by who saw them.
const EventViolation = "sandbox_violation"

// KindSecurity is the kind of the rows of security events that belong to no
// action.
const KindSecurity = sdk.KindNote + ".security"

// SecurityEvent is the Data of such a row.
type SecurityEvent struct {
	Event   string `json:"event"`
	Detail  string `json:"detail,omitempty"`
	Dropped int64  `json:"dropped,omitempty"` // events before it that could not be kept
}

// deed is what the attributes of an action say, from its call to its end.
type deed struct {
	Tool      string          `json:"tool"`
	Plugin    string          `json:"plugin"`
	Digest    string          `json:"digest"`
	Arguments json.RawMessage `json:"arguments"`
	Decision  sdk.Decision    `json:"decision"`
	Error     string          `json:"error"`
	Truncated bool            `json:"truncated"`
	Duration  int64           `json:"duration_ms"`
	Answer    struct {
		Answer sdk.Answer `json:"answer"`
	} `json:"answer"`
	Proposal struct {
		Digest  string `json:"digest"`
		Dir     string `json:"dir"`
		Command string `json:"command"`
	} `json:"proposal"`
	Metadata struct {
		ExitCode   *int `json:"exit_code"`
		Violations []struct {
			Path   string `json:"path"`
			Action string `json:"action"`
		} `json:"violations"`
	} `json:"metadata"`
}

// recordOf is what a row says; false is that the audit does not speak of it.
func recordOf(row sdk.JournalRow) (sdk.AuditRecord, bool) {
	r := sdk.AuditRecord{Seq: row.Seq, Time: row.Time, Path: row.Path}
	switch row.Kind {
	case KindSecurity:
		return r, readEvent(row.Data, &r)
	case sdk.KindNote + ".call":
		return r, readCall(row.Data, &r)
	case sdk.KindEntrySet:
		return r, readAction(row.Data, &r)
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
	var c struct {
		Plugin    string          `json:"plugin"`
		For       string          `json:"for"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		Decision  sdk.Decision    `json:"decision"`
	}
	if json.Unmarshal(data, &c) != nil {
		return false
	}
	r.Tool, r.Event = c.Tool, c.Decision.Violation
	r.Verdict, r.Rule, r.Source = c.Decision.Verdict, c.Decision.Rule, c.Decision.Source
	r.Command, r.Arguments = commandIn(c.Arguments)
	r.Detail = "called by the plugin " + c.Plugin
	if c.Decision.Verdict != sdk.Allow && c.Decision.Reason != "" {
		r.Detail += ": " + c.Decision.Reason
	}
	return true
}

// readAction reads the end of an action, whatever it came to.
func readAction(data json.RawMessage, r *sdk.AuditRecord) bool {
	var c sdk.EntryChange
	if json.Unmarshal(data, &c) != nil || c.Phase != sdk.PhaseEnded {
		return false
	}
	var d deed
	if len(c.Attributes) > 0 && json.Unmarshal(c.Attributes, &d) != nil {
		d = deed{Error: "what it was cannot be read"}
	}
	r.State, r.Outcome = c.State, c.Outcome
	r.Tool, r.Plugin, r.Digest = first(d.Tool, toolOf(r.Path)), d.Plugin, first(d.Digest, d.Proposal.Digest)
	r.Dir, r.Verdict, r.Rule, r.Source, r.Answer = d.Proposal.Dir, d.Decision.Verdict, d.Decision.Rule, d.Decision.Source, d.Answer.Answer
	if r.Command, r.Arguments = commandIn(d.Arguments); d.Proposal.Command != "" {
		r.Command, r.Arguments = d.Proposal.Command, nil
	}
	r.Exit, r.Duration, r.Truncated = d.exit(c), sdk.Duration(time.Duration(d.Duration)*time.Millisecond), d.Truncated
	if c.State != sdk.StateResolved {
		r.Detail = d.Error
	}
	r.Event = d.Decision.Violation
	if len(d.Metadata.Violations) > 0 {
		r.Event, r.Detail = EventViolation, d.violated()
	}
	return true
}

// exit is the status of a command.
func (d *deed) exit(c sdk.EntryChange) *int {
	if code, ok := strings.CutPrefix(string(c.Outcome), "exit:"); ok {
		if n, err := strconv.Atoi(code); err == nil {
			return &n
		}
	}
	return d.Metadata.ExitCode
}

func (d *deed) violated() string {
	var all []string
	for _, v := range d.Metadata.Violations {
		all = append(all, strings.TrimSpace(v.Action+" "+v.Path))
	}
	return "a command may not do that: " + strings.Join(all, ", ")
}

// commandIn are the arguments of a call: the line of one that runs a command,
// and the rest of any other.
func commandIn(arguments json.RawMessage) (command string, rest json.RawMessage) {
	var object map[string]json.RawMessage
	if json.Unmarshal(arguments, &object) == nil && json.Unmarshal(object["command"], &command) == nil && command != "" {
		return command, nil
	}
	return "", arguments
}

func first(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
