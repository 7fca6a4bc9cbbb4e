package main

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestPluginsReload: how it was done goes to standard output, what is wrong to
// standard error; what is not as its block says is exit 2.
func TestPluginsReload(t *testing.T) {
	b := withDaemon(t, nil)
	warning := rpc.Diagnostic{Severity: "warning", Text: "plugin bash: it asks for more\x1b"}
	mistake := rpc.Diagnostic{Severity: "error", Text: "plugin bash: its block is wrong"}
	for name, c := range map[string]struct {
		answer   rpc.PluginReloaded
		code     int
		out, err string
	}{
		"unchanged":    {rpc.PluginReloaded{How: "unchanged"}, exitOK, "bash: unchanged: ", ""},
		"reconfigured": {rpc.PluginReloaded{How: "reconfigured"}, exitOK, "bash: reconfigured: ", ""},
		"swapped":      {rpc.PluginReloaded{How: "swapped", Diagnostics: []rpc.Diagnostic{warning}}, exitOK, "bash: swapped: ", `asks for more\x1b`},
		"started":      {rpc.PluginReloaded{How: "started"}, exitOK, "bash: started\n", ""},
		"broken":       {rpc.PluginReloaded{How: "started", Diagnostics: []rpc.Diagnostic{mistake}}, exitUsage, "bash: it does not start\n", "its block is wrong"},
		"kept":         {rpc.PluginReloaded{How: "kept", Diagnostics: []rpc.Diagnostic{mistake}}, exitUsage, "bash: kept as it was\n", "its block is wrong"},
	} {
		b.daemon.loaded = c.answer
		b.want(t, c.code, "plugins", "reload", "bash")
		if !strings.HasPrefix(b.out.String(), c.out) || !strings.Contains(b.err.String(), c.err) {
			t.Errorf("%s: stdout %q, stderr %q", name, b.out.String(), b.err.String())
		}
		b.want(t, c.code, "plugins", "reload", "bash", "--json")
		if !strings.Contains(b.out.String(), `"how": "`+c.answer.How+`"`) {
			t.Errorf("%s as JSON: %q", name, b.out.String())
		}
	}
	b.daemon.loaded = rpc.PluginReloaded{How: "unchanged"}
	b.want(t, exitOK, "plugins", "reload", "bash", "--force")
	if !strings.HasPrefix(b.out.String(), "bash: swapped") {
		t.Errorf("force was lost: %q", b.out.String())
	}
	b.want(t, exitUsage, "plugins", "reload", "bsh")
	if !strings.Contains(b.err.String(), "there are: bash") {
		t.Errorf("nobody said what there is: %q", b.err.String())
	}
	b.want(t, exitUsage, "plugins", "reload")
}
