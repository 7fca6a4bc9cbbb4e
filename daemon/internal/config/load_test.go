package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/sdk"
)

func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// load reads user text over the built-in defaults.
func load(t testing.TB, user string, env ...string) (*Config, Diagnostics) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.hcl")
	if err := os.WriteFile(path, []byte(user), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadFrom(Source{
		Defaults: bothy.DefaultConfig, DefaultsName: bothy.DefaultConfigName,
		Path: path, Required: true, Getenv: environment(env...), Secrets: &Secrets{},
	})
}

func TestDefaultConfigLoads(t *testing.T) {
	cfg, diags := load(t, "")
	if len(diags) != 0 {
		t.Fatalf("the built-in configuration has diagnostics:\n%s", diags.Error())
	}
	if cfg.Sandbox.Memory != 2<<30 || cfg.Sandbox.Pids != 512 || time.Duration(cfg.Sandbox.Timeout) != 2*time.Minute {
		t.Errorf("sandbox defaults: %+v", cfg.Sandbox)
	}
	if cfg.Sandbox.MaxOutput != 10<<20 || cfg.Sandbox.MaxErrors != 1<<20 || cfg.Sandbox.Tmp != 64<<20 || cfg.Sandbox.CPUs <= 0 {
		t.Errorf("sandbox limits: %+v", cfg.Sandbox)
	}
	if got := cfg.Agents["default"].Guards; got != (sdk.Guards{MaxTurns: 99, RepeatedCalls: 2, ConsecutiveErrors: 3, MaxChildren: 16}) {
		t.Errorf("guards of agent default = %+v", got)
	}
	if got := cfg.Agents["chat"].Guards; got != cfg.Agents["default"].Guards {
		t.Errorf("guards of agent chat = %+v, not those of default", got)
	}
	if len(cfg.Plugins) != 3 || cfg.Plugins[0].Label != "bash" || cfg.Plugins[0].Grants[0] != sdk.GrantSandbox {
		t.Errorf("plugins: %+v", cfg.Plugins)
	}
}

// TestDefaultConfigSaysTheDefaults keeps config.hcl and the table of settings
// from drifting apart: reading the file changes no value.
func TestDefaultConfigSaysTheDefaults(t *testing.T) {
	cfg, _ := load(t, "")
	for i, s := range settings {
		if got := cfg.Values[i]; got.Value != s.defaultText() {
			t.Errorf("%s is %q in config.hcl and %q in the table", s.key(), got.Value, s.defaultText())
		}
	}
}

