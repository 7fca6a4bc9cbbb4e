package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

var someDigest = strings.Repeat("ab", 32)

func someManifest() sdk.Manifest {
	return sdk.Manifest{
		Name: "demo", Version: "1.2.3", Protocol: 1, Kinds: []string{"tool", "hook"}, Grants: []string{"entries"},
		Tools: []sdk.ToolSpec{
			{Name: "read", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`), Annotations: sdk.Annotations{ReadOnly: true}},
			{Name: "far", Parameters: json.RawMessage(`{}`), Source: "mcp:far"},
		},
		Subscriptions: []sdk.Subscription{{Name: "run.reset", Priority: 10}, {Name: "act.before", Priority: 5, Failure: sdk.FailClosed}},
		Schemes:       []sdk.Scheme{{Name: "note", Scope: "run", WritableBy: []sdk.Writer{sdk.WriterPlugin}}},
		Agents:        []sdk.AgentSpec{{Name: "reviewer", Description: "Reviews.", Persona: "Be kind.", Tools: []string{"read"}, Schema: json.RawMessage(`{"type":"object"}`)}},
		Calls:         sdk.Calls{Tools: []string{"read_*"}}, Features: []string{sdk.FeatureReconfigure},
	}
}

// TestLockDrift: what is different is said in a line, and what may be is not.
func TestLockDrift(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sdk.Manifest)
		want   string
	}{
		"nothing": {func(*sdk.Manifest) {}, ""},
		"other order": {func(m *sdk.Manifest) {
			slices.Reverse(m.Tools)
			slices.Reverse(m.Kinds)
			slices.Reverse(m.Subscriptions)
		}, ""},
		"other spacing": {func(m *sdk.Manifest) {
			m.Tools[0].Parameters = json.RawMessage(`{ "properties": {"a": {"type":"string"}}, "type":"object" }`)
		}, ""},
		"other words":    {func(m *sdk.Manifest) { m.Tools[0].Description = "Reads." }, ""},
		"tool added":     {func(m *sdk.Manifest) { m.Tools = append(m.Tools, sdk.ToolSpec{Name: "x"}) }, "+ tool x"},
		"tool gone":      {func(m *sdk.Manifest) { m.Tools = m.Tools[1:] }, "- tool read"},
		"schema":         {func(m *sdk.Manifest) { m.Tools[0].Parameters = json.RawMessage(`{"type":"object"}`) }, "~ schema of tool read changed"},
		"no schema":      {func(m *sdk.Manifest) { m.Tools[0].Parameters = json.RawMessage(`{"a":1,"a":2}`) }, "~ schema of tool read changed"},
		"annotations":    {func(m *sdk.Manifest) { m.Tools[0].Annotations.Idempotent = true }, "~ schema of tool read changed"},
		"command":        {func(m *sdk.Manifest) { m.Tools[0].Command = "a" }, "~ schema of tool read changed"},
		"source gone":    {func(m *sdk.Manifest) { m.Tools = m.Tools[:1] }, ""},
		"source changes": {func(m *sdk.Manifest) { m.Tools[1].Parameters = json.RawMessage(`{"type":"array"}`) }, ""},
		"source more":    {func(m *sdk.Manifest) { m.Tools = append(m.Tools, sdk.ToolSpec{Name: "y", Source: "mcp:far"}) }, ""},
		"other source":   {func(m *sdk.Manifest) { m.Tools[1].Source = "mcp:near" }, "+ tools of source mcp:near"},
		"to a source":    {func(m *sdk.Manifest) { m.Tools[0].Source = "mcp:far" }, "- tool read"},
		"from a source":  {func(m *sdk.Manifest) { m.Tools[1].Source = "" }, "+ tool far"},
		"grant":          {func(m *sdk.Manifest) { m.Grants = append(m.Grants, "tools") }, "+ grant tools"},
		"call":           {func(m *sdk.Manifest) { m.Calls.Tools = []string{"*"} }, "- call of tools read_*, + call of tools *"},
		"kind":           {func(m *sdk.Manifest) { m.Kinds = append(m.Kinds, "channel") }, "+ kind channel"},
		"agent":          {func(m *sdk.Manifest) { m.Agents = append(m.Agents, sdk.AgentSpec{Name: "x"}) }, "+ agent x"},
		"agent twice":    {func(m *sdk.Manifest) { m.Agents = append(m.Agents, sdk.AgentSpec{Name: "reviewer"}) }, ""},
		"agent gone":     {func(m *sdk.Manifest) { m.Agents = nil }, "- agent reviewer"},
		"persona":        {func(m *sdk.Manifest) { m.Agents[0].Persona = "Be quick." }, "~ agent reviewer changed"},
		"its words":      {func(m *sdk.Manifest) { m.Agents[0].Description = "Reads." }, "~ agent reviewer changed"},
		"its tools":      {func(m *sdk.Manifest) { m.Agents[0].Tools = []string{"*"} }, "~ agent reviewer changed"},
		"its schema":     {func(m *sdk.Manifest) { m.Agents[0].Schema = json.RawMessage(`{"type":"array"}`) }, "~ agent reviewer changed"},
		"its spacing":    {func(m *sdk.Manifest) { m.Agents[0].Schema = json.RawMessage(` { "type": "object" }`) }, ""},
		"priority":       {func(m *sdk.Manifest) { m.Subscriptions[0].Priority = 1 }, "~ subscription run.reset (priority 10, open) -> (priority 1, open)"},
		"feature":        {func(m *sdk.Manifest) { m.Features = nil }, "- feature reconfigure"},
		"version":        {func(m *sdk.Manifest) { m.Version = "2" }, "~ version 1.2.3 -> 2"},
		"projection": {func(m *sdk.Manifest) { m.Projections = []string{"note"} },
			"~ scheme note (, run, written by [plugin], for models: false) -> (, run, written by [plugin], for models: false, as the plugin shows it)"},
		"scheme": {func(m *sdk.Manifest) { m.Schemes[0].ModelVisible = true },
			"~ scheme note (, run, written by [plugin], for models: false) -> (, run, written by [plugin], for models: true)"},
	} {
		t.Run(name, func(t *testing.T) {
			m := someManifest()
			c.change(&m)
			locked := LockOf(someManifest(), someDigest, false)
			now := LockOf(m, someDigest, false)
			if got := Changes(locked.Drift(now)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			held := locked.Hold(m)
			if len(held.Projections) > 0 {
				t.Errorf("held the projections %v", held.Projections)
			}
			for _, d := range locked.Drift(LockOf(held, someDigest, false)) {
				if d.Kind == Added {
					t.Errorf("what is held has something that the lock has not: %v", d)
				}
			}
			if changed := c.want != ""; changed == (len(held.Agents) == 1 && reflect.DeepEqual(held.Agents[0], m.Agents[0])) && strings.Contains(c.want, "agent reviewer") {
				t.Errorf("held the agents %+v", held.Agents)
			}
			if c.want == "" && len(held.Tools) != len(m.Tools) {
				t.Errorf("held %d of %d tools", len(held.Tools), len(m.Tools))
			}
		})
	}
	if got := Changes(LockOf(someManifest(), someDigest, false).Drift(LockOf(someManifest(), strings.Repeat("cd", 32), true))); got != "~ digest abababababab -> cdcdcdcdcdcd, ~ script false -> true" {
		t.Error(got)
	}
}

// TestBrokenLock: file, line and reason; the file stays as it is.
func TestBrokenLock(t *testing.T) {
	digest := `digest = "` + someDigest + `"`
	for text, want := range map[string]string{
		"version = 2\n\nplugin \"a\" {\n  oops\n": ":4:",
		"digest = 1":                  "version",
		"version = \"one\"":           ":1:12: error: Unsuitable value type",
		"\nversion = 3\nlater {}":     ":2:1: error: Lock of another version",
		"version = 2\nlater = 1":      `:2:1: error: Unsupported argument`,
		"version = 2\nlater \"a\" {}": ":2:1: error: Unsupported block type",
		"version = 2\nversion = 2":    ":2:1: error: Attribute redefined",
		"version = 2\nplugin \"a\" {\n" + digest + "\n}\nplugin \"a\" {\n" + digest + "\n}": ":5:1: error: Block given twice",
		"version = 2\nplugin \"../a\" {\n" + digest + "\n}":                                 ":2:1: error: Unusable name",
		"version = 2\nplugin \"a\" {\n  digest = \"abc\"\n}":                                ":2:1: error: No digest",
		"version = 2\nplugin \"a\" {\n  digest = \"" + strings.Repeat("AB", 32) + "\"\n}":   "small hex digits",
		"version = 2\nplugin \"a\" {\n}":                                                    ":2:12: error: Missing required argument",
		"version = 2\nplugin \"a\" {\n" + digest + "\nkinds = 7\n}":                         ":4:",
		"version = 2\nplugin \"a\" {\n" + digest + "\ntools = file(\"x\")\n}":               ":4:",
		"version = " + strings.Repeat("[", 200):                                             "nested too deeply",
		"[]":                                                                                ":1:1: error: Argument or block definition required",
		"{\"version\":1,\n\"plugins\":{}}":                                                  ":1:1: error: Argument or block definition required",
	} {
		path := filepath.Join(t.TempDir(), LockName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := EditLock(path, func(l *Lock) error { l.Plugins["b"] = Locked{Digest: someDigest}; return nil })
		if err == nil || sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path+":") || !strings.Contains(err.Error(), mendLock) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != text {
			t.Errorf("the file is another: %q %v", left, err)
		}
	}
}

// TestLockKeeps: an entry that does not change stays byte for byte, with what only a
// later version knows.
func TestLockKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockName)
	kept := "plugin \"b\" { # a note\n   digest = \"" + someDigest + "\"\n   later = [1, { x = \"<&>\" }]\n}\n"
	if err := os.WriteFile(path, []byte("# older\nversion = 2 // two\n\n# b is mine\n\n/* since\n May */"+kept+"# gone\nplugin \"c\" {\n  digest = \""+someDigest+"\"\n}\n# the end"), 0o600); err != nil {
		t.Fatal(err)
	}
	put := func(l *Lock) error {
		l.Plugins["a"] = LockOf(someManifest(), someDigest, true)
		delete(l.Plugins, "c")
		return nil
	}
	was, now, err := EditLock(path, put)
	if err != nil || len(was.Plugins) != 2 || len(now.Plugins["a"].Tools) != 1 {
		t.Fatal(was, now, err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := lockHeader + `version = 2

plugin "a" {
  plugin   = "demo"
  version  = "1.2.3"
  digest   = "` + someDigest + `"
  script   = true
  protocol = 1
  kinds    = ["hook", "tool"]
  tools = {
    "read" = "` + toolHash(someManifest().Tools[0]) + `"
  }
  sources = ["mcp:far"]
  agents = {
    "reviewer" = "` + agentHash(someManifest().Agents[0]) + `"
  }
  subscriptions = {
    "act.before" = "(priority 5, closed)"
    "run.reset"  = "(priority 10, open)"
  }
  schemes = {
    "note" = "(, run, written by [plugin], for models: false)"
  }
  grants = ["entries"]
  calls = {
    "tools" = ["read_*"]
  }
  features = ["` + sdk.FeatureReconfigure + `"]
}

# older
// two
# b is mine
/* since
 May */
` + kept + "\n# the end\n"
	if string(after) != want {
		t.Errorf("got\n%s\nwant\n%s", after, want)
	}
	if _, _, err := EditLock(path, put); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(after) {
		t.Errorf("the second time it is another:\n%s%v", again, err)
	}
}

// TestLockNames: whatever a tool is called, the lock can be read again.
func TestLockNames(t *testing.T) {
	for _, name := range []string{"for", "in", "if", "null", "true", "a-b", "1", "${x}", `"`, "é"} {
		m := sdk.Manifest{Name: "demo", Tools: []sdk.ToolSpec{{Name: name}}, Schemes: []sdk.Scheme{{Name: name}}}
		path := filepath.Join(t.TempDir(), LockName)
		_, now, err := EditLock(path, func(l *Lock) error {
			l.Plugins["a"] = LockOf(m, someDigest, false)
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if read, err := ReadLock(path); err != nil || len(DiffLock(now, read)) > 0 || read.Plugins["a"].Tools[name] == "" {
			t.Errorf("%s: %v, %v", name, read, err)
		}
	}
}

// TestLockTwice: writing what is there changes nothing, whatever it is.
func TestLockTwice(t *testing.T) {
	word := rapid.StringMatching(`[a-z<&"é.*_]{1,8}`)
	words := rapid.SliceOfN(word, 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		m := sdk.Manifest{
			Name: word.Draw(t, "name"), Version: word.Draw(t, "version"), Kinds: words.Draw(t, "kinds"), Grants: words.Draw(t, "grants"),
			Calls: sdk.Calls{Models: words.Draw(t, "models")},
		}
		for _, name := range words.Draw(t, "tools") {
			m.Tools = append(m.Tools, sdk.ToolSpec{Name: name, Source: rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "source"), Staged: rapid.Bool().Draw(t, "staged")})
		}
		for _, name := range words.Draw(t, "subscriptions") {
			m.Subscriptions = append(m.Subscriptions, sdk.Subscription{Name: name, Priority: rapid.IntRange(0, 2).Draw(t, "priority")})
		}
		entry := LockOf(m, someDigest, rapid.Bool().Draw(t, "script"))
		l := Lock{Plugins: map[string]Locked{}}
		l.Plugins["a"] = entry
		text := l.encode(Lock{})
		read, err := ParseLock("lock", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if d := DiffLock(l, read); len(d) > 0 {
			t.Fatalf("what is read is another: %v\n%s", d, text)
		}
		if d := entry.Drift(LockOf(read.Plugins["a"].Hold(m), someDigest, entry.Script)); len(d) > 0 {
			t.Fatalf("the same plugin drifts: %v", d)
		}
		read.Plugins["a"] = entry
		if again := read.encode(read); string(again) != string(text) {
			t.Fatalf("written twice:\n%s\n%s", text, again)
		}
	})
}

func TestLoadLock(t *testing.T) {
	dir := t.TempDir()
	src := Source{
		Path: filepath.Join(dir, "config.hcl"), Getenv: func(string) (string, bool) { return "", false }, Secrets: &Secrets{},
		Defaults: []byte("plugin \"a\" {}\nplugin \"b\" {}\nprovider \"c\" {}\n"), DefaultsName: "d",
	}
	var noted []string
	src.Noted = func(p string) { noted = append(noted, p) }
	without, diags := loadFrom(src)
	if without == nil || !slices.Contains(noted, filepath.Join(dir, LockName)) {
		t.Fatal(diags, noted)
	}
	_, _, err := EditLock(LockPath(src.Path), func(l *Lock) error {
		l.Plugins["a"] = Locked{Digest: someDigest}
		l.Plugins["c"] = Locked{Digest: someDigest}
		l.Plugins["gone"] = Locked{Digest: someDigest}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	with, diags := loadFrom(src)
	if with == nil || with.Plugins[0].Locked == nil || with.Plugins[1].Locked != nil || with.Providers[0].Locked == nil {
		t.Fatal(diags, with)
	}
	if d := Diff(without, with); len(d) != 2 || with.Plugins[0].Digest != without.Plugins[0].Digest {
		t.Errorf("%v", d)
	}
	if err := os.WriteFile(LockPath(src.Path), []byte("\nversion = = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if cfg, diags := loadFrom(src); cfg != nil || len(diags) != 1 || diags[0].Line != 2 || !strings.Contains(diags.Error(), LockName+":2:") {
		t.Error(cfg, diags)
	}
}

func FuzzParseLock(f *testing.F) {
	f.Add([]byte("version = 2\nplugin \"a\" {\n  digest = \"" + someDigest + "\"\n  tools = { x = \"1\" }\n  later = {}\n}\n"))
	f.Add([]byte(`{"version":1,"plugins":{"a":{"digest":"`))
	f.Add([]byte("version = 3\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := ParseLock("lock", text)
		if err != nil {
			diags := Diagnostics{}
			if !errors.As(err, &diags) || sdk.OutcomeOf(err) != sdk.Validation {
				t.Fatal(err)
			}
			for _, d := range diags {
				if d.Line < 0 || d.Line > 2+strings.Count(string(text), "\n") {
					t.Fatalf("%v", diags)
				}
			}
			return
		}
		written := l.encode(l)
		again, err := ParseLock("lock", written)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, written)
		}
		if d := DiffLock(l, again); len(d) > 0 {
			t.Fatalf("%v\n%s", d, written)
		}
	})
}

// TestLockIsRead: what could not be read again is not written.
func TestLockIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockName)
	for label, entry := range map[string]Locked{"A b": {Digest: someDigest}, "": {Digest: someDigest}, "a": {Digest: "abc"}} {
		_, _, err := EditLock(path, func(l *Lock) error { l.Plugins[label] = entry; return nil })
		if sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%q: %v", label, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%q: it was written (%v)", label, err)
		}
	}
}

