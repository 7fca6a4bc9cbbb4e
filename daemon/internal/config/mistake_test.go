package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMistakes: each has a place and says what is wrong; none is only half seen.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"a long timeout":        {"sandbox {\n  timeout = \"11m\"\n}\n", "10m0s at most"},
		"a negative context":    {"model \"m\" {\n  provider = \"openai\"\n  context  = -5\n}\n", "cannot be negative"},
		"negative tokens":       {"agent \"a\" {\n  max_tokens = -1\n}\n", "cannot be negative"},
		"one repeated call":     {"guard {\n  repeated_calls = 1\n}\n", "at least 2"},
		"one call of an agent":  {"agent \"a\" {\n  repeated_calls = 1\n}\n", "at least 2"},
		"a negative heat":       {"agent \"a\" {\n  temperature = -0.5\n}\n", "cannot be negative"},
		"an agent's thoughts":   {"agent \"a\" {\n  reasoning = \"much\"\n}\n", "off low medium high"},
		"a model's thoughts":    {"model \"m\" {\n  provider  = \"openai\"\n  reasoning = \"High\"\n}\n", "off low medium high"},
		"brackets":              {"agent \"a\" {\n  tools = " + strings.Repeat("[", 200_000) + "\n", "nested too deeply"},
		"parentheses":           {"guard {\n  max_turns = " + strings.Repeat("(", 200_000) + "1\n", "nested too deeply"},
		"templates":             {"agent \"a\" {\n  persona = " + strings.Repeat(`"${`, 200_000) + "\n", "nested too deeply"},
		"prefixes":              {"agent \"a\" {\n  tools = " + strings.Repeat("!", 500_000) + "true\n}\n", "nested too deeply"},
		"conditions":            {"guard {\n  max_turns = " + strings.Repeat("true?", 100_000) + "1\n}\n", "nested too deeply"},
		"a model told once":     {"model \"m\" {\n  provider = \"none\"\n}\nagent \"a\" {\n  model = \"m\"\n}\n", "\"none\""},
		"a file that is no one": {"plugin \"p\" {\n  path = file(\"none\")\n}\n", "no such file"},
	} {
		cfg, diags := load(t, c.text)
		if cfg != nil || len(diags) != 1 || !strings.Contains(diags.Error(), c.says) {
			t.Errorf("%s: %d diagnostics, %.300s; want one that says %q", name, len(diags), diags.Error(), c.says)
		}
	}
}

// TestSecretsStayOut: a secret in the wrong place is neither quoted in the
// report of that mistake nor shown as a value.
func TestSecretsStayOut(t *testing.T) {
	const canary = "canary-1f7c-value"
	for _, text := range []string{
		"sandbox {\n  memory = secret(\"CANARY\")\n}\n",
		"sandbox {\n  runtime = secret(\"CANARY\")\n}\n",
		"plugin \"x\" {\n  grants = [secret(\"CANARY\")]\n}\n",
		"plugin \"x\" {\n  plugin = \"${secret(\"CANARY\")}!\"\n}\n",
		"model \"m\" {\n  provider = secret(\"CANARY\")\n}\n",
		"agent \"a\" {\n  model = secret(\"CANARY\")\n}\n",
		"agent \"a\" {\n  busy = secret(\"CANARY\")\n}\n",
		"agent \"a\" {\n  max_turns = secret(\"CANARY\")\n}\n",
	} {
		cfg, diags := load(t, text, "CANARY", canary)
		if cfg != nil || !diags.HasErrors() || strings.Contains(diags.Error(), canary) {
			t.Errorf("%s: %s", text, diags.Error())
		}
	}
	cfg, diags := load(t, "sandbox {\n  image = secret(\"CANARY\")\n}\n", "CANARY", canary)
	if cfg == nil || cfg.Sandbox.Image != canary {
		t.Fatalf("%v", diags)
	}
	for _, v := range cfg.Values {
		if strings.Contains(v.Value, canary) {
			t.Errorf("%s shows %q", v.Key, v.Value)
		}
	}
}

// TestNoRegularFile: a named pipe in the place of the configuration is refused
// and not waited for.
func TestNoRegularFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, diags := loadFrom(Source{Path: path, Required: true, Getenv: environment(), Secrets: &Secrets{}})
	if cfg != nil || !strings.Contains(diags.Error(), "no regular file") {
		t.Errorf("%v %v", cfg, diags)
	}
}

// TestPaths: a path means the same wherever the daemon was started.
func TestPaths(t *testing.T) {
	t.Setenv("HOME", "/home/someone")
	path := filepath.Join(t.TempDir(), "config.hcl")
	text := "store {\n  path = \"db/x.db\"\n}\nlisten {\n  socket = \"~/b.sock\"\n}\nplugin \"p\" {\n  path = \"~/p\"\n}\nplugin \"q\" {\n  path = \"/opt/q\"\n}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, diags := loadFrom(Source{Path: path, Required: true, Getenv: environment(), Secrets: &Secrets{}})
	if cfg == nil {
		t.Fatal(diags.Error())
	}
	for _, c := range []struct{ got, want string }{
		{cfg.Store.Path, filepath.Join(filepath.Dir(path), "db/x.db")}, {cfg.Listen.Socket, "/home/someone/b.sock"},
		{cfg.Plugins[0].Path, "/home/someone/p"}, {cfg.Plugins[1].Path, "/opt/q"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}
