package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/hashicorp/hcl/v2"
)

// wrongAttributes are values that an attribute of a labelled block, or of a block inside one,
// cannot have, with what is said of them. Each stands on line 3 of its file.
var wrongAttributes = map[string][]struct{ assigned, says string }{
	"plugin": {
		{`confined = []`, `bool required`},
		{`plugin = "../x"`, `Unusable plugin name`},
		{`plugin = ["x"]`, `string required`},
		{`path = {}`, `string required`},
		{`args = "x"`, `list of string required`},
		{`env = ["x"]`, `map of string required`},
		{`grants = ["root"]`, `There is no grant "root"; there are [sandbox project entries tools models runs secrets channel answers]`},
		{`tools = ["[a"]`, `tools holds "[a", which is no pattern`},
		{`schemes = ["known://"]`, `schemes holds "known://": write what stands before :// in a path`},
		{`models = [""]`, `models holds "", which is no pattern`},
		{`secrets = "KEY"`, `list of string required`},
		{`sha256 = []`, `string required`},
		{`enabled = "perhaps"`, `a bool is required`},
		{`on_use = 7`, `bool required`},
		{`model = ["x"]`, `string required`},
		{`requires = ["x"]`, `x cannot require itself`},
		{`projects = [""]`, `projects holds "", which is no path`},
		{`agents = ["A b"]`, `agents holds "A b", which is no name of an agent`},
		{`agents = ["default"]`, `agents holds "default", which is the agent of whoever names none`},
		{`agent_tools = ["read_*"]`, `agents names none: write agents = ["NAME"] beside it`},
	},
	"person": {
		{`name = []`, `string required`},
		{`agent = "A b"`, `agent is "A b", which is no name of an agent`},
		{`owner = "me"`, `owner is "me"; it may be [local]`},
		{`owner = ""`, `owner is ""`},
		{`answers = []`, `bool required`},
	},
	"answers": {
		{`tools = ["["]`, `tools holds "[", which is no pattern`},
		{`tools = "*"`, `list of string required`},
	},
	"limits": {
		{`memory = "much"`, `limits: memory: "much" is no size`},
		{`memory = "-1MB"`, `is no size`},
		{`files = "many"`, `a number is required`},
		{`files = 1.5`, `must be a whole number`},
		{`call = "soon"`, `limits: call is "soon"; write how long a call may be silent`},
		{`call = "11m"`, `at most 10m0s`},
		{`cpu = 1`, `Unsupported argument`},
	},
	"quota": {
		{`calls = "many"`, `a number is required`},
		{`completions = 0.5`, `must be a whole number`},
	},
	"confine": {
		{`paths = "/x"`, `list of string required`},
		{`paths = [""]`, `paths holds "", which is no path`},
		{`read_paths = [""]`, `read_paths holds "", which is no path`},
		{`network = "open"`, `a bool is required`},
		{`best_effort = 1`, `bool required`},
	},
	"price": {
		{`prompt = -1`, `price: prompt is -1 and cannot be negative`},
		{`prompt = "cheap"`, `a number is required`},
		{`cached = -0.5`, `price: cached is -0.5 and cannot be negative`},
		{`completion = 1e39`, `price: completion is 1e+39`},
	},
	"model": {
		{`provider = "nobody"`, `model "x" names provider "nobody", and there is no such block; there are the providers [`},
		{`provider = []`, `string required`},
		{`name = {}`, `string required`},
		{`context = -5`, `context is -5 and cannot be negative`},
		{`context = 1.5`, `must be a whole number`},
		{`temperature = -1`, `temperature is -1 and cannot be negative`},
		{`max_tokens = -1`, `max_tokens is -1 and cannot be negative`},
		{`reasoning = "much"`, `reasoning is "much"; it may be [off low medium high]`},
		{`fallback = ["x"]`, `model "x" cannot fall back to itself`},
		{`fallback = ["nobody/m"]`, `model "x" falls back to "nobody/m", which is neither a model block nor provider/name`},
		{`fallback_on = ["sunday"]`, `fallback_on is "sunday"; it may be [unreachable]`},
	},
	"agent": {
		{`model = "nobody/m"`, `agent "x" names "nobody/m", which is neither a model block nor provider/name`},
		{`persona = []`, `string required`},
		{`tools = "*"`, `list of string required`},
		{`mcp = "*"`, `list of string required`},
		{`dialect = "telepathy"`, `dialect is "telepathy"; it may be [tools tags]`},
		{`view = "dream"`, `view is "dream"; it may be [transcript packet]`},
		{`temperature = -0.5`, `temperature is -0.5 and cannot be negative`},
		{`max_tokens = -1`, `max_tokens is -1 and cannot be negative`},
		{`messages = -1`, `messages is -1 and cannot be negative`},
		{`reasoning = ""`, `reasoning is ""; it may be [off low medium high]`},
		{`network = "closed"`, `a bool is required`},
		{`busy = "never"`, `busy is "never"; it may be [queue refuse]`},
		{`mode = "ask"`, `mode of agent "x" is "ask"; it may be`},
		{`mode = ""`, `mode of agent "x" is ""; it may be`},
		{`mode = "full"`, `mode of agent "x" is "full", in which nobody is asked`},
		{`without_view = "workspace"`, `without_view of agent "x" is "workspace"; it may be interactive or restricted`},
		{`description = []`, `string required`},
		{`capabilities = [" "]`, `capabilities of agent "x" holds an empty text`},
		{`skills = ["No Name"]`, `skills of agent "x" holds "No Name". The name of a skill`},
		{`agents = ["nobody"]`, `agent "x" may delegate to "nobody", and there is no such agent; there are [default x]`},
		{`inherits = "nobody"`, `agent "x" inherits from "nobody", and there is no such agent block; there are [default x]`},
		{`inherits = "x"`, `agent "x" inherits from itself: x from x`},
		{`inherits = ""`, `agent "x" inherits from ""`},
		{`inherits = ["default"]`, `string required`},
	},
	"finish": {
		{`schema = "{"`, `its text is no JSON`},
		{`schema = "[]"`, `schema of the finish block of agent "x": its JSON Schema cannot be read`},
		{`schema = { type = "string" }`, `its JSON Schema is not one of type object`},
		{`schema = { type = "object", properties = { a = { pattern = "(" } } }`, `its JSON Schema cannot be used`},
		{`schema = 7`, `its JSON Schema cannot be read`},
		{`prove = ["faith"]`, `prove is "faith"; it may be [tests citations]`},
		{`validator = "nobody"`, `The result of agent "x" is judged by the plugin "nobody", and there is no such block; there are the plugins []`},
		{`shape = {}`, `Unsupported argument`},
	},
	"team": {
		{`agents = []`, `the team "x" has no agents`},
		{`agents = ["default", "default"]`, `"default" stands in the team "x" twice`},
		{`agents = ["nobody"]`, `"nobody" is in the team "x", and there is no such agent; there are [default]`},
		{`mode = "at once"`, `mode is "at once"; it may be [parallel sequential]`},
		{`planner = "nobody/m"`, `team "x" names "nobody/m", which is neither a model block nor provider/name`},
		{`model = "nobody/m"`, `team "x" names "nobody/m", which is neither a model block nor provider/name`},
		{`synthesis = 7`, `its JSON Schema cannot be read`},
		{`synthesis = { type = "string" }`, `synthesis of team "x": its JSON Schema is not one of type object`},
		{`description = []`, `string required`},
		{`persona = []`, `string required`},
		{`tools = ["*"]`, `Unsupported argument`},
	},
	"rule": {
		{`decision = "forbid"`, `rule "x": decision is "forbid"; it may be allow, propose or deny`},
		{`tools = ["a b"]`, `rule "x": tools holds "a b", which no tool is called`},
		{`arguments = { "" = "x" }`, `rule "x": arguments has an empty name`},
		{`paths = ["/etc"]`, `rule "x": paths holds "/etc": paths are relative to the project`},
		{`commands = ["a | b"]`, `rule "x": commands holds "a | b": write the first words of one command`},
		{`hosts = ["https://example.org"]`, `hosts of rule "x" holds "https://example.org"; write the name of a host`},
		{`modes = ["ask"]`, `rule "x": modes holds "ask"; each may be`},
	},
	"skill": {
		{`enabled = "perhaps"`, `a bool is required`},
	},
	"hosts": {
		{`allow = ["Example.org"]`, `hosts.allow holds "Example.org"; write the name of a host in lower case`},
		{`allow = ["example.org:443/x"]`, `hosts.allow holds "example.org:443/x"`},
		{`deny = [""]`, `hosts.deny holds ""`},
		{`deny = ["büro.example"]`, `hosts.deny holds "büro.example"; write the name of a host in lower case and ASCII`},
		{`deny = "example.org"`, `list of string required`},
	},
	"workspace": {
		{`agent = "nobody"`, `There is no agent "nobody", and a workspace can only choose among them`},
		{`agent = ""`, `There is no agent ""`},
		{`model = "nobody/x"`, `"nobody/x" is neither a model block of the configuration nor`},
		{`deny = ["a b"]`, `rule "workspace.deny": tools holds "a b"`},
		{`trust = ["/a["]`, `trust holds "/a["`},
	},
}

