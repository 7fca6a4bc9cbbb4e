package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// configuration reads a text over some bundled agents.
func configuration(t testing.TB, text string) func() *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, diags := config.Load(config.Source{
		Defaults:     []byte("provider \"openai\" {}\nplugin \"judge\" {}\nagent \"default\" {\n  tools = [\"read_*\", \"bash\"]\n}\nagent \"engineering\" {}\n"),
		DefaultsName: "built-in", Path: path, Getenv: func(string) (string, bool) { return "", false }, Secrets: &audit.Redactor{},
	})
	if cfg == nil {
		t.Fatal(diags.Error())
	}
	return func() *config.Config { return cfg }
}

// of is a definition of a source with nothing but a name.
func of(source sdk.AgentSource, name, place string) sdk.Definition {
	return sdk.Definition{Agent: sdk.Agent{Name: name}, Source: source, Place: place}
}

// TestOrder: of one name the earlier source is taken, and the others are listed with it.
func TestOrder(t *testing.T) {
	var files, plugins []sdk.Definition
	l := NewLibrary(configuration(t, `agent "mine" {}`), Sources{
		Files:   func(string) []sdk.Definition { return files },
		Plugins: func() []sdk.Definition { return plugins },
	})
	untrusted := of(sdk.AgentOfWorkspace, "reviewer", "new.md")
	untrusted.Untrusted = true
	for name, c := range map[string]struct {
		files, plugins []sdk.Definition
		find, want     string // who is taken, then who is shadowed
	}{
		"nothing":             {nil, nil, "reviewer", ""},
		"bundled":             {nil, nil, "engineering", "built-in:6"},
		"plugin over bundled": {nil, []sdk.Definition{of(sdk.AgentOfPlugin, "engineering", "p")}, "engineering", "p built-in:6"},
		"user over workspace": {[]sdk.Definition{of(sdk.AgentOfWorkspace, "reviewer", "w.md"), of(sdk.AgentOfUser, "reviewer", "u.md")}, []sdk.Definition{of(sdk.AgentOfPlugin, "reviewer", "p")}, "reviewer", "u.md w.md p"},
		"configuration":       {[]sdk.Definition{of(sdk.AgentOfUser, "mine", "u.md")}, []sdk.Definition{of(sdk.AgentOfPlugin, "mine", "p")}, "mine", "config.hcl:1 u.md p"},
		"the first file":      {[]sdk.Definition{of(sdk.AgentOfUser, "reviewer", "a.md"), of(sdk.AgentOfUser, "reviewer", "b.md")}, nil, "reviewer", "a.md b.md"},
		"nobody's trust":      {[]sdk.Definition{untrusted}, nil, "reviewer", "(new.md)"},
		"trust hides nothing": {[]sdk.Definition{untrusted}, []sdk.Definition{of(sdk.AgentOfPlugin, "reviewer", "p")}, "reviewer", "p (new.md)"},
		"default":             {[]sdk.Definition{of(sdk.AgentOfUser, "default", "u.md")}, nil, "default", "built-in:3 u.md"},
	} {
		files, plugins = c.files, c.plugins
		d, found := l.Find("/p", c.find)
		shown, there := l.Show("/p", c.find)
		got := ""
		if there {
			for _, x := range append([]sdk.ShadowedAgent{{Place: shown.Place, Untrusted: shown.Untrusted}}, shown.Shadowed...) {
				place := filepath.Base(x.Place)
				if x.Untrusted {
					place = "(" + place + ")"
				}
				got += " " + place
			}
		}
		if strings.TrimSpace(got) != c.want || found != (c.want != "" && c.want[0] != '(') || found && !reflect.DeepEqual(d, shown) {
			t.Errorf("%s: %q is %q, found: %v; want %q", name, c.find, got, found, c.want)
		}
		listed := l.List("/p")
		i := slices.IndexFunc(listed, func(x sdk.Definition) bool { return x.Agent.Name == c.find })
		if there != (i >= 0) || there && !reflect.DeepEqual(listed[i], shown) {
			t.Errorf("%s: the list has it at %d, and it is found: %v", name, i, there)
		}
		strangers := slices.DeleteFunc(slices.Clone(listed), func(x sdk.Definition) bool { return !x.Untrusted || x.Agent.Name != c.find })
		if want := strings.Count(c.want, "("); len(strangers) != want {
			t.Errorf("%s: %d are listed that nobody trusts, want %d", name, len(strangers), want)
		}
		if !slices.IsSortedFunc(listed, func(a, b sdk.Definition) int { return strings.Compare(a.Agent.Name, b.Agent.Name) }) {
			t.Errorf("%s: the list is not by name", name)
		}
	}
}