// TestSubscribed: what a lock says of subscriptions is what was subscribed to, also to a
// name twice; what cannot be read denies where it can.
func TestSubscribed(t *testing.T) {
	subs := []sdk.Subscription{
		{Name: "entry.recording", Priority: -5, Failure: sdk.FailClosed},
		{Name: "loop.completed", Priority: 10, Failure: sdk.FailOpen},
		{Name: "loop.completed", Priority: 3, Failure: sdk.FailOpen},
		{Name: "turn.verdict", Priority: 10},
	}
	got := LockOf(sdk.Manifest{Subscriptions: subs}, "d", false).Subscribed()
	want := []sdk.Subscription{subs[0], subs[1], subs[2], {Name: "turn.verdict", Priority: 10, Failure: sdk.FailOpen}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	later := Locked{Subscriptions: map[string]string{"entry.recording": "first", "loop.completed": "(priority 1, never)", "llm.messages": "(priority 4, sometimes)"}}
	want = []sdk.Subscription{
		{Name: "entry.recording", Priority: sdk.DefaultPriority, Failure: sdk.FailClosed},
		{Name: "llm.messages", Priority: 4, Failure: sdk.FailClosed},
		{Name: "loop.completed", Priority: 1, Failure: sdk.FailOpen},
	}
	if got := later.Subscribed(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
