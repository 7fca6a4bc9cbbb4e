package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/dialect"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/daemon/internal/rulebook"
	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// answering serves a model, at the URL that is returned, whose answer follows
// from the system text and the last message.
func answering(t *testing.T, says func(model, system, user string) string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Model    string        `json:"model"`
			Messages []chatMessage `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Messages) < 2 {
			http.Error(w, "no messages", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		s := sse{w: w, r: r}
		s.text(says(request.Model, request.Messages[0].Content, request.Messages[len(request.Messages)-1].Content))
		s.end("stop")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// executing is a daemon with the bundled plugins, the example's plugin, a
// project and a run in it, whose model is m/own.
type executing struct {
	*Daemon
	run     sdk.Run
	project string
}

func newExecuting(t *testing.T, config string) *executing {
	t.Helper()
	t.Setenv("BOTHY_PREFIX", installation(t))
	d, _ := quietly(t, "plugin \"bash\" {\n  enabled = false\n}\n"+config)
	e := &executing{Daemon: d, project: t.TempDir()}
	for name, text := range map[string]string{
		"README.md":       "# Kettles\n\nHow to boil water.\n\n## Safety\n",
		"docs/descale.md": "# Descaling\n\nVinegar removes the scale of a kettle.\n",
		"main.go":         "package main\n",
	} {
		path := filepath.Join(e.project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
	}
	p, err := d.store.OpenProject(t.Context(), e.project)
	if err != nil {
		t.Fatal(err)
	}
	e.project = p.Root
	if e.run, err = d.store.CreateRun(t.Context(), sdk.Run{Project: p.ID, Agent: "default", Model: "m/own"}); err != nil {
		t.Fatal(err)
	}
	return e
}

// wants makes a call, written as its tool and its arguments, and holds it to its output, or to
// its outcome where it is to fail.
func (e *executing) wants(t *testing.T, call, want string) sdk.ToolResult {
	t.Helper()
	name, arguments, _ := strings.Cut(call, " ")
	done, err := e.engine.CallTool(t.Context(), engine.ToolCall{
		Project: e.project, Run: e.run.Alias, Tool: name, Arguments: json.RawMessage(arguments), Approved: true,
	})
	have := done.Result.Output
	if !done.Result.Success {
		have = string(done.Entry.Outcome)
	}
	if have != want {
		t.Errorf("%s: %q, want %q (%v; %s)", call, have, want, err, done.Result.Error)
	}
	return done.Result
}

// execute executes a skill as use_skill does: in a call that an engine makes.
func (e *executing) execute(t *testing.T, plugin, input string) (sdk.ToolResult, []string, error) {
	t.Helper()
	skill := &skillTool{Supervisor: e.host.Supervisor, plugins: plugins{e.host}, plugin: plugin, input: input}
	ruling := policy.Live{
		Written:    func(string) policy.Settings { return settingsOf(e.current(), "", config.Workspace{}) },
		Sandbox:    func(string) sdk.Sandbox { return sdk.Sandbox{} },
		Remembered: rulebook.New(e.store, hclog.NewNullLogger()),
	}
	x, err := engine.New(engine.Config{
		Store: e.store, Tools: skill, Services: e.services.Services, Models: e.models, Views: map[string]engine.Assembler{sdk.ViewTranscript: view.NewTranscript(time.Now)}, Dialects: map[string]engine.Dialect{sdk.DialectTools: dialect.Tools{}},
		Policy: ruling, Hooks: hook.New(hclog.NewNullLogger()), DataDir: e.paths.Data, Log: hclog.NewNullLogger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if _, err := x.CallTool(t.Context(), engine.ToolCall{Project: e.project, Run: e.run.Alias, Tool: skill.tool().Name, Arguments: json.RawMessage("{}")}); err != nil {
		t.Fatal(err)
	}
	return skill.result, skill.out.Messages(), skill.err
}

// skillTool is the tools of a host, and one that executes a skill.
type skillTool struct {
	*host.Supervisor
	plugins       plugins
	plugin, input string

	out    sdktest.Recorder
	result sdk.ToolResult
	err    error
}

func (s *skillTool) tool() sdk.Tool {
	return sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "execute", Parameters: json.RawMessage("{}"), Annotations: sdk.Annotations{ReadOnly: true}}, Plugin: "test", Pinned: true}
}

func (s *skillTool) Tools() []sdk.Tool { return append(s.Supervisor.Tools(), s.tool()) }

func (s *skillTool) Accepted(string) bool { return false }

func (s *skillTool) Invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
	if call.Tool != s.tool().Name {
		return s.Supervisor.Invoke(ctx, call, out)
	}
	s.result, s.err = s.plugins.Execute(ctx, s.plugin, sdk.SkillCall{
		Skill: s.plugin, Input: s.input, Model: "m/own", CallID: call.CallID, Run: call.Run, Project: call.Project, RunDir: call.RunDir,
	}, &s.out)
	return s.result, s.err
}

// calls are the tools that plugins called, with the action that they did it for.
func (e *executing) calls(t *testing.T) (out []string) {
	t.Helper()
	entries, err := e.store.Entries(t.Context(), sdk.EntryQuery{Run: e.run.ID, Pattern: "log://**"})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if x, err := sdk.ActionOf(entry); err != nil || x.Parent != "" {
			out = append(out, fmt.Sprint(x.Tool, " for ", x.Parent, " ", x.State, err))
		}
	}
	return out
}

// notes are the journal's rows of a kind.
func (e *executing) notes(t *testing.T, kind string) (out []string) {
	t.Helper()
	rows, err := e.store.Journal(t.Context(), sdk.JournalQuery{Run: e.run.ID, Notes: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Kind == sdk.KindNote+kind {
			out = append(out, string(r.Data))
		}
	}
	return out
}

func (e *executing) state(instance string) string {
	for _, p := range e.Plugins() {
		if p.Instance == instance {
			return p.State
		}
	}
	return "not there"
}

// outline is the code skill of the examples.
func outline(t *testing.T) (binary, pin string) {
	t.Helper()
	return example(t, "code-skill", "outline")
}

// TestExampleCodeSkill: a skill that was made elsewhere calls a tool, asks the
// run's model and writes an entry, and the journal has all of it.
func TestExampleCodeSkill(t *testing.T) {
	installation(t)
	binary, pin := outline(t)
	url := answering(t, func(model, _, user string) string { return model + " read: " + user })
	e := newExecuting(t, fmt.Sprintf(`
provider "m" {
  plugin   = "openai"
  base_url = %q
}
plugin "outline" {
  path   = %q
  sha256 = %q
  grants = ["tools", "models", "entries"]
  tools  = ["grep"]
  on_use = true
}
`, url, binary, pin))
	if s := e.state("outline"); s != "stopped" {
		t.Errorf("before its first use it is %s", s)
	}
	r, progress, err := e.execute(t, "outline", "where do I begin?")
	if err != nil || !r.Success {
		t.Fatalf("%+v %v", r, err)
	}
	for _, s := range []string{"own read: where do I begin?", "README.md:1:# Kettles", "docs/descale.md:1:# Descaling"} {
		if !strings.Contains(r.Output, s) {
			t.Errorf("it does not say %q:\n%s", s, r.Output)
		}
	}
	if strings.Join(progress, "; ") != "collecting headings; asking for the order" {
		t.Errorf("progress %q", progress)
	}
	entry, err := e.store.Entry(t.Context(), e.run.ID, "known://outline")
	if err != nil || entry.Body != r.Output || entry.Writer != sdk.WriterPlugin {
		t.Errorf("%+v %v", entry, err)
	}
	if calls := e.calls(t); len(calls) != 1 || calls[0] != "grep for log://turn_1/execute/call resolved<nil>" {
		t.Errorf("calls in the journal: %q", calls)
	}
	if asked := e.notes(t, ".completion"); len(asked) != 1 || !strings.Contains(asked[0], `"model":"m/own"`) || !strings.Contains(asked[0], `"plugin":"outline"`) {
		t.Errorf("completions in the journal: %q", asked)
	}
	if s := e.state("outline"); s != "ready" {
		t.Errorf("after its first use it is %s", s)
	}
}

// TestCodeSkillRefused: what a block does not give is refused, and what is not
// there is said to be missing.
func TestCodeSkillRefused(t *testing.T) {
	installation(t)
	binary, pin := outline(t)
	block := func(label, more string) string {
		return fmt.Sprintf("plugin %q {\n  path = %q\n%s\n}\n", label, binary, more)
	}
	pinned := fmt.Sprintf("  sha256 = %q\n", pin)
	for name, c := range map[string]struct {
		block, plugin string
		outcome       sdk.Outcome
		says          string
	}{
		"no block":       {"", "outline", sdk.Unavailable, `plugin "outline" {}`},
		"switched off":   {block("outline", pinned+"  enabled = false\n  on_use = true"), "outline", sdk.Unavailable, "enabled = false"},
		"not pinned":     {block("outline", "  on_use = true"), "outline", sdk.Permission, pin},
		"no tools":       {block("outline", pinned), "outline", sdk.Permission, `"tools"`},
		"other tools":    {block("outline", pinned+"  grants = [\"tools\"]\n  tools = [\"read_*\"]"), "outline", sdk.Permission, "read_*"},
		"no models":      {block("outline", pinned+"  grants = [\"tools\"]"), "outline", sdk.Permission, `"models"`},
		"another plugin": {block("other", pinned), "other", sdk.NotFound, "outline"},
		"wrong pin":      {block("outline", "  sha256 = \""+strings.Repeat("0", 64)+"\"\n  on_use = true"), "outline", sdk.Validation, pin},
	} {
		t.Run(name, func(t *testing.T) {
			e := newExecuting(t, c.block)
			_, _, err := e.execute(t, c.plugin, "")
			if err == nil || sdk.OutcomeOf(err) != c.outcome || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v (%s), want %s with %q", err, sdk.OutcomeOf(err), c.outcome, c.says)
			}
		})
	}
}

// TestResearchOverTheDaemon: the bundled code skill with the real tools.
func TestResearchOverTheDaemon(t *testing.T) {
	url := answering(t, func(_, system, user string) string {
		if strings.Contains(system, "take notes") {
			return "noted: " + user
		}
		return "Vinegar. " + user
	})
	e := newExecuting(t, fmt.Sprintf("provider \"m\" {\n  plugin = \"openai\"\n  base_url = %q\n}\n", url))
	if s := e.state("research"); s != "stopped" {
		t.Errorf("before its first use it is %s", s)
	}
	r, progress, err := e.execute(t, "research", "What removes scale from a kettle?")
	if err != nil || !r.Success {
		t.Fatalf("%+v %v", r, err)
	}
	for _, s := range []string{"Vinegar. Question: What removes scale", "Vinegar removes the scale", "Based on:\n- docs/descale.md\n- README.md\n"} {
		if !strings.Contains(r.Output, s) {
			t.Errorf("it does not say %q:\n%s", s, r.Output)
		}
	}
	if len(progress) != 4 || progress[1] != "reading 1 of 2: docs/descale.md" {
		t.Errorf("progress %q", progress)
	}
	if asked := e.notes(t, ".completion"); len(asked) != 3 || !strings.Contains(asked[0], `"model":"m/own"`) {
		t.Errorf("it did not ask the model of the run: %q", asked)
	}
}

// TestFirstUseAtOnce: many first uses start one process.
func TestFirstUseAtOnce(t *testing.T) {
	installation(t)
	binary, pin := outline(t)
	e := newExecuting(t, fmt.Sprintf("plugin \"outline\" {\n  path = %q\n  sha256 = %q\n  on_use = true\n}\n", binary, pin))
	before := len(e.host.Processes())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := plugins{e.host}.Execute(context.WithoutCancel(t.Context()), "outline", sdk.SkillCall{Skill: "outline"}, &sdktest.Recorder{})
			if sdk.OutcomeOf(err) != sdk.Permission {
				t.Errorf("without a grant: %v", err)
			}
		})
	}
	all.Wait()
	if n := len(e.host.Processes()) - before; n != 1 {
		t.Errorf("%d processes", n)
	}
}