// TestNarrow: what stands outside of the configuration has no more than the agent default, and what it asked for is told.
func TestNarrow(t *testing.T) {
	cfg := configuration(t, `agent "default" {
  mode      = "restricted"
  skills    = ["a", "b"]
  agents    = ["engineering"]
  mcp       = ["notes"]
  network   = false
  max_turns = 9
}
`)
	for name, c := range map[string]struct {
		asks sdk.Agent
		has  func(a sdk.Agent) bool
		note string // of the only one; empty is none
	}{
		"nothing": {sdk.Agent{}, func(a sdk.Agent) bool {
			return a.Mode == sdk.ModeRestricted && a.Guards.MaxTurns == 9 && len(a.Skills) == 2 && a.Offline()
		}, ""},
		"a looser mode":    {sdk.Agent{Mode: sdk.ModeFull}, func(a sdk.Agent) bool { return a.Mode == sdk.ModeRestricted }, "the mode full asks less"},
		"a stricter mode":  {sdk.Agent{Mode: sdk.ModeInteractive}, func(a sdk.Agent) bool { return a.Mode == sdk.ModeInteractive }, ""},
		"no mode":          {sdk.Agent{Mode: "plan"}, func(a sdk.Agent) bool { return a.Mode == sdk.ModeRestricted }, `there is no mode "plan"`},
		"without a view":   {sdk.Agent{WithoutView: "full"}, func(a sdk.Agent) bool { return a.WithoutView == "" }, ""},
		"wider guards":     {sdk.Agent{Guards: sdk.Guards{MaxTurns: 90}}, func(a sdk.Agent) bool { return a.Guards.MaxTurns == 9 }, ""},
		"narrower guards":  {sdk.Agent{Guards: sdk.Guards{MaxTurns: 3, MaxCost: 1}}, func(a sdk.Agent) bool { return a.Guards.MaxTurns == 3 && a.Guards.MaxCost == 1 }, ""},
		"agents":           {sdk.Agent{Agents: []string{"engineering", "mine"}}, func(a sdk.Agent) bool { return slices.Equal(a.Agents, []string{"engineering"}) }, "it may not delegate to mine"},
		"skills":           {sdk.Agent{Skills: []string{"b", "c"}}, func(a sdk.Agent) bool { return slices.Equal(a.Skills, []string{"b"}) }, "the skills c"},
		"no skills":        {sdk.Agent{Skills: []string{"c"}}, func(a sdk.Agent) bool { return a.Skills != nil && len(a.Skills) == 0 }, "the skills c"},
		"a foreign model":  {sdk.Agent{Model: "sonnet"}, func(a sdk.Agent) bool { return a.Model == "" }, "no model sonnet"},
		"a model":          {sdk.Agent{Model: "openai/gpt"}, func(a sdk.Agent) bool { return a.Model == "openai/gpt" }, ""},
		"a validator":      {sdk.Agent{Finish: &sdk.FinishSpec{Validator: "nobody"}}, func(a sdk.Agent) bool { return a.Finish.Validator == "nobody" }, "no plugin nobody"},
		"a good validator": {sdk.Agent{Finish: &sdk.FinishSpec{Validator: "judge"}}, func(a sdk.Agent) bool { return a.Finish.Validator == "judge" }, ""},
		"a network":        {sdk.Agent{Network: new(true)}, func(a sdk.Agent) bool { return a.Offline() }, "it has no network"},
		"no network":       {sdk.Agent{Network: new(false)}, func(a sdk.Agent) bool { return a.Offline() }, ""},
		"servers":          {sdk.Agent{MCP: []string{"notes", "far"}}, func(a sdk.Agent) bool { return a.UsesMCP("notes") && !a.UsesMCP("far") }, ""},
	} {
		c.asks.Name = "x"
		l := NewLibrary(cfg, Sources{Plugins: func() []sdk.Definition {
			return []sdk.Definition{{Agent: c.asks, Source: sdk.AgentOfPlugin, Place: "p"}}
		}})
		d, _ := l.Find("", "x")
		if !c.has(d.Agent) {
			t.Errorf("%s: it has %+v", name, d.Agent)
		}
		if (len(d.Notes) > 0) != (c.note != "") || c.note != "" && (len(d.Notes) != 1 || !strings.Contains(d.Notes[0], c.note)) {
			t.Errorf("%s: the notes are %q, want one with %q", name, d.Notes, c.note)
		}
	}
}

