package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// withProposals is a daemon with one that waits and one that has its answer.
func withProposals(t *testing.T) *bench {
	t.Helper()
	b := withDaemon(t, nil)
	b.daemon.detail.root = b.project
	b.daemon.policy.resolve = takesAnswers(b.daemon)
	done := aProposal(b.project)
	done.ID, done.Alias, done.State, done.Outcome, done.Command, done.Arguments, done.Tool = "ffffffff", "calm-2", sdk.StateFailed, sdk.Permission, "", json.RawMessage(`{"path":"x\u001by"}`), "write_file"
	b.daemon.policy.propose(aProposal(b.project))
	b.daemon.policy.propose(done)
	b.daemon.detail.runs = []sdk.Run{{ID: aProposal("").Run, Project: 1, Alias: "brave-1"}}
	return b
}

func TestProposalsList(t *testing.T) {
	b := withProposals(t)
	b.want(t, exitOK, "proposals", "--all")
	b.golden(t, "proposals")
	b.want(t, exitOK, "proposals")
	if out := b.out.String(); !strings.Contains(out, "1a2b3c4d") || strings.Contains(out, "ffffffff") || strings.ContainsAny(out, "\x1b\u202e") {
		t.Errorf("%q", out)
	}
	b.want(t, exitOK, "proposals", "--json", "-r", "brave-1", "-n", "5")
	var list []sdk.Proposal
	if err := json.Unmarshal([]byte(b.out.String()), &list); err != nil || len(list) != 1 || list[0].Command != aProposal("").Command {
		t.Errorf("%v: %s", err, b.out.String())
	}
	b.want(t, exitOK, "proposals", "--all", "--json", "-n", "1")
	if err := json.Unmarshal([]byte(b.out.String()), &list); err != nil || len(list) != 1 {
		t.Errorf("%v: %s", err, b.out.String())
	}
	b.want(t, exitUsage, "proposals", "-n", "0")
	b.want(t, exitOK, "proposals", "show", "1a2b3c4d")
	if out := b.out.String(); !strings.Contains(out, aProposal("").Hash) || strings.ContainsAny(out, "\x1b\u202e") {
		t.Errorf("%q", out)
	}
	b.want(t, exitOK, "proposals", "show", "ffffffff")
	if !strings.Contains(b.out.String(), "does not wait any more: rejected") {
		t.Errorf("%q", b.out.String())
	}
	b.want(t, exitUsage, "proposals", "show", "nope")
	b.want(t, exitOK, "proposals", "show", "1a2b3c4d", "--json")
	for i, words := range [][]string{{"proposals", "accept", ""}, {"policy", "forget", ""}} {
		if got := strings.Join(b.offered(t, "zsh", words...), " "); got != []string{"1a2b3c4d", ""}[i] {
			t.Errorf("%v offers %q", words, got)
		}
	}
}

// TestProposalsAnswer: without a terminal only who names the hash accepts.
func TestProposalsAnswer(t *testing.T) {
	hash := aProposal("").Hash
	for name, c := range map[string]struct {
		args   string
		want   int
		answer string
		says   string
	}{
		"unseen":            {"accept 1a2b3c4d", exitUsage, "", "--hash"},
		"unseen, yes":       {"accept 1a2b3c4d --yes", exitUsage, "", "--hash"},
		"short hash":        {"accept 1a2b3c4d --hash 0123", exitUsage, "", "12 digits"},
		"another hash":      {"accept 1a2b3c4d --hash 0123456789ac", exitFailed, "", "not what you saw"},
		"accept":            {"accept 1a2b3c4d --hash 0123456789ab", exitOK, "accept", "what would run, 20 bytes"},
		"whole hash":        {"accept 1a2b3c4d --hash " + hash, exitOK, "accept", "accepted"},
		"remember":          {"accept 1a2b3c4d --hash 0123456789AB --remember command", exitOK, "accept+command", "remembered as rule 3f2a: allow the commands rm of bash, in /"},
		"remember nonsense": {"accept 1a2b3c4d --hash 0123456789ab --remember all", exitUsage, "", "--remember"},
		"reject":            {"reject 1a2b3c4d --reason no", exitOK, "reject no", "rejected"},
		"reject another":    {"reject 1a2b3c4d --hash 1123456789ab", exitFailed, "", "not what you saw"},
		"edit":              {`edit 1a2b3c4d --arguments {"command":"ls"}`, exitOK, "edit", "as it is now"},
		"edit nonsense":     {`edit 1a2b3c4d --arguments [1]`, exitUsage, "", "JSON object"},
		"edit what":         {`edit 1a2b3c4d`, exitUsage, "", "--arguments"},
		"answered":          {"accept ffffffff --hash 0123456789ab", exitFailed, "", "does not wait any more"},
		"none":              {"reject nope", exitUsage, "", "no proposal"},
	} {
		t.Run(name, func(t *testing.T) {
			b := withProposals(t)
			b.c.in = failing{t}
			b.want(t, c.want, append([]string{"proposals"}, strings.Split(c.args, " ")...)...)
			if got := b.answersOf(); got != c.answer || !strings.Contains(b.err.String(), c.says) {
				t.Errorf("answered %q, said %s", got, b.err.String())
			}
			for _, r := range b.daemon.policy.resolved() {
				if r.Hash != hash {
					t.Errorf("answered with the hash %q", r.Hash)
				}
			}
		})
	}
	b := withProposals(t)
	b.daemon.policy.resolve = func(rpc.Resolve) (rpc.Resolved, error) {
		return rpc.Resolved{}, sdk.Errorf(sdk.Conflict, "somebody\x07 was faster")
	}
	b.want(t, exitFailed, "proposals", "accept", "1a2b3c4d", "--hash", hash)
	if !strings.Contains(b.err.String(), `somebody\x07 was faster`) {
		t.Errorf("said %s", b.err.String())
	}
}