// around is what an attribute of a block needs around it; %s is the line with it.
var around = map[string]string{
	"plugin": "plugin \"x\" {\n\n%s\n}\n", "limits": "plugin \"x\" {\n  limits {\n%s\n}\n}\n", "quota": "plugin \"x\" {\n  quota {\n%s\n}\n}\n",
	"confine": "plugin \"x\" {\n  confine {\n%s\n}\n}\n", "answers": "plugin \"x\" {\n  answers {\n%s\n}\n  grants = [\"answers\"]\n}\n", "price": "provider \"x\" {\n  price {\n%s\nREST}\n}\n", "model": "model \"x\" {\n\n%s\nREST}\n",
	"agent": "agent \"x\" {\n\n%s\n}\n", "team": "team \"x\" {\n\n%s\nREST}\n", "finish": "agent \"x\" {\n  finish {\n%s\nREST}\n}\n", "rule": "rule \"x\" {\n\n%s\nREST}\n", "skill": "skill \"x\" {\n\n%s\n}\n", "workspace": "workspace {\n\n%s\n}\n", "hosts": "hosts {\n\n%s\n}\n",
	"person": "person \"x/1\" {\n\n%s\n}\nplugin \"x\" {}\n",
}

// required are the attributes without which a block is a mistake already.
var required = map[string][]string{"price": {"prompt = 1", "completion = 1"}, "model": {`provider = "openai"`}, "finish": {`schema = { type = "object" }`}, "rule": {`decision = "deny"`}, "team": {`agents = ["default"]`}}

