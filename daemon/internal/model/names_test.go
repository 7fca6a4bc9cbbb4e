package model

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/sdk"
)

// installed is what a server offers in these tests, in the order of Ollama: those
// that can call tools, the smallest first.
func installed() listed {
	return listed{"ollama": {{Name: "qwen3:8b", Tools: yes(), Context: 8192}, {Name: "llama3.1:latest", Tools: yes(), Context: 4096}, {Name: "gemma:2b", Tools: no(), Context: 2048}}}
}

// TestNobodyIsSentAway: a model that the server of this machine hands on to another one is taken only
// where somebody names it, and counts as one that is elsewhere: what it costs is not known, and what
// only this machine was told does not go there because a server is down.
func TestNobodyIsSentAway(t *testing.T) {
	away := sdk.Model{Name: "gpt-oss:120b-cloud", Tools: yes(), Remote: true}
	m := chooser(t, "model \"big\" {\n  provider = \"ollama\"\n  name = \"gpt-oss:120b-cloud\"\n}\n", listed{"ollama": {away, {Name: "old:1b"}}, "replay": nil}, "127.0.0.1:11434")
	for _, asked := range []string{"", "ollama", "ollama/gone"} {
		if got, err := m.ResolveConfigured(t.Context(), asked); err != nil || got.Alias != "ollama/old:1b" || !got.Local {
			t.Errorf("%q takes %+v, %v", asked, got, err)
		}
	}
	for _, asked := range []string{"ollama/gpt-oss:120b-cloud", "big"} {
		if got, err := m.Resolve(t.Context(), asked); err != nil || got.Name != away.Name || got.Local || got.Price != nil || m.Price(asked) != nil {
			t.Errorf("%q takes %+v, %v", asked, got, err)
		}
	}
	for _, x := range m.List(t.Context()).Models {
		if x.Local != (x.Actual == "old:1b") {
			t.Errorf("listed as %+v", x)
		}
	}
	m = chooser(t, "", listed{"ollama": {away}, "replay": nil}, "127.0.0.1:11434")
	if got, err := m.Resolve(t.Context(), ""); err != nil || got.Provider != "replay" {
		t.Errorf("alone it gives %+v, %v", got, err)
	}
}

