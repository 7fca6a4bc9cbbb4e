package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
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

// TestCallLimit: how long a call may be silent is a duration, and no longer than a command may take.
func TestCallLimit(t *testing.T) {
	for text, want := range map[string]time.Duration{"30s": 30 * time.Second, "10m": 10 * time.Minute, "11m": 0, "0s": 0, "-1s": 0, "long": 0} {
		cfg, diags := load(t, "plugin \"x\" {\n  limits {\n    call = \""+text+"\"\n  }\n}\n")
		if want == 0 {
			if !strings.Contains(fmt.Sprint(diags), "limits: call is \""+text) {
				t.Errorf("%s: %s", text, diags)
			}
			continue
		}
		i := slices.IndexFunc(cfg.Plugins, func(p Plugin) bool { return p.Label == "x" })
		if got := cfg.Plugins[i].Limits.Call; got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
}

// TestBlockAttributes: plugins are kept from the names that a block has for the daemon.
func TestBlockAttributes(t *testing.T) {
	if got, want := slices.Sorted(slices.Values(sdk.BlockAttributes())), slices.Sorted(slices.Values(PluginAttributes())); !slices.Equal(got, want) {
		t.Errorf("sdk.BlockAttributes are %v, the block has %v", got, want)
	}
}

// TestAnswersOfAChannel are what people may accept by one that is granted it.
func TestAnswersOfAChannel(t *testing.T) {
	cfg, diags := small(t, "plugin \"x\" {\n  grants = [\"channel\", \"answers\"]\n  answers {\n    tools = [\"web_*\"]\n  }\n}\n")
	if cfg == nil || len(cfg.Plugins) != 1 || !slices.Equal(cfg.Plugins[0].Answers.Tools, []string{"web_*"}) {
		t.Fatal(diags.Error())
	}
	other, _ := small(t, "plugin \"x\" {\n  grants = [\"channel\", \"answers\"]\n}\n")
	if d := Diff(other, cfg); len(d) != 1 {
		t.Errorf("the changes are %v", d)
	}
	cfg, diags = small(t, "plugin \"x\" {\n  grants = [\"channel\"]\n  answers {\n    tools = [\"web_*\"]\n  }\n}\n")
	if cfg != nil || !strings.Contains(diags.Error(), "write \"answers\" into grants") {
		t.Errorf("without the grant: %s", diags.Error())
	}
}
