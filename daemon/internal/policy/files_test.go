package policy

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestReadOnlyFiles: no tool writes what a constraint keeps, whatever allows it, and all may read it.
// spec: file_constraints
func TestReadOnlyFiles(t *testing.T) {
	keeps := func(at string, holds bool) string {
		if strings.HasPrefix(at, "vendor/") || holds && at == "vendor" {
			return "vendor/**"
		}
		return ""
	}
	p := New(Settings{Mode: sdk.ModeFull, ReadOnly: keeps, Rules: []sdk.PolicyRule{{Name: "all", Source: "f:1", Verdict: sdk.Allow}}})
	for _, c := range []struct {
		name      string
		tool      sdk.Tool
		arguments string
		verdict   sdk.Verdict
		rule      string
	}{
		{"a write", writeFile, `{"path":"vendor/a.go"}`, sdk.Deny, RuleReadOnly},
		{"a write by another form", writeFile, `{"path":"./x/../vendor/a.go"}`, sdk.Deny, RuleReadOnly},
		{"a write beside it", writeFile, `{"path":"vendored.go"}`, sdk.Allow, RuleProject},
		{"a move from it", moveFile, `{"from":"vendor/a.go","to":"b.go"}`, sdk.Deny, RuleReadOnly},
		{"a move of what holds it", moveFile, `{"from":"vendor","to":"b"}`, sdk.Deny, RuleReadOnly},
		{"a copy of it", copyFile, `{"from":"vendor/a.go","to":"b.go"}`, sdk.Allow, RuleProject},
		{"a copy onto it", copyFile, `{"from":"b.go","to":"vendor/a.go"}`, sdk.Deny, RuleReadOnly},
		{"a read", readFile, `{"path":"vendor/a.go"}`, sdk.Allow, RuleRead},
		{"a look", setEntry, `{"path":"vendor/a.go","visibility":"visible"}`, sdk.Allow, RuleEntries},
	} {
		d := p.Decide(sdk.PolicyRequest{Tool: c.tool, Arguments: []byte(c.arguments), Project: "/p"})
		if d.Verdict != c.verdict || d.Rule != c.rule && c.verdict == sdk.Deny {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

// TestLooksAreNoSideEffect: how much of a file is in sight may be said where only reading is allowed; its text may not.
func TestLooksAreNoSideEffect(t *testing.T) {
	p := New(Settings{})
	for arguments, want := range map[string]sdk.Verdict{
		`{"path":"a.go","visibility":"archived"}`:            sdk.Allow,
		`{"path":"src/**","visibility":"visible"}`:           sdk.Allow,
		`{"path":"a.go","visibility":"archived","body":"x"}`: sdk.Deny,
		`{"path":"a.go","body":"x"}`:                         sdk.Deny,
		`{"path":"a.go","state":"failed","visibility":"x"}`:  sdk.Deny,
	} {
		if d := p.Decide(sdk.PolicyRequest{Tool: setEntry, Arguments: []byte(arguments), ReadOnly: true}); d.Verdict != want {
			t.Errorf("%s: %+v", arguments, d)
		}
	}
	move := setEntry
	move.Name = string(sdk.VerbMove)
	for arguments, want := range map[string]sdk.Verdict{
		`{"path":"src/**","visibility":"archived"}`:          sdk.Allow,
		`{"path":"a.go","to":"b.go","visibility":"visible"}`: sdk.Deny,
		`{"path":"a.go"}`: sdk.Deny,
	} {
		if d := p.Decide(sdk.PolicyRequest{Tool: move, Arguments: []byte(arguments), ReadOnly: true}); d.Verdict != want {
			t.Errorf("mv %s: %+v", arguments, d)
		}
	}
}

// TestMayRead: what read_file would be refused or have to ask for, no entry shows.
func TestMayRead(t *testing.T) {
	l := Live{
		Written: func(string) Settings {
			return Settings{Rules: []sdk.PolicyRule{
				{Name: "no keys", Source: "f:1", Verdict: sdk.Deny, Tools: []string{"read_file"}, Paths: []string{"private/**"}},
				{Name: "asks", Source: "f:2", Verdict: sdk.Propose, Tools: []string{"files__read_file"}, Paths: []string{"asked/**"}},
				{Name: "by the verb", Source: "f:3", Verdict: sdk.Deny, Tools: []string{"get"}, Paths: []string{"verb/**"}},
				{Name: "any tool", Source: "f:4", Verdict: sdk.Deny, Paths: []string{"any/**"}},
				{Name: "in one mode", Source: "f:6", Verdict: sdk.Deny, Tools: []string{"read_file"}, Paths: []string{"mode/**"}, Modes: []sdk.Mode{sdk.ModeWorkspace}},
				{Name: "asks in one mode", Source: "f:7", Verdict: sdk.Propose, Tools: []string{"read_file"}, Paths: []string{"asking/**"}, Modes: []sdk.Mode{sdk.ModeInteractive}},
				{Name: "writes", Source: "f:5", Verdict: sdk.Deny, Tools: []string{"write_file"}, Paths: []string{"src/**"}},
			}}
		},
		Links: func(_ string, named []string) map[string]string {
			if named[0] == "plain.txt" {
				return map[string]string{"plain.txt": ".env"}
			}
			return nil
		},
	}
	may := l.MayRead("/p")
	for at, want := range map[string]bool{
		"src/a.go": true, "a*b(c).go": true, ".env.example": true,
		"private/x": false, "asked/x": false, "mode/x": false, "asking/x": false, "verb/x": false, "any/x": false, ".env": false, "sub/id_rsa": false, "plain.txt": false, "../x": false, "/etc/passwd": false,
	} {
		if err := may(at); (err == nil) != want || err != nil && sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("%s: %v", at, err)
		}
	}
}
