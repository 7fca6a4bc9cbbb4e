package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestHosts: a hosts block is rules about hosts, everywhere or in one project, and the file of a project only denies.
func TestHosts(t *testing.T) {
	cfg, diags := load(t, `
hosts {
  allow = ["docs.example.org", "*.example.net"]
  deny  = ["ads.example.com"]
}
project "/src/shop" {
  hosts { allow = ["shop.example.org"] }
}
`)
	if len(diags) > 0 {
		t.Fatal(diags.Error())
	}
	type rule struct{ name, hosts, project string }
	want := []rule{{"hosts.allow", "shop.example.org", "/src/shop"}, {"hosts.allow", "docs.example.org *.example.net", ""}, {"hosts.deny", "ads.example.com", ""}}
	var got []rule
	for _, r := range cfg.Rules {
		got = append(got, rule{r.Name, strings.Join(r.Hosts, " "), r.Project})
		if want := map[string]sdk.Verdict{"hosts.allow": sdk.Allow, "hosts.deny": sdk.Deny}[r.Name]; r.Verdict != want || !strings.Contains(r.Source, "config.hcl:") {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	path := filepath.Join(t.TempDir(), "config.hcl")
	if err := os.WriteFile(path, []byte("hosts {\n  allow = [\"evil.example\"]\n  deny = [\"docs.example.org\"]\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, diags := ReadWorkspace(path, cfg)
	if len(w.Rules) != 1 || w.Rules[0].Verdict != sdk.Deny || w.Broken != "" || !strings.Contains(diags.Error(), "can only deny some") {
		t.Errorf("%+v, %v", w, diags.Error())
	}
	if err := os.WriteFile(path, []byte("hosts {\n  deny = [\"Docs.Example.org\"]\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w, _ := ReadWorkspace(path, cfg); w.Broken == "" {
		t.Error("what a workspace denies and cannot be read counts for nothing")
	}
}
