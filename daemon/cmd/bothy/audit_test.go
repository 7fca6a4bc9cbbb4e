package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestAuditLine: time, folder, command, end and duration of whatever there is, on
// one line that can be taken apart again.
func TestAuditLine(t *testing.T) {
	three, zero, killed := 3, 0, 137
	for name, c := range map[string]struct {
		record rpc.AuditRecord
		want   string
	}{
		"a command":      {rpc.AuditRecord{Tool: "bash", Dir: "/p", Command: "ls -la", Verdict: sdk.Allow, State: sdk.StateResolved, Exit: &zero}, "/p | ls -la | exit:0"},
		"in a container": {rpc.AuditRecord{Dir: "/workspace", Project: "/p", Command: "a", State: sdk.StateResolved, Exit: &zero}, "/p | a | exit:0"},
		"several lines":  {rpc.AuditRecord{Dir: "/p", Command: "a\nb\t\x1b[2J | c", State: sdk.StateFailed, Exit: &three}, `/p | a\x0ab\x09\x1b[2J | c | exit:3`},
		"a forged line":  {rpc.AuditRecord{Dir: "/p", Command: "a | exit:0 | 0.1s\r\n2026", Verdict: sdk.Deny, Rule: "r"}, `/p | a | exit:0 | 0.1s\x0d\x0a2026 | denied:r`},
		"an odd folder":  {rpc.AuditRecord{Dir: "/p | q\n", Command: "a", State: sdk.StateFailed, Outcome: sdk.Timeout}, `/p \x7c q\x0a | a | timeout`},
		"out of time":    {rpc.AuditRecord{Dir: "/p", Command: "a", State: sdk.StateFailed, Outcome: sdk.Timeout, Exit: &killed}, "/p | a | timeout"},
		"rejected":       {rpc.AuditRecord{Dir: "/p", Command: "a", Verdict: sdk.Propose, Answer: sdk.Reject, State: sdk.StateFailed, Outcome: sdk.Permission}, "/p | a | rejected"},
		"accepted":       {rpc.AuditRecord{Dir: "/p", Command: "a", Verdict: sdk.Propose, Answer: sdk.Accept, State: sdk.StateResolved, Exit: &zero}, "/p | a | exit:0"},
		"a client's":     {rpc.AuditRecord{Dir: "/p", Command: "a", Verdict: sdk.Propose, Answer: sdk.Accept, Runs: sdk.RunsClient, State: sdk.StateResolved, Exit: &zero}, "/p | a | exit:0 by the client"},
		"a tool":         {rpc.AuditRecord{Tool: "read", Project: "/p", Arguments: json.RawMessage(`{"path":"x"}`), State: sdk.StateResolved}, `/p | read {"path":"x"} | ok`},
		"a plugin's":     {rpc.AuditRecord{Tool: "read", Project: "/p", Arguments: json.RawMessage(`{}`), Verdict: sdk.Allow}, `/p | read {} | called`},
		"a violation":    {rpc.AuditRecord{Dir: "/p", Command: "a", Event: "sandbox_violation", Detail: "d", State: sdk.StateFailed, Exit: &zero}, "/p | a | event:sandbox_violation"},
		"on the socket":  {rpc.AuditRecord{Event: "wrong_token", Detail: "pid 7\n"}, ` | pid 7\x0a | event:wrong_token`},
		"an odd outcome": {rpc.AuditRecord{Dir: "/p", Command: "a", State: sdk.StateFailed, Outcome: "x | y"}, `/p | a | x \x7c y`},
	} {
		c.record.Time, c.record.Duration = time.Date(2026, 1, 10, 10, 30, 45, 99, time.FixedZone("", 3600)), sdk.Millis(23*time.Millisecond)
		if got, want := auditLine(c.record), "2026-01-10T09:30:45Z | "+c.want+" | 0.023s"; got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}
