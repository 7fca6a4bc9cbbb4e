package config

import (
	"slices"
	"testing"
)

// TestWhatAPluginMayAsk: no tools named is no limit, an empty list is none at
// all, and both lists keep their order.
func TestWhatAPluginMayAsk(t *testing.T) {
	cfg, diags := load(t, `
plugin "open" {}
plugin "none" {
  tools = []
}
plugin "some" {
  tools  = ["read_*", "bash"]
  models = ["openai/*"]
  on_use = true
}
`)
	if cfg == nil {
		t.Fatal(diags)
	}
	find := func(label string) Plugin {
		i := slices.IndexFunc(cfg.Plugins, func(p Plugin) bool { return p.Label == label })
		if i < 0 {
			t.Fatalf("no plugin %s", label)
		}
		return cfg.Plugins[i]
	}
	if p := find("open"); p.Tools != nil || p.Models != nil || p.OnUse {
		t.Errorf("open: %v %v %v", p.Tools, p.Models, p.OnUse)
	}
	if p := find("none"); p.Tools == nil || len(p.Tools) != 0 {
		t.Errorf("none: %#v", p.Tools)
	}
	if p := find("some"); !slices.Equal(p.Tools, []string{"read_*", "bash"}) || !slices.Equal(p.Models, []string{"openai/*"}) || !p.OnUse {
		t.Errorf("some: %v %v %v", p.Tools, p.Models, p.OnUse)
	}
	if p := find("research"); !p.OnUse || slices.Contains(p.Tools, "bash") || p.Tools == nil {
		t.Errorf("the built-in research: %v %v", p.Tools, p.OnUse)
	}
}
