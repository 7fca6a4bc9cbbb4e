package config

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestPeople are known by their channel and their name there, and by nothing that looks like it.
func TestPeople(t *testing.T) {
	cfg, diags := small(t, `
plugin "chat" {}
person "chat/12" {
  name = "Ada"
}
person "chat/@me:example.org" {
  owner   = "local"
  answers = true
}
person "chat/room/1" {}
`)
	if cfg == nil {
		t.Fatal(diags.Error())
	}
	me := cfg.People[sdk.PersonID("chat", "@me:example.org")]
	if len(cfg.People) != 3 || me.Owner != sdk.LocalOwner || !me.Answers || cfg.People["chat/12"].Answers || cfg.People["chat/12"].Name != "Ada" || cfg.People["chat/12"].Owner != "" {
		t.Errorf("they are %+v", cfg.People)
	}
	if _, known := cfg.People[sdk.PersonID("chat", "room/1")]; !known {
		t.Error("a name with a slash is not known")
	}
	for label, says := range map[string]string{
		"12": "named by the channel's plugin block", "chat/": "named by the channel's", "/12": "named by the channel's", "Chat/12": "named by the channel's",
		"other/12": `of the plugin "other", and there is no such block`, "chat/" + strings.Repeat("1", 129): "named by the channel's", "chat/a\\u200b": "named by the channel's",
	} {
		if cfg, diags := small(t, "plugin \"chat\" {}\nperson \""+label+"\" {}\n"); cfg != nil || !strings.Contains(diags.Error(), says) {
			t.Errorf("%q: %s", label, diags.Error())
		}
	}
	without, _ := small(t, "plugin \"chat\" {}\n")
	if d := Diff(without, cfg); len(d) != 3 {
		t.Errorf("the changes are %v", d)
	}
}
