package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestWorkspaceBlock: the user's own block is checked where it stands.
func TestWorkspaceBlock(t *testing.T) {
	for name, c := range map[string]struct {
		text, says string
		usable     bool
	}{
		"a workspace":         {"workspace {\n  agent = \"chat\"\n  model = \"openai/gpt\"\n  deny  = [\"bash\"]\n  trust = [\"~/src/**\", \"here\"]\n}\n", "", true},
		"a plugin's agent":    {"plugin \"p\" {\n  path   = \"/p\"\n  agents = [\"critic\"]\n}\nworkspace {\n  agent = \"critic\"\n}\n", "", true},
		"a team":              {"team \"both\" {\n  agents = [\"chat\"]\n}\nworkspace {\n  agent = \"both\"\n}\n", "", true},
		"the team of all":     {"workspace {\n  agent = \"auto\"\n}\n", "", true},
		"an unknown agent":    {"workspace {\n  agent = \"nobody\"\n}\n", "2:11: error: Unknown agent", false},
		"an unknown model":    {"workspace {\n  model = \"openai\"\n}\n", "2:11: error: Unknown model", false},
		"an unknown provider": {"workspace {\n  model = \"nobody/x\"\n}\n", "2:11: error: Unknown model", false},
		"what it has not":     {"workspace {\n  allow = [\"bash\"]\n}\n", "2:3: error", false},
		"an empty name":       {"workspace {\n  deny = [\"\"]\n}\n", "2:10: error", false},
		"an empty trust":      {"workspace {\n  trust = [\"\"]\n}\n", "2:11: error", false},
		"an unusable trust":   {"workspace {\n  trust = [\"/a[\"]\n}\n", "2:11: error", false},
	} {
		cfg, diags := load(t, c.text)
		if (cfg != nil) != c.usable || !strings.Contains(diags.Error(), c.says) {
			t.Errorf("%s: usable %v\n%s", name, cfg != nil, diags.Error())
		}
	}
}