// inBlock is a file with an attribute of a block on line 3.
func inBlock(block, assigned string) string {
	rest := ""
	name, _, _ := strings.Cut(assigned, " ")
	for _, r := range required[block] {
		if !strings.HasPrefix(r, name+" ") {
			rest += r + "\n"
		}
	}
	return strings.Replace(fmt.Sprintf(around[block], "  "+assigned), "REST", rest, 1)
}

// small reads a text over little that is built in.
func small(t testing.TB, text string, env ...string) (*Config, Diagnostics) {
	path := t.TempDir() + "/config.hcl"
	writeFile(t, path, text)
	return loadFrom(Source{
		Defaults: []byte("provider \"openai\" {}\nagent \"default\" {}\n"), DefaultsName: "built-in",
		Path: path, Required: true, Getenv: environment(env...), Secrets: &Secrets{},
	})
}

// TestAttributeMistakes: whatever is wrong with an attribute is one mistake, at its own line.
func TestAttributeMistakes(t *testing.T) {
	tried := map[string][]string{}
	for block, rows := range wrongAttributes {
		for _, c := range rows {
			name, _, _ := strings.Cut(c.assigned, " ")
			tried[block] = append(tried[block], name)
			cfg, diags := small(t, inBlock(block, c.assigned))
			if cfg != nil || len(diags) != 1 || !strings.Contains(diags.Error(), c.says) || !strings.Contains(diags.Error(), "config.hcl:3:") || !strings.Contains(diags[0].Source, name) {
				t.Errorf("%s { %s }: %d diagnostics; want one of line 3 that says %q:\n%s", block, c.assigned, len(diags), c.says, diags.Error())
			}
		}
	}
	guard := guardSchema.Attributes // they are settings too; see TestSettingMistakes
	for block, names := range everyAttribute() {
		for _, name := range names {
			isGuard := block == "agent" && slices.ContainsFunc(guard, func(a hcl.AttributeSchema) bool { return a.Name == name })
			if wrongAttributes[block] != nil && !isGuard && !slices.Contains(tried[block], name) {
				t.Errorf("nothing wrong is tried with %s of a %s block", name, block)
			}
		}
	}
}

