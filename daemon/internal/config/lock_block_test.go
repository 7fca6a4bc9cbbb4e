package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// lockText is a lock with one block.
func lockText(inside string) string {
	return lockHeader + "version = 2\n\nplugin \"a\" {\n" + inside + "}\n"
}

// TestLockBlock: in a block that changes only what is another is written; its comments stay
// where they stand, what is empty now goes, and what only a later version knew goes with it.
func TestLockBlock(t *testing.T) {
	digest := strings.Repeat("cd", 32)
	for name, c := range map[string]struct {
		inside string
		entry  Locked
		want   string
	}{
		"another digest": {
			"  # of mine\n  digest = \"" + someDigest + "\" # looked at in May\n  /* kinds */\n  kinds = [\"tool\"] // one\n  # the end\n",
			Locked{Digest: digest, Kinds: []string{"tool"}},
			"  # of mine\n  digest = \"" + digest + "\" # looked at in May\n  /* kinds */\n  kinds = [\"tool\"] // one\n  # the end\n",
		},
		"a comment in a list that stays": {
			"  digest = \"" + someDigest + "\"\n  grants = [\n    \"tools\", # asked for\n  ]\n",
			Locked{Digest: digest, Grants: []string{"tools"}},
			"  digest = \"" + digest + "\"\n  grants = [\n    \"tools\", # asked for\n  ]\n",
		},
		"one more": {
			"  digest = \"" + someDigest + "\" # mine\n",
			Locked{Digest: someDigest, Version: "2", Skills: []string{"s"}},
			"  digest  = \"" + someDigest + "\" # mine\n  version = \"2\"\n  skills  = [\"s\"]\n",
		},
		"one less": {
			"  digest = \"" + someDigest + "\"\n  # it was new\n  version = \"1\"\n  script = true\n",
			Locked{Digest: someDigest},
			"  digest = \"" + someDigest + "\"\n",
		},
		"what a later version knew": {
			"  digest = \"" + someDigest + "\"\n  later = { x = 1 }\n",
			Locked{Digest: digest},
			"  digest = \"" + digest + "\"\n",
		},
		"a tool": {
			"  digest = \"" + someDigest + "\"\n  # pinned\n  tools = { \"read\" = \"1\" }\n",
			Locked{Digest: someDigest, Tools: map[string]string{"read": "1", "for": "2"}},
			"  digest = \"" + someDigest + "\"\n  # pinned\n  tools = {\n    \"for\"  = \"2\"\n    \"read\" = \"1\"\n  }\n",
		},
	} {
		path := filepath.Join(t.TempDir(), LockName)
		writeFile(t, path, lockText(c.inside))
		_, now, err := EditLock(path, func(l *Lock) error {
			l.Plugins["a"] = Locked{Digest: strings.Repeat("ef", 32), Version: "passing"} // what is put twice counts once
			l.Plugins["a"] = c.entry
			return nil
		})
		if got := read(t, path); err != nil || got != lockText(c.want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, lockText(c.want))
		}
		if again, err := ReadLock(path); err != nil || len(DiffLock(again, now)) > 0 || len(again.Plugins["a"].Diff(c.entry)) > 0 {
			t.Errorf("%s: it is read as %+v, %v", name, again, err)
		}
	}
}

// TestLockChanges: what a person is told of two locks.
func TestLockChanges(t *testing.T) {
	full := LockOf(someManifest(), someDigest, false)
	was := Lock{Plugins: map[string]Locked{"gone": full, "stays": full, "other": full}}
	other := full
	other.Version, other.Digest, other.Grants = "", strings.Repeat("cd", 32), nil
	now := Lock{Plugins: map[string]Locked{"came": {Digest: someDigest}, "stays": full, "other": other}}
	var told []string
	for _, c := range DiffLock(was, now) {
		told = append(told, strings.TrimSpace(c.Label+" "+string(c.Kind)+" "+c.What+" "+c.From+" "+c.To))
	}
	want := []string{
		"came added   , abababababab",
		"gone removed  demo 1.2.3, abababababab, hook tool, tools read, tools of mcp:far, agents reviewer, wants entries",
		"other changed digest " + someDigest + " " + other.Digest, "other removed grant entries", "other changed version 1.2.3",
	}
	if strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	if got := Changes(full.Diff(other)); got != "~ digest abababababab -> cdcdcdcdcdcd, - grant entries, ~ version 1.2.3 -> none" {
		t.Error(got)
	}
	if d := DiffLock(Lock{}, Lock{}); len(d) > 0 {
		t.Errorf("%v", d)
	}
}

