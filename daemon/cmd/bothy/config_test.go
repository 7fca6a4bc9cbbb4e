package main

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestConfigReload: what changed goes to standard output, what is wrong to
// standard error; a mistake is exit 2, a warning is not.
func TestConfigReload(t *testing.T) {
	b := withDaemon(t, nil)
	changed := []rpc.ConfigChange{{Block: "agent", Label: "a", Kind: "changed", Text: "agent a\x1b changed"}}
	warning := rpc.Diagnostic{Severity: "warning", Text: "c.hcl:1:1: warning: later"}
	mistake := rpc.Diagnostic{Severity: "error", File: "c.hcl", Line: 2, Column: 3, Text: "c.hcl:2:3: error: what\x1b"}
	for name, c := range map[string]struct {
		answer   rpc.Reloaded
		code     int
		out, err string
	}{
		"nothing":   {rpc.Reloaded{Applied: true}, exitOK, "nothing changed\n", ""},
		"a change":  {rpc.Reloaded{Applied: true, Changes: changed}, exitOK, "agent a\\x1b changed\n", ""},
		"a warning": {rpc.Reloaded{Applied: true, Changes: changed, Diagnostics: []rpc.Diagnostic{warning}}, exitOK, "agent a\\x1b changed\n", warning.Text},
		"refused":   {rpc.Reloaded{Applied: true, Changes: changed, Diagnostics: []rpc.Diagnostic{mistake}}, exitUsage, "agent a\\x1b changed\n", "2:3: error: what\\x1b"},
		"broken":    {rpc.Reloaded{Diagnostics: []rpc.Diagnostic{mistake}}, exitUsage, "", "goes on with what it had"},
	} {
		b.daemon.reloaded = c.answer
		b.want(t, c.code, "config", "reload")
		if b.out.String() != c.out || !strings.Contains(b.err.String(), c.err) {
			t.Errorf("%s: stdout %q, stderr %q", name, b.out.String(), b.err.String())
		}
		b.want(t, c.code, "config", "reload", "--json")
		if !strings.Contains(b.out.String(), `"applied": `) {
			t.Errorf("%s as JSON: %q", name, b.out.String())
		}
	}
}