// wrongSettings are values that no setting of a kind can have.
var wrongSettings = map[kind][]string{
	kindString: {"[]", "7", "true", "null"}, kindPath: {"[]", "7", "null"},
	kindInt:     {`"many"`, "-1", "1.5", "true", "[]", "null"},
	kindNumber:  {`"many"`, "-1", `"NaN"`, `"Inf"`, `"+Inf"`, "true", "[1]"},
	kindPercent: {"0", "101", "-1", `"half"`, "true"}, kindShare: {"0", "1.01", "-1", `"half"`, "true", "null"}, kindSize: {`"much"`, `"64XB"`, `"-1MB"`, "0", `"B"`, `"9999999999TB"`, "true", "null"},
	kindDuration: {"30", `"30"`, `"-5s"`, `"soon"`, "true", "[]"},
	kindBool:     {"1", "0", `"perhaps"`, "[]", "null"}, kindList: {`"x"`, "7", "[1]", `[""]`, `["a,b"]`, "null", `[null]`},
}

// TestSettingMistakes: every setting refuses what is not of its kind, at its own line, and says
// its name; of the environment that is a warning, and changes nothing.
func TestSettingMistakes(t *testing.T) {
	for _, s := range settings {
		rows := wrongSettings[s.kind]
		if s.values != nil {
			rows = append(slices.Clone(rows), `"of no such value"`)
		}
		if !s.zero && (s.kind == kindNumber || s.kind == kindDuration) {
			rows = append(slices.Clone(rows), map[kind]string{kindNumber: "0", kindDuration: `"0s"`}[s.kind])
		}
		if len(rows) == 0 {
			t.Errorf("nothing wrong is tried with %s, %s", s.key(), s.kind)
		}
		for _, value := range rows {
			cfg, diags := small(t, fmt.Sprintf("%s {\n\n  %s = %s\n}\n", s.block, s.name, value))
			if cfg != nil || len(diags) != 1 || diags[0].Line != 3 || !strings.Contains(diags.Error(), s.key()) || !strings.Contains(diags.Error(), "config.hcl:3:") {
				t.Errorf("%s = %s: %s", s.key(), value, diags.Error())
			}
		}
		wrong := "of no such value"
		if s.values == nil && (s.kind == kindString || s.kind == kindPath) {
			continue // every text is one
		}
		if s.kind == kindList {
			wrong = "../outside"
		}
		cfg, diags := small(t, "", s.variable(), wrong)
		if cfg == nil || len(diags) != 1 || diags.HasErrors() || diags[0].Summary != "Ignored "+s.variable() || !strings.HasSuffix(diags[0].Detail, " stays.") {
			t.Errorf("%s: %s", s.variable(), diags.Error())
		} else if v := cfg.Values[s.at]; v.Value != s.defaultText() || v.Source == s.variable() {
			t.Errorf("%s made %s %q from %s", s.variable(), s.key(), v.Value, v.Source)
		}
	}
}

// TestNullIsNotSaid: an attribute that is null is as one that is left out, so that a condition
// can leave it out.
func TestNullIsNotSaid(t *testing.T) {
	for block := range wrongAttributes {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(everyAttribute()[block]))) {
			if slices.ContainsFunc(required[block], func(r string) bool { return strings.HasPrefix(r, name+" ") }) {
				continue
			}
			for _, null := range []string{"null", "true ? null : \"x\""} {
				cfg, diags := small(t, inBlock(block, name+" = "+null))
				without, _ := small(t, inBlock(block, "# "+name))
				if cfg == nil || without == nil {
					t.Errorf("%s of %s: %s", name, block, diags.Error())
				} else if d := Diff(without, cfg); len(d) > 0 {
					t.Errorf("%s = %s of %s is a change: %v", name, null, block, d)
				}
			}
		}
	}
	for block, rows := range required {
		for _, r := range rows {
			name, _, _ := strings.Cut(r, " ")
			if _, diags := small(t, inBlock(block, name+" = null")); !strings.Contains(diags.Error(), "Missing required argument") || !strings.Contains(diags.Error(), name) {
				t.Errorf("%s of %s may be null: %s", name, block, diags.Error())
			}
		}
	}
}

