package model

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/credential"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// editing is Answers over a file with a text.
func editing(t *testing.T, text string) (a *Answers, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	unset := func(string) (string, bool) { return "", false }
	load := func() (string, *config.Config, error) {
		cfg, diags := config.Load(config.Source{
			Defaults: bothy.DefaultConfig, DefaultsName: bothy.DefaultConfigName, Path: path, Required: true, Getenv: unset, Secrets: &audit.Redactor{},
			Keys: credential.New(unset, "", credential.System(unset), &audit.Redactor{}),
		})
		if cfg == nil {
			return path, nil, diags
		}
		return path, cfg, nil
	}
	_, cfg, err := load()
	if err != nil {
		cfg = &config.Config{}
	}
	a = &Answers{Models: New(cfg, listed{}, nil, func(string, string) {}), Load: load}
	a.Reload = func(context.Context) error {
		_, cfg, err := load()
		if err == nil {
			a.Configure(cfg)
		}
		return err
	}
	return a, path
}

func TestAddAndRemoveModel(t *testing.T) {
	const before = "# mine\nmodel \"fast\" {\n  provider = \"groq\"\n  name     = \"llama\" # it is\n  context  = 8192\n}\n\nagent \"helper\" {\n  model = \"fast\"\n}\n"
	a, path := editing(t, before)
	ctx := t.Context()
	for name, c := range map[string]struct {
		add  rpc.ModelAdd
		want sdk.Outcome
	}{
		"no provider":        {rpc.ModelAdd{Alias: "x", Actual: "llama"}, sdk.Validation},
		"an unknown one":     {rpc.ModelAdd{Alias: "x", Actual: "nobody/llama"}, sdk.NotFound},
		"a name that cannot": {rpc.ModelAdd{Alias: "a/b", Actual: "groq/llama"}, sdk.Validation},
		"a control":          {rpc.ModelAdd{Alias: "x", Actual: "groq/lla\nma"}, sdk.Validation},
		"a long name":        {rpc.ModelAdd{Alias: "x", Actual: "groq/" + strings.Repeat("a", 256)}, sdk.Validation},
		"below zero":         {rpc.ModelAdd{Alias: "x", Actual: "groq/llama", ContextLength: -1}, sdk.Validation},
		"another there":      {rpc.ModelAdd{Alias: "fast", Actual: "groq/mixtral"}, sdk.Conflict},
		"another context":    {rpc.ModelAdd{Alias: "fast", Actual: "groq/llama", ContextLength: 4096}, sdk.Conflict},
	} {
		if _, err := a.Add(ctx, c.add); sdk.OutcomeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if done, err := a.Add(ctx, rpc.ModelAdd{Alias: "fast", Actual: "groq/llama"}); err != nil || done.Changed {
		t.Errorf("the same again: %+v, %v", done, err)
	}
	if got := reading(t, path); got != before {
		t.Fatalf("what was refused was written:\n%s", got)
	}

	done, err := a.Add(ctx, rpc.ModelAdd{Alias: "odd", Actual: "openrouter/x/${y}:z", ContextLength: 16384})
	if err != nil || done != (rpc.ModelAdded{Alias: "odd", Actual: "openrouter/x/${y}:z", File: path, Changed: true}) {
		t.Fatalf("added %+v, %v", done, err)
	}
	const block = "\nmodel \"odd\" {\n  provider = \"openrouter\"\n  name     = \"x/$${y}:z\"\n  context  = 16384\n}\n"
	if got := reading(t, path); got != before+block {
		t.Errorf("the file is\n%s", got)
	}
	list := a.List(ctx).Models
	if i := slices.IndexFunc(list, func(m rpc.Model) bool { return m.Alias == "odd" }); i < 0 || list[i].Actual != "x/${y}:z" || list[i].ContextLength != 16384 {
		t.Errorf("the models are %+v", list)
	}

	for alias, want := range map[string]sdk.Outcome{"fast": sdk.Conflict, "none": sdk.NotFound, "": sdk.Validation, "groq/llama": sdk.Validation} {
		if _, err := a.Remove(ctx, rpc.ModelRef{Alias: alias}); sdk.OutcomeOf(err) != want {
			t.Errorf("removing %q: %v", alias, err)
		}
	}
	if _, err := a.Remove(ctx, rpc.ModelRef{Alias: "odd"}); err != nil {
		t.Fatal(err)
	}
	if got := reading(t, path); got != before {
		t.Errorf("the file is\n%s", got)
	}
}

// TestAddModelToABrokenFile: what cannot be used is not made worse.
func TestAddModelToABrokenFile(t *testing.T) {
	const text = "model \"fast\" {\n  provider = \"nobody\"\n}\n"
	a, path := editing(t, text)
	if _, err := a.Add(t.Context(), rpc.ModelAdd{Alias: "x", Actual: "groq/llama"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
	if _, err := a.Remove(t.Context(), rpc.ModelRef{Alias: "fast"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
	if got := reading(t, path); got != text {
		t.Errorf("the file is\n%s", got)
	}
}

// TestAddModelsAtOnce: none is lost.
func TestAddModelsAtOnce(t *testing.T) {
	a, path := editing(t, "")
	var all sync.WaitGroup
	names := strings.Fields("a b c d e f g h")
	for _, name := range names {
		all.Go(func() {
			if _, err := a.Add(context.Background(), rpc.ModelAdd{Alias: name, Actual: "groq/" + name}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, name := range names {
		if !strings.Contains(reading(t, path), `name     = "`+name+`"`) {
			t.Errorf("%s is not there", name)
		}
	}
}

func reading(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
