package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReservedBlocks: they are read, checked and have no effect, which is said.
func TestReservedBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		text, says string
		usable     bool
	}{
		"a workspace":         {"workspace {\n  agent = \"chat\"\n  model = \"openai/gpt\"\n  deny  = [\"bash\"]\n}\n", "1:1: warning: This workspace block has no effect yet", true},
		"an unknown agent":    {"workspace {\n  agent = \"nobody\"\n}\n", "2:11: error: Unknown agent", false},
		"an unknown model":    {"workspace {\n  model = \"openai\"\n}\n", "2:11: error: Unknown model", false},
		"an unknown provider": {"workspace {\n  model = \"nobody/x\"\n}\n", "2:11: error: Unknown model", false},
		"what it has not":     {"workspace {\n  allow = [\"bash\"]\n}\n", "2:3: error", false},
		"an empty name":       {"workspace {\n  deny = [\"\"]\n}\n", "2:10: error", false},
	} {
		cfg, diags := load(t, c.text)
		if (cfg != nil) != c.usable || !strings.Contains(diags.Error(), c.says) {
			t.Errorf("%s: usable %v\n%s", name, cfg != nil, diags.Error())
		}
	}
}

// TestCheckWorkspace: the file of a project can narrow and do nothing else.
func TestCheckWorkspace(t *testing.T) {
	cfg, _ := load(t, "model \"fast\" {\n  provider = \"openai\"\n}\nguard {\n  consecutive_errors = 0\n}\n")
	for name, c := range map[string]struct{ text, says string }{
		"all that it may":     {"workspace {\n  agent = \"chat\"\n  model = \"fast\"\n  deny = [\"bash\"]\n}\nguard {\n  max_turns = 5\n  consecutive_errors = 9\n  deadline = \"10m\"\n}\nsandbox {\n  memory = \"1GB\"\n  timeout = \"10s\"\n  cpus = 0.1\n}\n", ""},
		"more turns":          {"guard {\n  max_turns = 100\n}\n", "2:15: error"},
		"no limit":            {"guard {\n  max_turns = 0\n}\n", "2:15: error"},
		"more memory":         {"sandbox {\n  memory = \"2049MB\"\n}\n", "2:12: error"},
		"more time":           {"sandbox {\n  timeout = \"31s\"\n}\n", "yours is 30s"},
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
		diags := CheckWorkspace(path, cfg)
		if diags.HasErrors() != (c.says != "") || !strings.Contains(diags.Error(), c.says) {
			t.Errorf("%s:\n%s", name, diags.Error())
		}
		if c.says == "" && (len(diags) != 3 || !strings.Contains(diags.Error(), "no effect yet")) {
			t.Errorf("%s: it is not said that it has no effect:\n%s", name, diags.Error())
		}
	}
	if diags := CheckWorkspace(filepath.Join(t.TempDir(), "none"), cfg); !diags.HasErrors() {
		t.Error("a file that is not there was read")
	}
}

func FuzzCheckWorkspace(f *testing.F) {
	f.Add([]byte("workspace {\n  agent = \"chat\"\n}\nguard {\n  max_turns = 3\n}\n"))
	cfg, _ := load(f, "")
	path := filepath.Join(f.TempDir(), "config.hcl")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = CheckWorkspace(path, cfg).Error()
	})
}