func TestProposalsAcceptAsks(t *testing.T) {
	for typed, want := range map[string]string{"y": "accept", "yes": "accept", "": "", "n": "", "sure": ""} {
		b := withProposals(t)
		b.c.keys, b.c.inTTY, b.c.errTTY, b.c.in = &fakeKeys{lines: []string{typed}, early: []string{"y"}}, true, true, failing{t}
		code := exitUnanswered
		if want != "" {
			code = exitOK
		}
		b.want(t, code, "proposals", "accept", "1a2b3c4d")
		if got := b.answersOf(); got != want {
			t.Errorf("%q: answered %q", typed, got)
		}
	}
	b := withProposals(t)
	b.c.keys, b.c.inTTY, b.c.errTTY, b.c.in = &fakeKeys{}, true, true, failing{t}
	b.want(t, exitOK, "proposals", "accept", "1a2b3c4d", "--yes", "--json")
	var done rpc.Resolved
	if err := json.Unmarshal([]byte(b.out.String()), &done); err != nil || b.answersOf() != "accept" || done.Proposal.ID != "1a2b3c4d" {
		t.Errorf("answered %q: %v %s", b.answersOf(), err, b.out.String())
	}
}

func TestLeaveFlags(t *testing.T) {
	b := withDaemon(t, twoTurns)
	for args, says := range map[string]string{
		"--mode full": "--allow-dangerous", "--allow-dangerous": "goes with --mode full", "--mode restricted --allow-dangerous": "goes with --mode full",
		"--ask --yolo": "--ask only reads", "--ask --mode interactive": "--ask only reads", "--yolo --mode restricted": "--yolo is full mode", "--mode nonsense": "--mode", "--answer-within=-1s": "negative",
	} {
		b.want(t, exitUsage, append(append([]string{"run"}, strings.Split(args, " ")...), "x")...)
		if !strings.Contains(b.err.String(), says) {
			t.Errorf("%s: said %s", args, b.err.String())
		}
	}
	if len(b.daemon.prompts) != 0 {
		t.Errorf("the daemon was asked %+v", b.daemon.prompts)
	}
	for args, want := range map[string]rpc.Prompt{
		"": {}, "--mode interactive": {Mode: sdk.ModeInteractive}, "--mode full --allow-dangerous": {Mode: sdk.ModeFull}, "--yolo": {Yolo: true},
		"--yolo --mode full": {Mode: sdk.ModeFull, Yolo: true},
	} {
		b.want(t, exitOK, append(append([]string{"run"}, strings.Fields(args)...), "x")...)
		p := b.daemon.prompts[len(b.daemon.prompts)-1]
		if p.Mode != want.Mode || p.Yolo != want.Yolo || p.Attend {
			t.Errorf("%s: the daemon was asked %+v", args, p)
		}
		if loud := strings.Contains(b.err.String(), "YOLO"); loud != want.Yolo {
			t.Errorf("%s: said %s", args, b.err.String())
		}
	}
}