// TestNamesOfModels has the rows M1, M2 and M4: what is there is taken, with and
// without its tag; what a person names is never replaced, what the configuration
// names gives way.
func TestNamesOfModels(t *testing.T) {
	const blocks = `model "mine" {
  provider = "ollama"
  name = "llama9"
}
model "short" {
  provider = "ollama"
  name = "llama3.1"
}
`
	const missing, given, configured = "llama9", false, true
	for _, c := range []struct {
		name, block string // the block's own model
		asked       string
		configured  bool
		want        string // the alias and the name that is sent
		context     int
		err         []string
	}{
		{name: "M1", asked: "ollama/llama3.1:latest", want: "ollama/llama3.1:latest llama3.1:latest", context: 4096},
		{name: "M4", asked: "ollama/llama3.1", want: "ollama/llama3.1:latest llama3.1:latest", context: 4096},
		{name: "M4 of a block", asked: "short", want: "short llama3.1:latest", context: 4096},
		{name: "M2", asked: "ollama/" + missing, configured: configured, want: "ollama/qwen3:8b qwen3:8b", context: 8192},
		{name: "M2 of a model block", asked: "mine", configured: configured, want: "ollama/qwen3:8b qwen3:8b", context: 8192},
		{name: "M2 of a provider block", block: missing, asked: "", want: "ollama/qwen3:8b qwen3:8b", context: 8192},
		{name: "M2 of a provider that a person names", block: missing, asked: "ollama", want: "ollama/qwen3:8b qwen3:8b", context: 8192},
		{name: "M1 of a provider block", block: "llama3.1", asked: "", want: "ollama/llama3.1:latest llama3.1:latest", context: 4096},
		{name: "a given name", asked: "ollama/qwem3", configured: given, err: []string{`ollama has no model "qwem3"`, "the nearest is ollama/qwen3:8b", "that can call tools: ollama/qwen3:8b, ollama/llama3.1:latest"}},
		{name: "a given block", asked: "mine", err: []string{`ollama has no model "llama9"`, "the nearest is ollama/llama3.1:latest"}},
		{name: "another tag", asked: "ollama/qwen3:14b", err: []string{"the nearest is ollama/qwen3:8b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			user := blocks
			if c.block != "" {
				user += "provider \"ollama\" {\n  model = \"" + c.block + "\"\n}\n"
			}
			m := chooser(t, user, installed(), "127.0.0.1:11434")
			told := map[string]string{}
			m.gaveWay = func(name, text string) { told[name] = text }
			resolve := m.Resolve
			if c.configured {
				resolve = m.ResolveConfigured
			}
			got, err := resolve(t.Context(), c.asked)
			if c.err != nil {
				if sdk.OutcomeOf(err) != sdk.NotFound {
					t.Errorf("outcome %s of %v", sdk.OutcomeOf(err), err)
				}
				for _, part := range c.err {
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Errorf("error %v does not say %q", err, part)
					}
				}
				return
			}
			if err != nil || got.Alias+" "+got.Name != c.want || got.Context != c.context || got.Tools == nil || !*got.Tools {
				t.Fatalf("%+v, %v; want %s", got, err, c.want)
			}
			gaveWay := strings.HasPrefix(c.name, "M2")
			if text := told["ollama/"+missing]; (text != "") != gaveWay || (got.Instead != "") != gaveWay {
				t.Errorf("%q was told, in the place of %q", text, got.Instead)
			}
			if gaveWay && (!strings.Contains(got.Why, "the configuration names ollama/llama9, which http://127.0.0.1:11434 does not have") || !strings.Contains(got.Why, "`bothy models pull ollama/llama9`")) {
				t.Errorf("it says %q", got.Why)
			}
		})
	}
}