func TestMistakesAreShownWhereTheyStand(t *testing.T) {
	for _, c := range []struct {
		name, text string
		line, col  int
		want       []string
	}{
		{"syntax", "sandbox {\n  memory = \n}\n", 2, 12, []string{"error"}},
		{"unclosed block", "sandbox {\n", 1, 9, []string{"Unclosed"}},
		{"unknown block", "sandbx {\n}\n", 1, 1, []string{"sandbx", "sandbox"}},
		{"unknown attribute", "sandbox {\n  memroy = \"1GB\"\n}\n", 2, 3, []string{"memroy", "memory"}},
		{"wrong size", "sandbox {\n  memory = \"much\"\n}\n", 2, 12, []string{"much", "64MB"}},
		{"wrong kind", "sandbox {\n  timeout = 30\n}\n", 2, 13, []string{"sandbox.timeout", "30s"}},
		{"negative", "guard {\n  max_turns = -1\n}\n", 2, 15, []string{"negative"}},
		{"unknown runtime", "sandbox {\n  runtime = \"youki\"\n}\n", 2, 13, []string{"youki", "runc"}},
		{"unknown variable", "sandbox {\n  image = image\n}\n", 2, 11, []string{"image"}},
		{"missing env", "store {\n  path = env(\"NOT_THERE\")\n}\n", 2, 10, []string{"NOT_THERE", "export"}},
		{"missing file", "store {\n  path = file(\"nope\")\n}\n", 2, 10, []string{"nope"}},
		{"block twice", "guard {\n}\nguard {\n}\n", 3, 1, []string{"line 1"}},
		{"bad label", "plugin \"Bash Shell\" {\n}\n", 1, 8, []string{"a-z"}},
		{"unknown grant", "plugin \"x\" {\n  grants = [\"root\"]\n}\n", 2, 12, []string{"root", "sandbox"}},
		{"unknown provider", "model \"m\" {\n  provider = \"nobody\"\n}\n", 2, 14, []string{"nobody", "ollama"}},
		{"unknown provider of an agent", "agent \"a\" {\n  model = \"nobody/m\"\n}\n", 2, 11, []string{"nobody/m", "ollama"}},
		{"unknown model of an agent", "model \"m\" {\n  provider = \"ollama\"\n}\nagent \"default\" {\n  model = \"n\"\n}\n", 5, 11, []string{"[m]", "ollama"}},
		{"bad pattern of tools", "plugin \"x\" {\n  tools = [\"[a\"]\n}\n", 2, 11, []string{"tools", "[a", "read_*"}},
		{"empty pattern of models", "plugin \"x\" {\n  models = [\"\"]\n}\n", 2, 12, []string{"models", "pattern"}},
		{"model without provider", "model \"m\" {\n}\n", 1, 11, []string{"provider"}},
		{"unknown dialect", "agent \"a\" {\n  dialect = \"telepathy\"\n}\n", 2, 13, []string{"telepathy", "tools"}},
		{"unknown agent attribute", "agent \"a\" {\n  mdoel = \"x\"\n}\n", 2, 3, []string{"mdoel"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, diags := load(t, c.text)
			if cfg != nil || !diags.HasErrors() {
				t.Fatalf("accepted: %q", c.text)
			}
			d := diags[0]
			if d.Line != c.line || d.Column != c.col {
				t.Errorf("at %d:%d, want %d:%d", d.Line, d.Column, c.line, c.col)
			}
			text := diags.Error()
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("the report does not say %q:\n%s", w, text)
				}
			}
			if c.line > 0 && !strings.Contains(text, "^") {
				t.Errorf("no caret in:\n%s", text)
			}
		})
	}
}

func TestCaretStandsUnderThePlace(t *testing.T) {
	_, diags := load(t, "sandbox {\n\tmemory = \"much\"\n}\n")
	text := diags.Error()
	want := "    2 | \tmemory = \"much\"\n        \t         ^^^^^^\n"
	if !strings.Contains(text, want) {
		t.Errorf("report:\n%s\nwant in it:\n%s", text, want)
	}
}

func TestLayers(t *testing.T) {
	user := "sandbox {\n  timeout = \"10s\"\n}\nmodel \"fast\" {\n  provider = \"ollama\"\n}\nagent \"chat\" {\n  model = \"fast\"\n}\nplugin \"bash\" {\n  enabled = false\n}\nguard {\n  repeated_calls = 5\n}\n"
	cfg, diags := load(t, user, "BOTHY_SANDBOX_PIDS", "7", "BOTHY_SANDBOX_MEMORY", "plenty")
	if cfg == nil {
		t.Fatal(diags.Error())
	}
	if time.Duration(cfg.Sandbox.Timeout) != 10*time.Second || cfg.Sandbox.Memory != 2<<30 {
		t.Errorf("sandbox: %+v", cfg.Sandbox)
	}
	if cfg.Sandbox.Pids != 7 {
		t.Errorf("the environment does not win: pids = %d", cfg.Sandbox.Pids)
	}
	if len(diags) != 1 || diags[0].Severity != "warning" || !strings.Contains(diags.Error(), "BOTHY_SANDBOX_MEMORY") {
		t.Errorf("an unusable variable is not warned of: %v", diags)
	}
	chat := cfg.Agents["chat"]
	if chat.Model != "fast" || chat.Guards.MaxTurns != 99 || chat.Guards.RepeatedCalls != 5 {
		t.Errorf("agent chat was not merged: %+v", chat)
	}
	if cfg.Plugins[0].Enabled || cfg.Plugins[0].Grants[0] != sdk.GrantSandbox {
		t.Errorf("plugin bash was not merged: %+v", cfg.Plugins[0])
	}
	for _, v := range cfg.Values {
		switch v.Key {
		case "sandbox.timeout":
			if !strings.HasSuffix(v.Source, "config.hcl:2") {
				t.Errorf("timeout comes from %q", v.Source)
			}
		case "sandbox.pids":
			if v.Source != "BOTHY_SANDBOX_PIDS" {
				t.Errorf("pids come from %q", v.Source)
			}
		}
	}
}

