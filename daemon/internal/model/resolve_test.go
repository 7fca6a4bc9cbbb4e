package model

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/credential"
	"github.com/bothyd/bothy/sdk"
)

// listed is a host whose providers offer fixed lists.
type listed map[string][]sdk.Model

func (l listed) Ensure(_ context.Context, instance string) error {
	if _, ok := l[instance]; !ok {
		return errors.New("cannot be started")
	}
	return nil
}

func (l listed) State(instance string) string { return instance + " ready" }

func (l listed) Models(_ context.Context, instance string) ([]sdk.Model, error) {
	return l[instance], nil
}

func (l listed) Pull(_ context.Context, instance, model string, _ func(sdk.PullProgress)) error {
	l[instance] = append(l[instance], sdk.Model{Name: model, Tools: yes()})
	return nil
}

func (l listed) Complete(context.Context, string, sdk.Request, func(sdk.Delta) error) error {
	return errors.New("not asked here")
}

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

// chooser is Models over the built-in configuration with user text above it.
// up names the addresses at which something listens.
func chooser(t *testing.T, user string, providers listed, up ...string) *Models {
	t.Helper()
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY", "OPENROUTER_API_KEY", "XAI_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "OLLAMA_HOST", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"} {
		if _, set := os.LookupEnv(name); set && !strings.HasPrefix(os.Getenv(name), "test-") {
			t.Setenv(name, "")
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "config.hcl")
	if err := os.WriteFile(path, []byte(user), 0o600); err != nil {
		t.Fatal(err)
	}
	noRing := credential.System(func(string) (string, bool) { return "", false })
	cfg, diags := config.Load(config.Source{
		Defaults: bothy.DefaultConfig, DefaultsName: bothy.DefaultConfigName, Path: path, Required: true, Getenv: os.LookupEnv, Secrets: &audit.Redactor{},
		Keys: credential.New(os.LookupEnv, "", noRing, &audit.Redactor{}),
	})
	if cfg == nil {
		t.Fatal(diags.Error())
	}
	m := New(cfg, providers, nil, func(string, string) {})
	m.installed = func(string) (string, error) { return "", exec.ErrNotFound }
	m.dial = func(_ context.Context, address string) error {
		for _, a := range up {
			if a == address {
				return nil
			}
		}
		return errors.New("refused")
	}
	return m
}

func TestWhichModelIsTaken(t *testing.T) {
	const block = "provider \"groq\" {\n  plugin = \"openai\"\n}\nmodel \"fast\" {\n  provider = \"groq\"\n  name = \"llama\"\n  context = 8192\n}\n"
	ollama := listed{"ollama": {{Name: "embed", Tools: no()}, {Name: "qwen3", Tools: yes(), Context: 4096}}}
	for _, c := range []struct {
		name, user, key, asked string
		providers              listed
		up                     []string
		want, why              string
	}{
		{name: "nothing at all", want: "replay/first-run", why: "`bothy auth login` gives one"},
		{name: "a local server with an able model", providers: ollama, up: []string{"127.0.0.1:11434"}, want: "ollama/qwen3", why: "local server"},
		{name: "local before a key", key: "OPENAI_API_KEY", providers: ollama, up: []string{"127.0.0.1:11434"}, want: "ollama/qwen3"},
		{name: "a local server that does not say", providers: listed{"llamacpp": {{Name: "m"}}}, up: []string{"127.0.0.1:8080"}, want: "llamacpp/m"},
		{name: "a local server without an able model", key: "GROQ_API_KEY", providers: listed{"ollama": {{Name: "embed", Tools: no()}}}, up: []string{"127.0.0.1:11434"}, want: "groq/llama-3.3-70b-versatile", why: "provider ollama has no model that can call tools"},
		{name: "something else at that port", providers: listed{}, up: []string{"127.0.0.1:8080"}, want: "replay/first-run", why: "answers at http://127.0.0.1:8080/v1 but was passed over"},
		{name: "a key", key: "OPENROUTER_API_KEY", want: "openrouter/openrouter/auto", why: "its key is in the environment, and no local server"},
		{name: "a key for another wire", key: "ANTHROPIC_API_KEY", want: "anthropic/claude-sonnet-5-5", why: "key"},
		{name: "a key in its block", user: "provider \"xai\" {\n  api_key = \"written-here\"\n}\n", want: "xai/grok-4", why: "its key is in its block of the configuration"},
		{name: "a switched-off provider", user: "provider \"ollama\" {\n  enabled = false\n}\n", providers: ollama, up: []string{"127.0.0.1:11434"}, want: "replay/first-run"},
		{name: "a block", user: block, asked: "fast", want: "fast"},
		{name: "provider and name", asked: "xai/grok-9", want: "xai/grok-9"},
		{name: "only a provider", asked: "ollama", providers: ollama, want: "ollama/qwen3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.key != "" {
				t.Setenv(c.key, "test-key-0123456789")
			}
			got, err := chooser(t, c.user, c.providers, c.up...).Resolve(context.Background(), c.asked)
			if err != nil {
				t.Fatal(err)
			}
			if got.Alias != c.want || !strings.Contains(got.Why, c.why) {
				t.Errorf("took %s because %q, want %s (%s)", got.Alias, got.Why, c.want, c.why)
			}
			if strings.Contains(c.asked, "/") && got.Why != "" {
				t.Errorf("it tells who named the model: %q", got.Why)
			}
			if c.asked == "" && !strings.Contains(got.Why, "bothy run -m") {
				t.Errorf("it does not say how to change it: %q", got.Why)
			}
		})
	}
}