// TestReadWorkspace: what the file of a project denies holds, and what it
// chooses does where the user trusts the project with it.
func TestReadWorkspace(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, ".bothy", "config.hcl")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`
workspace {
  agent = "chat"
  model = "openai/gpt"
  deny  = ["bash"]
}
rule "careful" {
  decision = "propose"
  paths    = ["db/**"]
}
guard {
  max_turns = 5
  deadline  = "10m"
}
sandbox {
  shell = "argv"
}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _ := load(t, "")
	w, diags := ReadWorkspace(path, cfg)
	if diags.HasErrors() || w.Broken != "" {
		t.Fatal(diags.Error())
	}
	if w.Agent != "" || w.Model != "" || !strings.Contains(diags.Error(), "trust = ["+strconv.Quote(root)+"]") {
		t.Errorf("a project that nobody trusts chose %q and %q:\n%s", w.Agent, w.Model, diags.Error())
	}
	want := []sdk.PolicyRule{
		{Name: "workspace.deny", Source: "workspace " + path + ":5", Verdict: sdk.Deny, Tools: []string{"bash"}},
		{Name: "careful", Source: "workspace " + path + ":7", Verdict: sdk.Propose, Paths: []string{"db/**"}},
	}
	if !reflect.DeepEqual(w.Rules, want) || w.Shell != "argv" {
		t.Errorf("%+v and shell %q", w.Rules, w.Shell)
	}
	guards := w.Restrict(sdk.Guards{MaxTurns: 3, RepeatedCalls: 2})
	if guards != (sdk.Guards{MaxTurns: 3, RepeatedCalls: 2, Deadline: sdk.Duration(10 * time.Minute)}) {
		t.Errorf("the guards became %+v", guards)
	}
	trusting, _ := load(t, "workspace {\n  trust = ["+strconv.Quote(filepath.Dir(root)+"/*")+"]\n}\n")
	if w, diags = ReadWorkspace(path, trusting); w.Agent != "chat" || w.Model != "openai/gpt" || len(diags) > 0 {
		t.Errorf("a trusted project chose %q and %q:\n%s", w.Agent, w.Model, diags.Error())
	}
}

// TestAWorkspaceChoosesAmongAll: an agent that stands in a file or that a plugin brings can be chosen too. Whether there is
// one is known when a prompt asks for it; none of them asks less than default does, and the team of all is held to that here.
func TestAWorkspaceChoosesAmongAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".bothy", "config.hcl")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	trust := "workspace {\n  trust = [\"/**\"]\n}\nagent \"default\" {\n  mode = \"restricted\"\n}\n"
	for name, c := range map[string]struct{ agent, policy, chosen string }{
		"one in a file":            {"reviewer", "", "reviewer"},
		"the team of all":          {"auto", "policy {\n  mode = \"interactive\"\n}\n", "auto"},
		"a team that asks less":    {"auto", "policy {\n  mode = \"workspace\"\n}\n", ""},
		"a block that asks less":   {"free", "", ""},
		"a block that asks enough": {"chat", "", "chat"},
	} {
		cfg, diags := load(t, trust+c.policy+"agent \"free\" {\n  mode = \"workspace\"\n}\nagent \"chat\" {\n  mode = \"interactive\"\n}\n")
		if cfg == nil {
			t.Fatal(diags.Error())
		}
		if err := os.WriteFile(path, []byte("workspace {\n  agent = "+strconv.Quote(c.agent)+"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if w, diags := ReadWorkspace(path, cfg); w.Agent != c.chosen {
			t.Errorf("%s: chose %q\n%s", name, w.Agent, diags.Error())
		}
	}
}

// TestBrokenWorkspace: what a file denies must not be lost with a mistake in it;
// a mistake that loses nothing breaks nothing.
func TestBrokenWorkspace(t *testing.T) {
	cfg, _ := load(t, "")
	for text, broken := range map[string]bool{
		"workspace {\n":                                                   true,
		"workspace {\n  deny = [\"\"]\n}\n":                               true,
		"workspace {\n  deny = env(\"X\")\n}\n":                           true,
		"rule \"x\" {\n  decision = \"forbid\"\n}\n":                      true,
		"rule \"x\" {\n}\n":                                               true,
		"rule \"x\" {\n  decision = \"allow\"\n  tools = [\"bash\"]\n}\n": false,
		"guard {\n  max_turns = 1000\n}\n":                                false,
		"plugin \"x\" {\n}\n":                                             false,
	} {
		path := filepath.Join(t.TempDir(), "config.hcl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w, diags := ReadWorkspace(path, cfg)
		if !diags.HasErrors() || (w.Broken != "") != broken || broken && !strings.HasPrefix(w.BrokenAt, path+":") || len(w.Rules) > 0 {
			t.Errorf("%s: broken %q at %q, rules %v\n%s", text, w.Broken, w.BrokenAt, w.Rules, diags.Error())
		}
	}
}

// TestOnlyNarrows: the file of a project can narrow and do nothing else.
func TestOnlyNarrows(t *testing.T) {
	cfg, _ := load(t, "model \"fast\" {\n  provider = \"openai\"\n}\nguard {\n  consecutive_errors = 0\n}\npolicy {\n  allow_dangerous = true\n}\nagent \"free\" {\n  mode = \"full\"\n}\n")
	for name, c := range map[string]struct{ text, says string }{
		"all that it may":     {"workspace {\n  agent = \"chat\"\n  model = \"fast\"\n  deny = [\"bash\"]\n}\nguard {\n  max_turns = 5\n  consecutive_errors = 9\n  deadline = \"10m\"\n}\nsandbox {\n  memory = \"1GB\"\n  timeout = \"10s\"\n  cpus = 0.1\n}\n", ""},
		"a rule that allows":  {"rule \"x\" {\n  decision = \"allow\"\n  tools = [\"bash\"]\n}\n", "2:14: error: Not for a workspace to say"},
		"a rule for all":      {"rule \"x\" {\n  decision = \"deny\"\n}\n", ""},
		"a wider agent":       {"workspace {\n  agent = \"free\"\n}\n", "2:11: error: Not for a workspace to say"},
		"its own trust":       {"workspace {\n  trust = [\"/\"]\n}\n", "2:11: error: Not for a workspace to say"},
		"a mode":              {"policy {\n  mode = \"full\"\n}\n", "can only narrow"},
		"the looser form":     {"sandbox {\n  shell = \"bash\"\n}\n", "2:11: error"},
		"two rules":           {"rule \"x\" {\n  decision = \"deny\"\n}\nrule \"y\" {\n  decision = \"propose\"\n}\n", ""},
		"more turns":          {"guard {\n  max_turns = 100\n}\n", "2:15: error"},
		"no limit":            {"guard {\n  max_turns = 0\n}\n", "2:15: error"},
		"more memory":         {"sandbox {\n  memory = \"2049MB\"\n}\n", "2:12: error"},
		"more time":           {"sandbox {\n  timeout = \"121s\"\n}\n", "yours is 2m"},
		"another image":       {"sandbox {\n  image = \"x\"\n}\n", "2:3: error: Not for a workspace to say"},
		"another socket":      {"sandbox {\n  socket = \"/x\"\n}\n", "2:3: error: Not for a workspace to say"},
		"half a window":       {"guard {\n  window_size = 1\n}\n", "2:3: error"},
		"an unknown setting":  {"guard {\n  max_trns = 1\n}\n", "2:3: error"},
		"a plugin":            {"plugin \"x\" {\n}\n", "can only narrow"},
		"a provider":          {"provider \"openai\" {\n}\n", "can only narrow"},
		"an agent":            {"agent \"default\" {\n}\n", "can only narrow"},
		"a model block":       {"model \"m\" {\n  provider = \"openai\"\n}\n", "can only narrow"},
		"a place":             {"store {\n  path = \"/x\"\n}\n", "can only narrow"},
		"a skill":             {"skill \"x\" {\n}\n", "can only narrow"},
		"a function":          {"workspace {\n  model = env(\"HOME\")\n}\n", "2:11: error"},
		"a file":              {"workspace {\n  agent = file(\"/etc/passwd\")\n}\n", "error"},
		"a secret in a limit": {"guard {\n  max_turns = secret(\"KEY\")\n}\n", "error"},
		"twice":               {"guard {\n}\nguard {\n}\n", "3:1: error"},
		"syntax":              {"guard {\n", "error"},
		"too deep":            {"guard {\n  max_turns = " + strings.Repeat("(", 500) + "\n", "nested too deeply"},
		"too long":            {strings.Repeat("#\n", 600_000), "1 MiB"},
	} {
		path := filepath.Join(t.TempDir(), "config.hcl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, diags := ReadWorkspace(path, cfg)
		if diags.HasErrors() != (c.says != "") || !strings.Contains(diags.Error(), c.says) {
			t.Errorf("%s:\n%s", name, diags.Error())
		}
		if memory := strings.Contains(c.text, "memory = \"1GB\""); memory && !strings.Contains(diags.Error(), "A lower sandbox.memory has no effect yet") {
			t.Errorf("%s: it is not said that it has no effect:\n%s", name, diags.Error())
		}
	}
	if _, diags := ReadWorkspace(filepath.Join(t.TempDir(), "none"), cfg); !diags.HasErrors() {
		t.Error("a file that is not there was read")
	}
}

func FuzzReadWorkspace(f *testing.F) {
	f.Add([]byte("workspace {\n  agent = \"chat\"\n}\nguard {\n  max_turns = 3\n}\n"))
	cfg, _ := load(f, "")
	path := filepath.Join(f.TempDir(), "config.hcl")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, diags := ReadWorkspace(path, cfg)
		_ = diags.Error()
	})
}

// TestProtect: the user's lists open and close, and the file of a project only
// closes.
func TestProtect(t *testing.T) {
	cfg, diags := load(t, "protect {\n  refuse = [\"keys/**\", \"*.tf\"]\n  ask    = [\"Makefile\"]\n  free   = [\".vscode\"]\n}\n")
	if cfg == nil {
		t.Fatal(diags.Error())
	}
	want := sdk.Protection{Refuse: []string{"keys/**", "*.tf"}, Ask: []string{"Makefile"}, Free: []string{".vscode"}}
	if !reflect.DeepEqual(cfg.Protect, want) {
		t.Errorf("got %+v", cfg.Protect)
	}
	for text, says := range map[string]string{
		"free = [\"/etc\"]": "absolute", "refuse = \"x\"": "a list of texts", "ask = [\"\"]": "none of them empty", "ask = [\"a,b\"]": "comma", "free = [\"../x\"]": "names nothing in a project",
		"deny = []": "Unknown attribute", "refuse = [1]": "a list of texts",
	} {
		if _, diags := load(t, "protect {\n  "+text+"\n}\n"); !strings.Contains(diags.Error(), says) || !strings.Contains(diags.Error(), "2:") {
			t.Errorf("%s: %s", text, diags.Error())
		}
	}

	path := filepath.Join(t.TempDir(), ".bothy", "config.hcl")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, c := range map[string]struct {
		want   sdk.Protection
		broken bool
	}{
		"refuse = [\"db\"]\n  ask = [\"x/*\"]": {sdk.Protection{Refuse: []string{"db"}, Ask: []string{"x/*"}}, false},
		"free = [\".git\"]":                    {sdk.Protection{}, false},
		"refuse = [\"/db\"]":                   {sdk.Protection{}, true},
		"refuse = [nothing]":                   {sdk.Protection{}, true},
	} {
		if err := os.WriteFile(path, []byte("protect {\n  "+text+"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		w, diags := ReadWorkspace(path, cfg)
		if !reflect.DeepEqual(w.Protect, c.want) || (w.Broken != "") != c.broken {
			t.Errorf("%s: got %+v, broken %q\n%s", text, w.Protect, w.Broken, diags.Error())
		}
	}
}