func TestUserFileThatIsMissingOrHuge(t *testing.T) {
	src := Source{Defaults: bothy.DefaultConfig, DefaultsName: "d", Path: filepath.Join(t.TempDir(), "none.hcl"), Getenv: environment(), Secrets: &Secrets{}}
	if cfg, diags := loadFrom(src); cfg == nil {
		t.Errorf("no file at all: %v", diags)
	}
	src.Required = true
	if cfg, _ := loadFrom(src); cfg != nil {
		t.Error("a file that was named and is missing was accepted")
	}
	big := filepath.Join(t.TempDir(), "big.hcl")
	if err := os.WriteFile(big, []byte(strings.Repeat("# padding\n", 200_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	src.Path = big
	if cfg, diags := loadFrom(src); cfg != nil || !strings.Contains(diags.Error(), "1 MiB") {
		t.Errorf("a file of 2 MB was accepted: %v", diags)
	}
}

// TestSecretsAreTakenOut: the plain registry knows values as they are written.
func TestSecretsAreTakenOut(t *testing.T) {
	var s Secrets
	s.Name("K", "sk-live/abc")
	s.Name("K", "short")
	if got := s.Redact("a sk-live/abc is not short"); got != "a [secret] is not short" {
		t.Errorf("redacted to %q", got)
	}
}

// TestSecretWithADefault: what is not set is the default, and what is set is a secret.
func TestSecretWithADefault(t *testing.T) {
	var s Secrets
	secret := evalContext(Source{Getenv: environment("K", "very-secret-value"), Keys: environmentKeys(environment("K", "very-secret-value")), Secrets: &s}).Functions["secret"]
	for name, want := range map[string]string{"K": "very-secret-value", "NOT_SET": "none"} {
		if got, err := secret.Call(ctyStrings(name, "none")); err != nil || got.AsString() != want {
			t.Errorf("%s is %v, %v; want %s", name, got, err, want)
		}
	}
	if got := s.Redact("very-secret-value none"); strings.Contains(got, "very") || !strings.HasSuffix(got, " none") {
		t.Errorf("redacted to %q", got)
	}
	if _, err := secret.Call(ctyStrings("K", "a", "b")); err == nil {
		t.Error("two defaults")
	}
}

func TestSecretIsResolvedAtUse(t *testing.T) {
	var s Secrets
	ctx := evalContext(Source{Getenv: environment("K", "very-secret-value"), Keys: environmentKeys(environment("K", "very-secret-value")), Secrets: &s})
	cfg, diags := load(t, "provider \"x\" {\n  plugin = \"openai\"\n  api_key = secret(\"NOT_SET\")\n}\n")
	if cfg == nil {
		t.Fatalf("a secret that nobody uses stops the daemon: %s", diags.Error())
	}
	p := cfg.Providers[len(cfg.Providers)-1]
	attrs, _ := p.Body.JustAttributes()
	if _, d := attrs["api_key"].Expr.Value(cfg.Context); !d.HasErrors() || !strings.Contains(d.Error(), "export NOT_SET") {
		t.Errorf("missing secret: %v", d)
	}
	if got := s.Redact("very-secret-value"); got != "very-secret-value" {
		t.Errorf("redacted before use: %s", got)
	}
	if _, err := ctx.Functions["secret"].Call(ctyStrings("K")); err != nil {
		t.Fatal(err)
	}
	if got := s.Redact("x very-secret-value"); got != "x [secret]" {
		t.Errorf("after use: %s", got)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("sandbox {\n  memory = \"1GB\"\n}\n"))
	f.Add(bothy.DefaultConfig)
	f.Add([]byte("plugin \"a\" {\n env = { a = env(\"X\", \"y\") }\n}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, diags := loadFrom(Source{Defaults: text, DefaultsName: "fuzz", Getenv: environment(), Secrets: &Secrets{}})
		if (cfg == nil) != diags.HasErrors() {
			t.Fatalf("config %v with diagnostics %v", cfg != nil, diags)
		}
		_ = diags.Error()
	})
}

func FuzzParseSize(f *testing.F) {
	f.Add("64MB")
	f.Add("1e400GB")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := ParseSize(text); err == nil && n < 0 {
			t.Fatalf("%q is %d", text, n)
		}
	})
}