// TestABlockOverAnother: of each attribute, and of each block inside, the user's counts; what
// is wrong in either is told in its own file.
func TestABlockOverAnother(t *testing.T) {
	const built = `plugin "x" {
  path = "/built/in"
  args = ["a", "b"]
  env  = { A = "1" }
  own  = "built in"
  limits {
    memory = "64MB"
    files  = 3
  }
  confine {
    paths   = ["/built/in"]
    network = true
  }
}
`
	over := func(user string) (*Config, Diagnostics) {
		path := t.TempDir() + "/config.hcl"
		if user != "" {
			writeFile(t, path, user)
		}
		return loadFrom(Source{Defaults: []byte(built), DefaultsName: "built-in", Path: path, Getenv: environment(), Secrets: &Secrets{}})
	}
	is := func(p Plugin) string {
		return fmt.Sprintf("%s %v %v %v {Memory:%d Files:%d Call:%s} %+v %s", p.Path, p.Args, p.Env, p.Enabled, p.Limits.Memory, p.Limits.Files, p.Limits.Call, *p.Confine, p.text(nil, "own"))
	}
	for user, want := range map[string]string{
		"":                                    "/built/in [a b] map[A:1] true {Memory:67108864 Files:3 Call:0s} {BestEffort:false Network:true Paths:[/built/in] ReadPaths:[] Bundled:false} built in",
		"plugin \"x\" {}":                     "/built/in [a b] map[A:1] true {Memory:67108864 Files:3 Call:0s} {BestEffort:false Network:true Paths:[/built/in] ReadPaths:[] Bundled:false} built in",
		"plugin \"x\" {\n args = []\n}":       "/built/in [] map[A:1] true {Memory:67108864 Files:3 Call:0s} {BestEffort:false Network:true Paths:[/built/in] ReadPaths:[] Bundled:false} built in",
		"plugin \"x\" {\n own = \"mine\"\n}":  "/built/in [a b] map[A:1] true {Memory:67108864 Files:3 Call:0s} {BestEffort:false Network:true Paths:[/built/in] ReadPaths:[] Bundled:false} mine",
		"plugin \"x\" {\n confine {}\n}":      "/built/in [a b] map[A:1] true {Memory:67108864 Files:3 Call:0s} {BestEffort:false Network:false Paths:[] ReadPaths:[] Bundled:false} built in",
		"plugin \"x\" {\n enabled = false\n}": "/built/in [a b] map[A:1] false {Memory:67108864 Files:3 Call:0s} {BestEffort:false Network:true Paths:[/built/in] ReadPaths:[] Bundled:false} built in",
		"plugin \"x\" {\n limits {\n  call = \"1m\"\n }\n env = { B = \"2\" }\n}": "/built/in [a b] map[B:2] true {Memory:0 Files:0 Call:1m0s} {BestEffort:false Network:true Paths:[/built/in] ReadPaths:[] Bundled:false} built in",
	} {
		cfg, diags := over(user)
		if cfg == nil || is(cfg.Plugins[0]) != want {
			t.Errorf("%s:\n%s", user, diags.Error())
			if cfg != nil {
				t.Errorf("got  %s\nwant %s", is(cfg.Plugins[0]), want)
			}
		}
	}
	for user, want := range map[string]string{
		"plugin \"x\" {\n  path = []\n}":                              "config.hcl:2:",
		"plugin \"x\" {\n  limits {}\n  limits {}\n}":                 "Duplicate limits block",
		"plugin \"x\" {\n  confine {\n  }\n  confine {\n  }\n}":       "Duplicate confine block",
		"provider \"y\" {\n  price {\n  }\n}":                         "Missing required argument",
		"model \"m\" {\n  provider = \"x\"\n}\nprovider \"x\" {\n\n}": "",
	} {
		cfg, diags := over(user)
		if (cfg == nil) != (want != "") || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %s", user, diags.Error())
		}
	}
}

// TestWhatTheHostReads: the plugin's own schema must not have these names, and each grant is
// one that a block may give.
func TestWhatTheHostReads(t *testing.T) {
	names := PluginAttributes()
	for _, name := range append(everyAttribute()["plugin"], "limits", "quota", "confine", "price") {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not among %v", name, names)
		}
	}
	cfg, diags := small(t, "plugin \"x\" {\n  grants = [\""+strings.Join(sdk.Grants(), `", "`)+"\"]\n}\n")
	if cfg == nil || !slices.Contains(cfg.Plugins[len(cfg.Plugins)-1].Grants, sdk.GrantChannel) {
		t.Errorf("a block with all grants: %v", diags)
	}
	sdk.Grants()[0] = "spoilt"
	if slices.Contains(sdk.Grants(), "spoilt") {
		t.Error("who asks for the grants can change them")
	}
}