func TestAModelThatIsNotThereIsNamed(t *testing.T) {
	_, err := chooser(t, "", nil).Resolve(context.Background(), "nobody/nothing")
	if sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), "bothy models") || !strings.Contains(err.Error(), "ollama") {
		t.Errorf("error: %v", err)
	}
}

func TestLocalAddresses(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:11434": "127.0.0.1:11434", "0.0.0.0:11434": "0.0.0.0:11434", "localhost:8080": "localhost:8080",
		"http://[::1]:1234/v1": "[::1]:1234", "http://localhost/v1": "localhost:80", "https://localhost": "localhost:443",
		":8080": "127.0.0.1:8080", "https://api.openai.com/v1": "", "http://127.0.0.1.example.com/": "", "": "", "http://10.0.0.1/": "", "://": "",
	} {
		got := ""
		if isLocal(base) {
			got = hostPort(base)
		}
		if got != want {
			t.Errorf("%q: local address %q, want %q", base, got, want)
		}
	}
}

// TestWhereOllamaIs: an address of OLLAMA_HOST need not name a port.
func TestWhereOllamaIs(t *testing.T) {
	for host, up := range map[string]string{"0.0.0.0": "0.0.0.0:11434", "127.0.0.1": "127.0.0.1:11434", ":7000": "127.0.0.1:7000", "localhost:7001": "localhost:7001", "http://localhost": "localhost:80"} {
		user := "provider \"ollama\" {\n  base_url = \"" + host + "\"\n}\n"
		got, err := chooser(t, user, listed{"ollama": {{Name: "qwen3", Tools: yes()}}}, up).Resolve(context.Background(), "")
		if err != nil || got.Alias != "ollama/qwen3" {
			t.Errorf("%s: took %s (%v), want ollama/qwen3", host, got.Alias, err)
		}
	}
}

// TestALocalModelIsDescribed: however a model of a local server comes to be
// taken, its context and whether it calls tools are known; what the operator
// wrote goes before what the server says.
func TestALocalModelIsDescribed(t *testing.T) {
	const user = `provider "ollama" {
  model = "embed"
}
model "wide" {
  provider = "ollama"
  name = "qwen3"
}
model "narrow" {
  provider = "ollama"
  name = "qwen3"
  context = 100
}
`
	providers := listed{"ollama": {{Name: "embed", Tools: no(), Context: 512}, {Name: "qwen3", Tools: yes(), Context: 4096}}}
	m := chooser(t, user, providers, "127.0.0.1:11434")
	for _, c := range []struct {
		asked   string
		context int
		tools   bool
	}{{"", 512, false}, {"ollama", 512, false}, {"ollama/qwen3", 4096, true}, {"wide", 4096, true}, {"narrow", 100, true}} {
		got, err := m.Resolve(context.Background(), c.asked)
		if err != nil || got.Context != c.context || got.Tools == nil || *got.Tools != c.tools {
			t.Errorf("%q: %+v, %v", c.asked, got, err)
		}
	}
}
