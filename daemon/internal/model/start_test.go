package model

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// sleeper is a host whose Ollama is started by the first question.
type sleeper struct {
	listed
	fails error
	asked int
	up    bool
	seen  func()
}

func (s *sleeper) Models(ctx context.Context, instance string) ([]sdk.Model, error) {
	s.asked++
	s.seen()
	if s.fails != nil {
		return nil, s.fails
	}
	s.up = true
	return s.listed.Models(ctx, instance)
}

// sleeping is Models on whose machine Ollama is installed and does not run.
func sleeping(t *testing.T, user string, s *sleeper) *Models {
	t.Helper()
	m := chooser(t, user, s.listed)
	m.host, m.installed = s, func(string) (string, error) { return "/usr/bin/ollama", nil }
	m.dial = func(_ context.Context, address string) error {
		if s.up && address == "127.0.0.1:11434" {
			return nil
		}
		return errors.New("refused")
	}
	s.seen = func() {
		if waits := m.Waiting(); !s.up && !slices.Equal(waits, []string{startsOllama}) {
			t.Errorf("while it is started prompts wait for %q", waits)
		}
	}
	return m
}

// TestOllamaIsStarted when nothing on this machine has a model, before keys are looked
// at; where that is turned off, or fails, the rest of the order holds.
func TestOllamaIsStarted(t *testing.T) {
	t.Setenv("GROQ_API_KEY", "test-key-0123456789")
	for _, c := range []struct {
		name, user string
		host       sleeper
		want, why  string
		asked      int
	}{
		{"installed", "", sleeper{listed: installed()}, "ollama/qwen3:8b", "ollama is installed and was started", 1},
		{"turned off", "provider \"ollama\" {\n  start = false\n}\n", sleeper{listed: installed()}, "groq/llama-3.3-70b-versatile", "its key", 0},
		{"elsewhere", "provider \"ollama\" {\n  base_url = \"http://10.0.0.1:11434\"\n}\n", sleeper{listed: installed()}, "groq/llama-3.3-70b-versatile", "its key", 0},
		{"without models", "", sleeper{listed: listed{"ollama": nil}}, "groq/llama-3.3-70b-versatile", "`bothy models pull qwen3` gets one", 1},
		{"it fails", "", sleeper{listed: installed(), fails: errors.New("on fire")}, "groq/llama-3.3-70b-versatile", "ollama is installed and could not be used (on fire)", 1},
	} {
		m := sleeping(t, c.user, &c.host)
		got, err := m.Resolve(t.Context(), "")
		if err != nil || got.Alias != c.want || !strings.Contains(got.Why, c.why) || c.host.asked != c.asked {
			t.Errorf("%s: took %s because %q, %v; asked %d times", c.name, got.Alias, got.Why, err, c.host.asked)
		}
		if waits := m.Waiting(); len(waits) != 0 {
			t.Errorf("%s: prompts still wait for %q", c.name, waits)
		}
	}
}

// TestLookingStartsNothing: neither a list nor a look, which say that a prompt would.
func TestLookingStartsNothing(t *testing.T) {
	host := &sleeper{listed: installed()}
	m := sleeping(t, "", host)
	list := m.List(t.Context())
	if last := list.Problems[len(list.Problems)-1]; !strings.HasPrefix(last, "ollama is installed and not running") {
		t.Errorf("problems %q", list.Problems)
	}
	for _, x := range list.Models {
		if x.Default || x.Provider == "ollama" {
			t.Errorf("it lists %+v", x)
		}
	}
	if _, err := m.Look(t.Context(), "", true); err == nil || !strings.Contains(err.Error(), "not running") {
		t.Error(err)
	}
	if got, err := m.Look(t.Context(), "ollama/llama9", false); err != nil || got.Alias != "ollama/llama9" {
		t.Errorf("%+v, %v", got, err)
	}
	if host.asked != 0 {
		t.Errorf("it was asked %d times, and started", host.asked)
	}
	if got, err := m.Resolve(t.Context(), ""); err != nil || got.Alias != "ollama/qwen3:8b" {
		t.Errorf("a prompt: %+v, %v", got, err)
	}
}

// TestAStartThatFailed is not tried again by every prompt, but soon, and after a pull.
func TestAStartThatFailed(t *testing.T) {
	host := &sleeper{listed: listed{"ollama": {}}, fails: errors.New("on fire")}
	m := sleeping(t, "", host)
	synctest.Test(t, func(t *testing.T) {
		for n, step := range []struct {
			do    func()
			asked int
		}{
			{func() {}, 1}, {func() {}, 1}, {func() { time.Sleep(keepTime + time.Second) }, 2},
			{func() {
				if alias, err := m.Pull(t.Context(), "qwen3", func(sdk.PullProgress) {}); err != nil || alias != "ollama/qwen3" {
					t.Errorf("pulled %s, %v", alias, err)
				}
			}, 3},
		} {
			step.do()
			if _, err := m.Resolve(t.Context(), ""); err != nil || host.asked != step.asked {
				t.Errorf("step %d: %v; asked %d times, want %d", n, err, host.asked, step.asked)
			}
		}
	})
}

// TestNothingAtAll names the shortest ways to get a model.
func TestNothingAtAll(t *testing.T) {
	_, err := chooser(t, "provider \"replay\" {\n  enabled = false\n}\n", listed{}).Resolve(t.Context(), "")
	for _, part := range []string{"there is no model", "bothy models pull qwen3", "bothy auth login", "base_url"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}

// TestPullDropsTheList: what was pulled is found at once, under its own provider.
func TestPullDropsTheList(t *testing.T) {
	host := installed()
	m := chooser(t, "", host, "127.0.0.1:11434")
	if _, err := m.Resolve(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"new": "ollama/new", "ollama/newer": "ollama/newer", "hf.co/a/b": "ollama/hf.co/a/b"} {
		alias, err := m.Pull(t.Context(), name, func(sdk.PullProgress) {})
		if err != nil || alias != want {
			t.Fatalf("%s: pulled %s, %v", name, alias, err)
		}
		if _, kept := m.kept.list("ollama", m.now().mark(m.cfg.Load().Providers[0])); kept {
			t.Error("the list is kept")
		}
		if got, err := m.Resolve(t.Context(), alias); err != nil || got.Tools == nil {
			t.Errorf("%+v, %v", got, err)
		}
	}
	nowhere := chooser(t, "provider \"ollama\" {\n  enabled = false\n}\n", host)
	if _, err := nowhere.Pull(t.Context(), "new", nil); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Error(err)
	}
}