// TestNothingIsReplacedUnheard: a server that is down, that lists nothing or that
// is not on this machine leaves every name as it is.
func TestNothingIsReplacedUnheard(t *testing.T) {
	for name, host := range map[string]listed{"down": {}, "an empty list": {"ollama": {}}, "elsewhere": {"xai": {{Name: "grok"}}}} {
		asked := "ollama/llama9"
		if name == "elsewhere" {
			asked = "xai/grok-9"
		}
		for _, resolve := range []func(*Models) (sdk.ModelChoice, error){
			func(m *Models) (sdk.ModelChoice, error) { return m.Resolve(t.Context(), asked) },
			func(m *Models) (sdk.ModelChoice, error) { return m.ResolveConfigured(t.Context(), asked) },
		} {
			if got, err := resolve(chooser(t, "", host)); err != nil || got.Alias != asked || got.Instead != "" {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
	}
}

// TestAWarningIsTakenBack when the model is there, and with the configuration that named it.
func TestAWarningIsTakenBack(t *testing.T) {
	host := installed()
	m := chooser(t, "", host, "127.0.0.1:11434")
	told := map[string]string{}
	m.gaveWay = func(name, text string) {
		if told[name] = text; text == "" {
			delete(told, name)
		}
	}
	ask := func(want int) {
		t.Helper()
		if _, err := m.ResolveConfigured(t.Context(), "ollama/llama9"); err != nil || len(told) != want {
			t.Errorf("%d warnings hold (%v), want %d: %v", len(told), told, want, err)
		}
	}
	ask(1)
	m.Configure(m.cfg.Load())
	if len(told) != 0 {
		t.Errorf("after another configuration: %v", told)
	}
	ask(1)
	host["ollama"] = append(host["ollama"], sdk.Model{Name: "llama9:latest"}) // somebody pulled it
	ask(0)
}

// TestAModelThatCannotCall: the choice names those of its provider that can.
func TestAModelThatCannotCall(t *testing.T) {
	got, err := chooser(t, "", installed(), "127.0.0.1:11434").Resolve(t.Context(), "ollama/gemma:2b")
	if err != nil || got.Tools == nil || *got.Tools || fmt.Sprint(got.Able) != "[ollama/qwen3:8b ollama/llama3.1:latest]" {
		t.Errorf("%+v, %v", got, err)
	}
}

// refusing is a host whose completions fail.
type refusing struct {
	listed
	err error
}

func (r refusing) Complete(context.Context, string, sdk.Request, func(sdk.Delta) error) error {
	return r.err
}

// TestRefusedModels: what a server says of a model that is not there, or that
// cannot call tools, is followed by those that would do.
func TestRefusedModels(t *testing.T) {
	gone := &sdk.ProviderError{Class: sdk.ClassNever, Status: 404, Message: "model not found"}
	for _, c := range []struct {
		alias string
		err   error
		want  []string
	}{
		{"xai/grok-5", gone, []string{"model not found; the nearest is xai/grok-4; `bothy models` lists all", "HTTP 404"}},
		{"xai/grok-4", gone, []string{"model not found (HTTP 404)"}},
		{"groq/x", gone, []string{"model not found (HTTP 404)"}},
		{"ollama/gemma:2b", &sdk.ProviderError{NoTools: true, Message: "no"}, []string{"the model ollama/gemma:2b cannot call tools; those of ollama that can: ollama/qwen3:8b, ollama/llama3.1:latest"}},
		{"groq/x", &sdk.ProviderError{NoTools: true, Message: "no"}, []string{"the model groq/x cannot call tools; choose another"}},
		{"ollama/gemma:2b", errors.New("crashed"), []string{"crashed"}},
	} {
		lists := installed()
		maps.Copy(lists, listed{"xai": {{Name: "grok-4"}, {Name: "aurora"}}, "groq": {}})
		m := chooser(t, "", lists)
		m.host, m.secrets = refusing{lists, c.err}, &audit.Redactor{}
		err := m.Complete(t.Context(), c.alias, sdk.Request{}, nil, nil)
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %v does not say %q", c.alias, err, part)
			}
		}
	}
	if gone.Message != "model not found" {
		t.Errorf("the error of the host became %q", gone.Message)
	}
}

// TestEditions: a name without a date is that of its newest edition, as Anthropic has it
// (https://docs.claude.com/en/docs/about-claude/models/overview, "Model aliases").
func TestEditions(t *testing.T) {
	list := []sdk.Model{{Name: "claude-3-5-sonnet-20240620"}, {Name: "claude-3-5-sonnet-20241022"}, {Name: "gpt-4o-2024-11-20"}, {Name: "claude-3-5-sonnet-fast-20250101"}}
	for name, want := range map[string]string{
		"claude-3-5-sonnet":          "claude-3-5-sonnet-20241022",
		"claude-3-5-sonnet-latest":   "claude-3-5-sonnet-20241022",
		"claude-3-5-sonnet-20240620": "claude-3-5-sonnet-20240620",
		"gpt-4o":                     "gpt-4o-2024-11-20",
		"claude-3-5":                 "",
		"gpt-4":                      "",
		"":                           "",
	} {
		if x, ok := find(list, name); x.Name != want || ok != (want != "") {
			t.Errorf("%q finds %q", name, x.Name)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, name := range []string{"", "llama3.1", "hf.co:443/a/b", "a:b:c", "é", strings.Repeat("x", 300)} {
		f.Add(name)
	}
	list := append(installed()["ollama"], sdk.Model{Name: "claude-opus-4-20250514"})
	f.Fuzz(func(t *testing.T, name string) {
		if x, ok := find(list, name); ok && x.Name != name && x.Name != name+":latest" && !strings.HasPrefix(x.Name, strings.TrimSuffix(name, "-latest")+"-20") {
			t.Errorf("%q found %q", name, x.Name)
		}
		if got := nearest(list, name); got == "" {
			t.Errorf("nothing is near %q", name)
		}
	})
}
