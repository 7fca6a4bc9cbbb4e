package host

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/confine"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// TestEnvironment: a plugin sees what is named, and no secret that the daemon was
// started with.
func TestEnvironment(t *testing.T) {
	const canary = "canary-7f3a"
	for _, name := range []string{
		"OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "LD_PRELOAD_X", "BOTHY_TOKEN", "BOTHY_CONFIG", "PATHS", "XDG_SESSION_ID",
		"DBUS_SESSION_BUS_ADDRESS", "BOTHY_PODMAN",
	} {
		t.Setenv(name, canary)
	}
	t.Setenv("HTTP_PROXY", "http://user:"+canary+"@proxy:3128/")
	t.Setenv("HTTPS_PROXY", "user:"+canary+"@proxy:3128")
	t.Setenv("http_proxy", "http://[user:"+canary+"@proxy")
	t.Setenv("https_proxy", "http://a@b:"+canary+"@proxy")
	t.Setenv("NO_PROXY", "localhost")
	t.Setenv("LC_TIME", "C")

	s := spec("fault", "")
	s.Env["GIVEN"] = "yes"
	r := started(t, nil, s)
	var about struct{ Env []string }
	if err := json.Unmarshal(r.mustCall(t, "about", ``).Structured, &about); err != nil {
		t.Fatal(err)
	}
	for _, v := range about.Env {
		if strings.Contains(v, canary) {
			t.Errorf("the plugin sees %s", v)
		}
	}
	for _, want := range []string{"HTTP_PROXY=http://proxy:3128/", "HTTPS_PROXY=http://proxy:3128", "NO_PROXY=localhost", "LC_TIME=C", "GIVEN=yes", "PATH=" + os.Getenv("PATH")} {
		if !slices.Contains(about.Env, want) {
			t.Errorf("%s is not in the plugin's environment %q", want, about.Env)
		}
	}

	t.Setenv("OLLAMA_MODELS", "/models")
	t.Setenv("OLLAMA_API_KEY", canary)
	if env := (*confine.Process)(nil).Environment(s.Plugin, s.Granted(sdk.GrantSandbox), s.Env); slices.Contains(env, "OLLAMA_MODELS=/models") {
		t.Error("any plugin sees how Ollama is set up")
	}
	s.Plugin = "ollama"
	if env := (*confine.Process)(nil).Environment(s.Plugin, s.Granted(sdk.GrantSandbox), s.Env); !slices.Contains(env, "OLLAMA_MODELS=/models") || slices.Contains(env, "OLLAMA_API_KEY="+canary) {
		t.Errorf("the plugin of Ollama sees %q", env)
	}

	s.Grants = []string{sdk.GrantSandbox}
	env := (*confine.Process)(nil).Environment(s.Plugin, s.Granted(sdk.GrantSandbox), s.Env)
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS", "BOTHY_PODMAN"} {
		if !slices.Contains(env, name+"="+canary) {
			t.Errorf("a plugin that runs containers lacks %s", name)
		}
	}
}

// TestOtherLoops: plugins that call each other by way of the daemon end, by tools
// and by completions.
func TestOtherLoops(t *testing.T) {
	daemon := &fakeDaemon{}
	one, two := asking(spec("one", ""), sdk.GrantTools), asking(spec("two", ""), sdk.GrantTools)
	r := newRig(t, func(c *Config) { c.Services = daemon })
	daemon.s = r.Supervisor
	r.start(context.Background(), []inspect.Spec{one, two})
	daemon.turn = func(tool string) string { // one calls two calls one
		return map[string]string{"one__back": "two__back", "two__back": "one__back"}[tool]
	}
	_, err := r.call(t, "one__back", `{"service":"invoke","name":"one__back"}`)
	wantOutcome(t, err, sdk.Validation)
	if !strings.Contains(err.Error(), "8 deep") {
		t.Error(err)
	}
	ctx := context.Background()
	for range 8 {
		if ctx, err = callback.Below(ctx, "it"); err != nil {
			t.Fatal(err)
		}
	}
	err = r.Complete(ctx, "one", sdk.Request{Model: "good"}, func(sdk.Delta) error { return nil })
	wantOutcome(t, err, sdk.Validation)
}