func TestPolicyRules(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail.root = b.project
	b.want(t, exitOK, "policy")
	if !strings.Contains(b.err.String(), "only the built-in rules") {
		t.Errorf("said %s", b.err.String())
	}
	b.daemon.policy.rules = rpc.Rules{
		Configured: []sdk.PolicyRule{
			{Name: "no-push", Source: "/h/config.hcl:12", Verdict: sdk.Deny, Tools: []string{"bash"}, Commands: []string{"git push"}, Modes: []sdk.Mode{sdk.ModeFull}},
			{Name: "docs", Source: "workspace /p/.bothy/config.hcl:3", Verdict: sdk.Propose, Tools: []string{"write_file"}, Paths: []string{"docs/**"}, Arguments: map[string]string{"b": "x*", "a": "\x1b"}},
		},
		Remembered: []sdk.RememberedRule{{ID: "3f2a", Created: epoch, From: "1a2b3c4d", PolicyRule: sdk.PolicyRule{Name: "answer", Verdict: sdk.Allow, Exact: strings.Repeat("e", 64), Project: "/p"}}},
	}
	b.want(t, exitOK, "policy", "rules")
	b.golden(t, "policy-rules")
	b.want(t, exitOK, "policy", "rules", "--json", "--project", b.project)
	var rules rpc.Rules
	if err := json.Unmarshal([]byte(b.out.String()), &rules); err != nil || len(rules.Remembered) != 1 {
		t.Errorf("%v: %s", err, b.out.String())
	}
	b.want(t, exitOK, "policy", "forget", "3f2a")
	if !strings.Contains(b.err.String(), "forgotten: allow one call, eeeeeeeeeeee, in /p") {
		t.Errorf("said %s", b.err.String())
	}
	b.want(t, exitUsage, "policy", "forget", "nope")
	if got := strings.Join(b.offered(t, "zsh", "policy", "forget", ""), " "); got != "3f2a" {
		t.Errorf("offered %q", got)
	}
}

func TestExplain(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.policy.explained = rpc.Explained{
		Run: "brave-1", Path: bashPath, Tool: "bash", Command: "rm -rf\x1b build", Answer: sdk.Accept, AnsweredBy: "a person", Status: 200,
		Decision: sdk.Decision{Verdict: sdk.Propose, Rule: "shell", Source: "built-in", Reason: "rm\x07 is not proven", Commands: []sdk.SeenCommand{{Text: "rm -rf\x1b build", Verdict: sdk.Propose}}},
		Now:      &sdk.Decision{Verdict: sdk.Deny, Rule: "no-rm", Source: "/h/config.hcl:3", Reason: "never", Violation: "path_escape"},
	}
	b.daemon.detail.root, b.daemon.detail.runs = b.project, []sdk.Run{{ID: 7, Project: 1, Alias: "brave-1"}}
	b.daemon.detail.entries = []sdk.Entry{{Path: "log://turn_1/bash/rm", Phase: sdk.PhaseEnded}}
	b.daemon.policy.propose(sdk.Proposal{ID: "1a2b3c4d", Run: 7, Path: "log://turn_2/bash/ls"})
	b.want(t, exitOK, "explain", "brave-1", "turn_1/bash/rm")
	b.golden(t, "explain")
	b.daemon.policy.explained.Decision = sdk.Decision{Verdict: sdk.Allow, Rule: "hosts.allow", Source: "/h/config.hcl:3", Reason: "a rule allows it", Host: "docs.example.org", SameHost: true}
	b.want(t, exitOK, "explain", "brave-1", "turn_1/bash/rm")
	if !strings.Contains(b.out.String(), "host      docs.example.org, by which alone it passed: a redirect to another host is not followed") {
		t.Error(b.out.String())
	}
	b.want(t, exitOK, "explain", "1a2b3c4d", "--json")
	if got := fmt.Sprint(b.daemon.policy.asked...); got != "7 log://turn_1/bash/rm7 log://turn_1/bash/rm7 log://turn_2/bash/ls" || strings.Contains(b.out.String(), "\x1b") {
		t.Errorf("asked %s: %q", got, b.out.String())
	}
	b.want(t, exitUsage, "explain", "a", "b", "c")
	b.want(t, exitUsage, "explain")
}

// auditRecords are more than one page.
func auditRecords() []rpc.AuditRecord {
	exit := 0
	at := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }
	return []rpc.AuditRecord{
		{Seq: 1, Time: at(1), Run: "brave-1", Tool: "bash", Dir: "/home/user/project", Command: "ls -la", Verdict: sdk.Allow, Rule: "shell", State: sdk.StateResolved, Exit: &exit, Duration: sdk.Millis(23 * time.Millisecond)},
		{Seq: 2, Time: at(2), Run: "brave-1", Tool: "bash", Dir: "/p", Command: "echo a |\nwc \\x1b \x1b[2J", Verdict: sdk.Deny, Rule: "deny-list|x", State: sdk.StateFailed, Outcome: sdk.Permission},
		{Seq: 3, Time: at(3), Event: "path_escape", Detail: "../../etc\u202e", Project: "/a|b"},
		{Seq: 4, Time: at(4), Run: "brave-1", Tool: "write_file", Dir: "/p", Arguments: json.RawMessage(`{"path":"a"}`), Verdict: sdk.Propose, Answer: sdk.Reject, State: sdk.StateFailed, Outcome: sdk.Permission},
		{Seq: 5, Time: at(5), Run: "brave-1", Tool: "bash", Dir: "/p", Command: "sleep 99", Verdict: sdk.Propose, Answer: sdk.Accept, State: sdk.StateFailed, Outcome: sdk.Timeout, Duration: sdk.Millis(90 * time.Second)},
		{Seq: 6, Time: at(6), Run: "brave-1", Tool: "bash", Dir: "/p", Command: "waits", Verdict: sdk.Propose, State: sdk.StateProposed},
	}
}