// TestNeverMore: whatever an agent outside of the configuration asks for, it has no tool, server, mode, skill or agent
// that the agent default has not.
func TestNeverMore(t *testing.T) {
	cfg := configuration(t, "agent \"default\" {\n  mode = \"workspace\"\n  agents = [\"engineering\"]\n  skills = [\"a\"]\n}\n")
	usual := cfg().Agents[Default]
	names := rapid.SliceOf(rapid.SampledFrom([]string{"*", "read_*", "read_file", "bash", "bash__bash", "sh", "write_*", "mcp__far__*", "mcp__*", "a", "b", "default", "engineering"}))
	tools := []sdk.Tool{
		{ToolSpec: sdk.ToolSpec{Name: "read_file"}, Plugin: "files"}, {ToolSpec: sdk.ToolSpec{Name: "write_file"}, Plugin: "files"},
		{ToolSpec: sdk.ToolSpec{Name: "bash"}, Plugin: "bash"}, {ToolSpec: sdk.ToolSpec{Name: "sh"}, Plugin: "bothy", Named: true},
		{ToolSpec: sdk.ToolSpec{Name: "mcp__far__read"}, Plugin: "mcp__far"}, {ToolSpec: sdk.ToolSpec{Name: "mcp___lent__read"}, Plugin: "mcp___lent"},
	}
	rapid.Check(t, func(t *rapid.T) {
		asks := sdk.Agent{
			Name: "x", Tools: names.Draw(t, "tools"), MCP: rapid.SampledFrom([][]string{nil, {}, {"far"}, {"_lent"}}).Draw(t, "mcp"),
			Agents: names.Draw(t, "agents"), Skills: names.Draw(t, "skills"),
			Mode: sdk.Mode(rapid.SampledFrom(append(sdk.ModeNames(), "", "bypassPermissions")).Draw(t, "mode")), WithoutView: sdk.Mode(rapid.SampledFrom(append(sdk.ModeNames(), "")).Draw(t, "without_view")),
			Guards: sdk.Guards{MaxTurns: rapid.IntRange(-5, 200).Draw(t, "max_turns")},
		}
		l := NewLibrary(cfg, Sources{Files: func(string) []sdk.Definition {
			return []sdk.Definition{{Agent: asks, Source: sdk.AgentOfUser, Place: "x.md"}}
		}})
		d, _ := l.Find("", "x")
		for _, tool := range tools {
			if d.Agent.Admits(tool) && !usual.Admits(tool) {
				t.Errorf("it has %s", tool.Name)
			}
		}
		switch a := d.Agent; {
		case a.Mode.AsksLess(usual.Mode) || !a.Mode.Valid(), a.Otherwise().AsksLess(usual.Otherwise()) || !a.Otherwise().Valid():
			t.Errorf("its mode is %q, else %q", a.Mode, a.WithoutView)
		case slices.ContainsFunc(a.Agents, func(name string) bool { return !slices.Contains(usual.Agents, name) }):
			t.Errorf("it may delegate to %v", a.Agents)
		case a.Skills == nil || slices.ContainsFunc(a.Skills, func(name string) bool { return !slices.Contains(usual.Skills, name) }):
			t.Errorf("it may use the skills %v", a.Skills)
		case a.Guards.MaxTurns > usual.Guards.MaxTurns || a.Guards.MaxTurns < 1:
			t.Errorf("its guards are %+v", a.Guards)
		case d.Agent.UsesMCP("far") && !usual.UsesMCP("far"):
			t.Error("it has a server")
		}
	})
}

// TestBoundsOfTaught: of an agent default whose model is taught its tools others have what it has, and the tools of plugins that do the
// same; of one that is not, one that is taught its tools has what the list says.
func TestBoundsOfTaught(t *testing.T) {
	tool := func(name, plugin string) sdk.Tool {
		return sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name}, Plugin: plugin, Pinned: true, Named: plugin == sdk.OwnPlugin}
	}
	all := []sdk.Tool{
		tool("get", sdk.OwnPlugin), tool("set", sdk.OwnPlugin), tool("update", sdk.OwnPlugin), tool("sh", sdk.OwnPlugin), tool("plan", sdk.OwnPlugin), tool("read_file", "files"), tool("write_file", "files"),
		tool("bash", "bash"), tool("web_fetch", "web"), tool("remember", "memory"), tool("mcp__far__read", "mcp__far"),
	}
	for _, c := range []struct {
		usual string
		asks  sdk.Agent
		has   string
	}{
		{`dialect = "tags"`, sdk.Agent{}, "read_file write_file bash"},
		{`view = "packet"`, sdk.Agent{Tools: []string{"*", "get"}}, "get read_file write_file bash"},
		{`dialect = "tags"`, sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"web_fetch", "mcp__far__*"}}, "get set update sh"},
		{"dialect = \"tags\"\ntools = [\"get\", \"web_*\"]", sdk.Agent{}, "read_file web_fetch"},
		{"dialect = \"tags\"\ntools = [\"get\", \"web_*\"]", sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"get", "sh", "*"}}, "get update"},
		{"dialect = \"tags\"\ntools = [\"remember\"]", sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"remember"}}, "get set update sh remember"},
		{`tools = ["read_file"]`, sdk.Agent{Dialect: sdk.DialectTags}, "update"},
		{`tools = ["read_*", "get", "mcp__*"]`, sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"read_file", "bash"}}, "get update read_file"},
		{`tools = ["*"]`, sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"web_fetch", "mcp__far__read"}}, "get set update sh web_fetch mcp__far__read"},
		{`tools = ["*", "plan"]`, sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"plan"}}, "get set update sh plan"},
		{`tools = ["*"]`, sdk.Agent{}, "read_file write_file bash web_fetch remember mcp__far__read"},
	} {
		c.asks.Name = "x"
		l := NewLibrary(configuration(t, "agent \"default\" {\n"+c.usual+"\n}\n"), Sources{Plugins: func() []sdk.Definition {
			return []sdk.Definition{{Agent: c.asks, Source: sdk.AgentOfPlugin, Place: "p"}}
		}})
		d, _ := l.Find("", "x")
		a := d.Agent.In(sdk.Run{})
		var has []string
		for _, tool := range all {
			if a.Admits(tool) {
				has = append(has, tool.Name)
			}
		}
		if got := strings.Join(has, " "); got != c.has {
			t.Errorf("held to %q, %+v has %q, want %q", c.usual, c.asks.Tools, got, c.has)
		}
		if uses := a.UsesMCP("far"); uses != slices.Contains(has, "mcp__far__read") {
			t.Errorf("held to %q, %+v uses the server: %t", c.usual, c.asks.Tools, uses)
		}
	}
}

