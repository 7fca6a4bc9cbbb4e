package host

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// validate has a work judged with a time limit that only a defect reaches.
func (r *rig) validate(t testing.TB, instance, prompt string) (sdk.Judgement, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return r.Validate(ctx, instance, sdk.Work{
		Agent: "reviewer", Run: "r", Prompt: prompt, Result: json.RawMessage(`{}`), Key: "key", Model: "own", Project: "/p", RunDir: "/d",
	})
}

func (r *rig) agents() (names []string) {
	for _, d := range r.Agents() {
		names = append(names, d.Place+"/"+d.Agent.Name)
	}
	return names
}

// TestAgents: those that blocks take are there as soon as the plugin serves, with the tools that the block lets them
// have, and gone with the block.
func TestAgents(t *testing.T) {
	takes := spec("fault", "")
	takes.Agents, takes.AgentTools, takes.Digest = []string{"own", "reviewer", "nobody"}, []string{"read_file", "fault__*"}, "1"
	r := newRig(t, nil)
	said := r.texts(r.Apply(t.Context(), []inspect.Spec{takes, spec("second", "")}))
	if got := r.agents(); !slices.Equal(got, []string{"fault/own", "fault/reviewer"}) {
		t.Errorf("the agents are %q", got)
	}
	for _, d := range r.Agents() {
		a := d.Agent
		if a.Name == "reviewer" && (a.Persona != "Be kind." || !slices.Equal(a.Tools, []string{"read_file"}) || a.Finish.Validator != "fault") {
			t.Errorf("%+v", a)
		}
		if a.Name == "own" && (a.Finish != nil || !slices.Equal(a.Tools, []string{"fault__*"})) {
			t.Errorf("%+v", a)
		}
	}
	if !strings.Contains(said, `takes the agent "nobody"`) || !strings.Contains(said, "It declares: reviewer, own.") {
		t.Errorf("said %s", said)
	}
	takes.Agents, takes.Digest = []string{"own"}, "2"
	r.Apply(t.Context(), []inspect.Spec{takes})
	if got := r.agents(); !slices.Equal(got, []string{"fault/own"}) {
		t.Errorf("after another block the agents are %q", got)
	}
	r.Apply(t.Context(), nil)
	if got := r.agents(); len(got) > 0 {
		t.Errorf("without a block there are %q", got)
	}
}

// TestValidate: a judgement comes back as the plugin gave it, bounded, and the plugin is told what it may know.
func TestValidate(t *testing.T) {
	told := spec("told", "")
	told.Grants = append(told.Grants, sdk.GrantProject)
	asks := asking(spec("asks", ""), sdk.GrantModels)
	r := started(t, func(c *Config) { c.Services = &fakeDaemon{} }, spec("fault", ""), told, asks)
	if j, err := r.validate(t, "fault", ""); err != nil || !j.Accepted {
		t.Errorf("%+v %v", j, err)
	}
	for _, c := range []struct{ instance, prompt, says string }{
		{"fault", "tell", "key  /d {} 0 true"},
		{"told", "tell", "key /p /d {} 0 true"},
		{"asks", "asks", "keykey"}, // of the run,
	} {
		j, err := r.validate(t, c.instance, c.prompt)
		if err != nil || j.Accepted || !strings.Contains(strings.Join(j.Missing, "\n"), c.says) {
			t.Errorf("%s %s: %+v %v, want %q", c.instance, c.prompt, j, err, c.says)
		}
	}
	if j, err := r.validate(t, "fault", "much"); err != nil || j.Accepted || len(j.Missing) != sdk.MaxMissing+1 {
		t.Errorf("%d of a thousand, %v", len(j.Missing), err)
	}
}

// TestValidateRefused: a plugin that is not there, or judges nothing, refuses and says what to do.
func TestValidateRefused(t *testing.T) {
	off := spec("off", "")
	off.Off = true
	r := newRig(t, nil)
	r.Apply(t.Context(), []inspect.Spec{spec("rogue", "rogue"), off})
	for _, c := range []struct {
		instance string
		outcome  sdk.Outcome
		says     string
	}{
		{"nobody", sdk.Unavailable, `plugin "nobody" {}`},
		{"off", sdk.Unavailable, "switched off"},
		{"rogue", sdk.NotFound, "judges nothing"},
	} {
		j, err := r.validate(t, c.instance, "")
		wantOutcome(t, err, c.outcome)
		if j.Accepted || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %q does not say %q", c.instance, j, err, c.says)
		}
	}
}

// TestValidateOnUse: a plugin that waits for its first use is started for a judgement.
func TestValidateOnUse(t *testing.T) {
	lazy := spec("fault", "")
	lazy.Lazy = true
	r := newRig(t, nil)
	r.Apply(t.Context(), []inspect.Spec{lazy})
	if j, err := r.validate(t, "fault", ""); err != nil || !j.Accepted {
		t.Errorf("%+v %v", j, err)
	}
}

// TestValidateFails: whatever happens in a judgement accepts nothing, is an error of its own, is not tried again, and the
// plugin goes on.
func TestValidateFails(t *testing.T) {
	s := spec("fault", "")
	marks := filepath.Join(t.TempDir(), "marks")
	s.Env["FAULT_MARKS"] = marks
	r := started(t, func(c *Config) { c.CancelGrace, c.Judging = 200*time.Millisecond, 2*time.Second }, s)
	for _, c := range []struct {
		prompt  string
		outcome sdk.Outcome
	}{
		{"panics", sdk.Internal}, {"oversize", sdk.Overflow}, {"crash", sdk.PluginCrashed}, {"wait", sdk.Timeout}, {"hang", sdk.Timeout},
	} {
		j, err := r.validate(t, "fault", c.prompt)
		wantOutcome(t, err, c.outcome)
		if j.Accepted {
			t.Errorf("%s accepts", c.prompt)
		}
	}
	text, err := os.ReadFile(marks)
	if n := strings.Count(string(text), "judged"); err != nil || n != 5 {
		t.Errorf("5 works were judged %d times, %v", n, err)
	}
	if j, err := r.validate(t, "fault", ""); err != nil || !j.Accepted {
		t.Errorf("after a plugin that was killed: %+v %v", j, err)
	}
}

// TestValidateCancelled: a judgement ends with the loop that waits for it; one that ignores it costs the plugin its
// process.
func TestValidateCancelled(t *testing.T) {
	s := spec("fault", "")
	marks := filepath.Join(t.TempDir(), "marks")
	s.Env["FAULT_MARKS"] = marks
	r := started(t, func(c *Config) { c.CancelGrace = 300 * time.Millisecond }, s)
	for prompt, restarts := range map[string]int{"wait": 0, "hang": 1} {
		before := r.status(t, "fault").Restarts
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan error, 1)
		judged := func() int {
			text, _ := os.ReadFile(marks) // it is not there before the first
			return strings.Count(string(text), "judged")
		}
		n := judged()
		go func() {
			_, err := r.Validate(ctx, "fault", sdk.Work{Prompt: prompt})
			over <- err
		}()
		eventually(t, "the judgement begins", func() bool { return judged() > n })
		cancel()
		wantOutcome(t, <-over, sdk.Aborted)
		if _, err := r.validate(t, "fault", ""); err != nil {
			t.Errorf("after %s: %v", prompt, err)
		}
		if n := r.status(t, "fault").Restarts - before; n != restarts {
			t.Errorf("%s: %d restarts", prompt, n)
		}
	}
}