func TestAudit(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail.root = b.project
	b.want(t, exitOK, "audit")
	if !strings.Contains(b.err.String(), "no such records") {
		t.Errorf("said %s", b.err.String())
	}
	b.daemon.policy.audit = auditRecords()
	b.want(t, exitOK, "audit", "list")
	b.golden(t, "audit-list")
	b.want(t, exitOK, "audit", "--json")
	if lines := strings.Split(strings.TrimSpace(b.out.String()), "\n"); len(lines) != 6 || strings.ContainsAny(b.out.String(), "\x1b\u202e") {
		t.Errorf("%d lines: %q", len(lines), b.out.String())
	}
	b.want(t, exitOK, "audit", "--json", "--events")
	if lines := strings.Split(strings.TrimSpace(b.out.String()), "\n"); len(lines) != 1 || !strings.Contains(lines[0], "path_escape") {
		t.Errorf("%q", lines)
	}
	b.want(t, exitOK, "audit", "-n", "3", "--json")
	if lines := strings.Split(strings.TrimSpace(b.out.String()), "\n"); len(lines) != 3 || !strings.Contains(b.err.String(), "more records") {
		t.Errorf("%q: %s", lines, b.err.String())
	}
	b.want(t, exitOK, "audit", "--json", "--since", "2026-01-02T03:04:09Z")
	if lines := strings.Split(strings.TrimSpace(b.out.String()), "\n"); len(lines) != 3 {
		t.Errorf("%q", lines)
	}
	b.want(t, exitOK, "audit", "--json", "--since", "1h30m")
	b.want(t, exitUsage, "audit", "--since", "tomorrow")
	b.want(t, exitOK, "audit", "verify")
	b.daemon.policy.damage = &sdk.JournalDamage{Seq: 4, What: "its hash\x1b"}
	b.want(t, exitFailed, "audit", "verify")
	if out := b.out.String(); !strings.Contains(out, "broken at row 4: the journal is damaged at row 4: its hash") {
		t.Errorf("%q", out)
	}
	b.want(t, exitFailed, "audit", "verify", "--json")
}

const exported = `2026-01-02T03:04:06Z | /home/user/project | ls -la | exit:0 | 0.023s
2026-01-02T03:04:07Z | /p | echo a |\x0awc \x5cx1b \x1b[2J | denied:deny-list\x7cx | 0.000s
2026-01-02T03:04:08Z | /a\x7cb | ../../etc\u{202e} | event:path_escape | 0.000s
2026-01-02T03:04:09Z | /p | write_file {"path":"a"} | rejected | 0.000s
2026-01-02T03:04:10Z | /p | sleep 99 | timeout | 90.000s
2026-01-02T03:04:11Z | /p | waits | proposed | 0.000s
`

func TestAuditExport(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail.root = b.project
	b.daemon.policy.audit = auditRecords()
	b.want(t, exitOK, "audit", "export")
	if got := b.out.String(); got != exported {
		t.Errorf("exported\n%s\nwant\n%s", got, exported)
	}
	file := filepath.Join(b.project, "audit.log")
	b.want(t, exitOK, "audit", "export", "--to", "audit.log")
	text, err := os.ReadFile(file)
	if fi, statErr := os.Stat(file); err != nil || statErr != nil || string(text) != exported || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v %q", err, statErr, text)
	}
	b.want(t, exitUsage, "audit", "export", "--to", "audit.log")
	b.want(t, exitOK, "audit", "export", "--to", "audit.log", "--force", "--events")
	if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "\n") != 1 {
		t.Errorf("%v %q", err, text)
	}
	b.want(t, exitUsage, "audit", "export", "--json")
	left, err := os.ReadDir(b.project)
	if err != nil || len(left) != 3 { // .git, sub, audit.log
		t.Errorf("%v %v", left, err)
	}
}