// BenchmarkList lists a thousand agents of files, and finds one.
func BenchmarkList(b *testing.B) {
	files := make([]sdk.Definition, 1000)
	for i := range files {
		files[i] = of(sdk.AgentOfUser, fmt.Sprintf("agent-%d", i), "x.md")
		files[i].Agent.Tools = []string{"read_*", "grep", "bash"}
	}
	l := NewLibrary(configuration(b, ""), Sources{Files: func(string) []sdk.Definition { return files }})
	b.ReportAllocs()
	for b.Loop() {
		if _, found := l.Find("/p", "agent-777"); len(l.List("/p")) < 1000 || !found {
			b.Fatal("some are missing")
		}
	}
}

// TestOfPlugins: what plugins bring is listed by the label of its block, and held to the agent default.
func TestOfPlugins(t *testing.T) {
	l := NewLibrary(configuration(t, ""), Sources{Plugins: func() []sdk.Definition {
		return []sdk.Definition{{
			Agent:  sdk.Agent{Name: "reviewer", Tools: []string{"reviews__*", "read_file"}, Mode: sdk.ModeFull},
			Source: sdk.AgentOfPlugin, Place: "reviews",
		}}
	}})
	d, found := l.Find("", "reviewer")
	if !found || d.Source != sdk.AgentOfPlugin || d.Place != "reviews" || d.Agent.Mode == sdk.ModeFull || d.Agent.Admits(sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "scan"}, Plugin: "reviews"}) {
		t.Errorf("it is %+v", d)
	}
}

// TestUnknownSkills: an agent that names a skill that there is not is noted with the place of its name, wherever it stands,
// and can be used. A list of agents asks for the skills of a project once.
func TestUnknownSkills(t *testing.T) {
	inFile := of(sdk.AgentOfUser, "inFile", "/f.md")
	inFile.Agent.Skills = []string{"tidy", "gone", "gone"}
	asked := 0
	l := NewLibrary(configuration(t, "agent \"block\" {\n  skills = [\"gone\", \"tidy\"]\n}\nagent \"every\" {}\n"), Sources{
		Files: func(string) []sdk.Definition { return []sdk.Definition{inFile} },
		Skills: func(project string) func(string) bool {
			asked++
			return func(name string) bool { return project == "/p" && name == "tidy" }
		},
	})
	notes := map[string]string{}
	for _, d := range l.List("/p") {
		notes[d.Agent.Name] = strings.Join(d.Notes, "; ")
	}
	if asked != 1 || !strings.HasSuffix(notes["block"], "config.hcl:2: there is no skill \"gone\" here") || notes["inFile"] != `there is no skill "gone" here` || notes["every"] != "" {
		t.Errorf("asked %d times; noted %q", asked, notes)
	}
	d, found := l.Find("/p", "block")
	if got := l.Unknown("/p", d.Agent); !found || !slices.Equal(got, []string{"gone"}) {
		t.Errorf("found %v, without %q", found, got)
	}
	if got := l.Unknown("/other", d.Agent); !slices.Equal(got, []string{"gone", "tidy"}) {
		t.Errorf("in another project %q", got)
	}
	if nobody := NewLibrary(l.current, Sources{}); len(nobody.Unknown("/p", d.Agent)) > 0 {
		t.Error("a skill is missed where nobody knows them")
	}
}