// TestWhatIsPinnedOfATool: what is checked and believed, and nothing that only a model reads.
func TestWhatIsPinnedOfATool(t *testing.T) {
	base := sdk.ToolSpec{Name: "t", Parameters: json.RawMessage(`{"type":"object"}`)}
	for name, c := range map[string]struct {
		change func(*sdk.ToolSpec)
		same   bool
	}{
		"its words":          {func(x *sdk.ToolSpec) { x.Description = "Does." }, true},
		"its spacing":        {func(x *sdk.ToolSpec) { x.Parameters = json.RawMessage(` { "type" : "object" } `) }, true},
		"its schema":         {func(x *sdk.ToolSpec) { x.Parameters = json.RawMessage(`{"type":"array"}`) }, false},
		"no schema":          {func(x *sdk.ToolSpec) { x.Parameters = json.RawMessage(`{`) }, false},
		"another that is no": {func(x *sdk.ToolSpec) { x.Parameters = json.RawMessage(`[`) }, false},
		"that it only reads": {func(x *sdk.ToolSpec) { x.Annotations.ReadOnly = true }, false},
		"that it is staged":  {func(x *sdk.ToolSpec) { x.Staged = true }, false},
		"its command":        {func(x *sdk.ToolSpec) { x.Command = "c" }, false},
		"that it is hidden":  {func(x *sdk.ToolSpec) { x.Unlisted = true }, false},
	} {
		x := base
		c.change(&x)
		if same := toolHash(x) == toolHash(base); same != c.same {
			t.Errorf("%s: the same %v, want %v", name, same, c.same)
		}
		if held := LockOf(sdk.Manifest{Tools: []sdk.ToolSpec{base}}, someDigest, false).Hold(sdk.Manifest{Tools: []sdk.ToolSpec{x}}); (len(held.Tools) == 1) != c.same {
			t.Errorf("%s: held %v", name, held.Tools)
		}
	}
}

// TestSaidTwice: what a manifest says twice of one name is one fact, in whichever order, and
// in whichever form its letters are written.
func TestSaidTwice(t *testing.T) {
	a, b := sdk.Subscription{Name: "act.before", Priority: 1}, sdk.Subscription{Name: "act.before", Priority: 2}
	one := LockOf(sdk.Manifest{Subscriptions: []sdk.Subscription{a, b}}, someDigest, false)
	two := LockOf(sdk.Manifest{Subscriptions: []sdk.Subscription{b, a}}, someDigest, false)
	if d := one.Diff(two); len(d) > 0 || one.Subscriptions["act.before"] != "(priority 1, open) (priority 2, open)" {
		t.Errorf("%v %v", d, one.Subscriptions)
	}
	composed, taken := "caf\u00e9", "cafe\u0301"
	m := func(name string) sdk.Manifest {
		return sdk.Manifest{Name: name, Skills: []string{name}, Grants: []string{name}, Tools: []sdk.ToolSpec{{Name: name}}, Schemes: []sdk.Scheme{{Name: name}}}
	}
	lock := LockOf(m(composed), someDigest, false)
	if d := lock.Diff(LockOf(m(taken), someDigest, false)); len(d) > 0 {
		t.Errorf("%s", Changes(d))
	}
	if held := lock.Hold(m(taken)); len(held.Tools) != 1 || len(held.Schemes) != 1 || len(held.Skills) != 1 || len(held.Grants) != 1 {
		t.Errorf("held %+v", held)
	}
}

// TestALockThatCannotBeRead: nobody knows whom it pinned, so that the configuration is none.
func TestALockThatCannotBeRead(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a folder":      func(path string) error { return os.Mkdir(path, 0o700) },
		"not to change": func(path string) error { return os.WriteFile(path, nil, 0o400) },
		"too long":      func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("#\n", MaxFile)), 0o600) },
		"no text":       func(path string) error { return os.WriteFile(path, []byte("version = 2\n\xff"), 0o600) },
	} {
		src := Source{Path: filepath.Join(t.TempDir(), "config.hcl"), Getenv: environment(), Secrets: &Secrets{}, Defaults: []byte("plugin \"a\" {}\n"), DefaultsName: "d"}
		if err := make(LockPath(src.Path)); err != nil {
			t.Fatal(err)
		}
		if cfg, diags := loadFrom(src); cfg != nil || len(diags) == 0 || !strings.Contains(diags.Error(), LockName) {
			t.Errorf("%s: %v %v", name, cfg != nil, diags)
		}
		if _, err := ReadLock(LockPath(src.Path)); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}
