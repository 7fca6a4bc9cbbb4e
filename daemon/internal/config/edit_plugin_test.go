package config

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestSetPlugin(t *testing.T) {
	no, yes := false, true
	pinned := PluginEdit{Kind: "plugin", Label: "s", Path: "/x/é", SHA256: "ab", Grants: []string{"tools", "models"}}
	for name, c := range map[string]struct {
		edit       PluginEdit
		text, want string
	}{
		"new": {pinned, "# mine\n", "# mine\n\nplugin \"s\" {\n  path   = \"/x/é\"\n  sha256 = \"ab\"\n  grants = [\"tools\", \"models\"]\n}\n"},
		"there": {pinned, "plugin \"s\" { # why\n  path = \"/old\" # was\n  other = 1\n}\n",
			"plugin \"s\" { # why\n  path = \"/x/é\" # was\n  other = 1\n  sha256 = \"ab\"\n  grants = [\"tools\", \"models\"]\n}\n"},
		"the same":         {pinned, pinned.Text(), pinned.Text()},
		"switched on":      {PluginEdit{Kind: "plugin", Label: "s", Enabled: &yes}, "plugin \"s\" {\n  enabled = false\n}\n", "plugin \"s\" {\n  enabled = true\n}\n"},
		"off":              {PluginEdit{Kind: "provider", Label: "s", Enabled: &no}, "plugin \"s\" {}\n", "plugin \"s\" {}\n\nprovider \"s\" {\n  enabled = false\n}\n"},
		"in one line":      {PluginEdit{Kind: "plugin", Label: "s", Path: "/x"}, "plugin s { other = 1 }", "plugin s {\n  other = 1 \n  path = \"/x\"\n}"},
		"an interpolation": {PluginEdit{Kind: "plugin", Label: "s", Path: "/${x}"}, "", "plugin \"s\" {\n  path = \"/$${x}\"\n}\n"},
	} {
		got, err := setPlugin([]byte(c.text), "config.hcl", c.edit)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%q\nwant\n%q", name, err, got, c.want)
		}
	}
	if _, err := setPlugin([]byte("plugin \"s\" {\n"), "config.hcl", pinned); err == nil {
		t.Error("a text that cannot be parsed is edited")
	}
	if _, err := SetPlugin("/nowhere/x", PluginEdit{Kind: "plugin", Label: "../x"}); err == nil {
		t.Error("a name that cannot be")
	}
}

// TestRemoveBlock: taking out what was put in leaves the text as it was, and
// nothing else is touched.
func TestRemoveBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.Permutation(fragments).Draw(t, "parts")
		n := rapid.IntRange(0, len(parts)).Draw(t, "n")
		var text []byte
		for _, p := range parts[:n] {
			text = append(text, p...)
			if bytes.HasPrefix([]byte(p), []byte("//")) {
				text = append(text, '\n')
			}
		}
		e := PluginEdit{Kind: "plugin", Label: "s", Path: rapid.String().Draw(t, "path"), SHA256: "ab"}
		with, err := setPlugin(text, "config.hcl", e)
		if err != nil {
			t.Fatal(err)
		}
		without, err := removeBlock(with, "config.hcl", "plugin", "s")
		if err != nil || !bytes.Equal(without, text) {
			t.Fatalf("%v\n%q\n%q", err, text, without)
		}
		if again, err := removeBlock(without, "config.hcl", "plugin", "s"); err != nil || !bytes.Equal(again, without) {
			t.Fatal("it is removed twice")
		}
	})
	for text, want := range map[string]string{
		"a {}\n\nplugin \"s\" {\n}\n\nb {}\n":       "a {}\n\nb {}\n",
		"a {}\n# of s\nplugin \"s\" {} # end\nb {}": "a {}\n# of s\n # end\nb {}",
		"provider \"s\" {}\n":                       "provider \"s\" {}\n",
	} {
		if got, err := removeBlock([]byte(text), "x", "plugin", "s"); err != nil || string(got) != want {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
}
