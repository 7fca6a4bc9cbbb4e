package host

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// pinnedSpec is a fault plugin that a digest vouches for.
func pinnedSpec(t testing.TB, instance string) inspect.Spec {
	t.Helper()
	s := spec(instance, "")
	s.SHA256 = sha256Of(t, faultBinary)
	return s
}

// execute executes a skill with a time limit that only a defect reaches.
func (r *rig) execute(t testing.TB, instance, skill, input string) (sdk.ToolResult, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return r.Execute(ctx, instance, sdk.SkillCall{Skill: skill, Input: input, Run: "run", Model: "own"}, newOut())
}

func TestExecute(t *testing.T) {
	granted := pinnedSpec(t, "fault")
	granted.Grants = append(granted.Grants, sdk.GrantProject)
	r := started(t, nil, granted)
	o := newOut()
	call := sdk.SkillCall{
		Skill: "echo", Input: "in\xff", Body: "# Body", Folder: "/f", Model: "m", CallID: "c", Run: "k", Project: "/p", RunDir: "/r",
		Deadline: time.Now().Add(time.Minute).Truncate(time.Millisecond),
	}
	res, err := r.Execute(context.Background(), "fault", call, o)
	if err != nil || res.Output != "in\uFFFD" || string(o.chunks) != "chunk" {
		t.Fatalf("%+v %v, chunks %q", res, err, o.chunks)
	}
	var got sdk.SkillCall
	if err := json.Unmarshal(res.Structured, &got); err != nil {
		t.Fatal(err)
	}
	if call.Input = "in\uFFFD"; !got.Deadline.Equal(call.Deadline) {
		t.Errorf("the deadline is %v, want %v", got.Deadline, call.Deadline)
	}
	if got.Deadline = call.Deadline; got != call {
		t.Errorf("the plugin was given %+v, want %+v", got, call)
	}
}

// TestExecuteRefused: what cannot be executed says what to do.
func TestExecuteRefused(t *testing.T) {
	unpinned := spec("unpinned", "")
	r := started(t, nil, pinnedSpec(t, "fault"), unpinned, spec("rogue", "rogue"))
	pin := pinnedSpec(t, "").SHA256
	for _, c := range []struct {
		instance, skill string
		outcome         sdk.Outcome
		says            []string
	}{
		{"nobody", "echo", sdk.Unavailable, []string{"echo", `plugin "nobody" {}`}},
		{"fault", "other", sdk.NotFound, []string{`"other"`, "echo"}},
		{"rogue", "echo", sdk.NotFound, []string{"rogue", "no skills", "SKILL.md"}},
		{"unpinned", "echo", sdk.Permission, []string{"unpinned", "not pinned", `sha256 = "` + pin + `"`}},
	} {
		_, err := r.execute(t, c.instance, c.skill, "")
		wantOutcome(t, err, c.outcome)
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s %s: %q does not say %q", c.instance, c.skill, err, s)
			}
		}
	}
}

// TestExecuteFails: whatever happens in an execution is its own error, and the
// plugin goes on.
func TestExecuteFails(t *testing.T) {
	s := pinnedSpec(t, "fault")
	marks := filepath.Join(t.TempDir(), "marks")
	s.Env["FAULT_MARKS"] = marks
	r := started(t, func(c *Config) { c.CancelGrace = 200 * time.Millisecond }, s)

	_, err := r.execute(t, "fault", "panics", "")
	wantOutcome(t, err, sdk.Internal)
	if !strings.Contains(err.Error(), "at the disco") || r.status(t, "fault").Restarts != 0 {
		t.Errorf("a panic: %v", err)
	}

	_, err = r.execute(t, "fault", "crash", "")
	wantOutcome(t, err, sdk.PluginCrashed)
	text, err := os.ReadFile(marks)
	if n := strings.Count(string(text), "executed"); err != nil || n != 1 {
		t.Errorf("a skill that crashed its plugin was executed %d times, %v", n, err)
	}

	for skill, want := range map[string]sdk.Outcome{"wait": sdk.Timeout, "hang": sdk.Timeout} {
		call := sdk.SkillCall{Skill: skill, Deadline: time.Now().Add(100 * time.Millisecond)}
		_, err := r.Execute(context.Background(), "fault", call, newOut())
		wantOutcome(t, err, want)
	}
	if _, err := r.execute(t, "fault", "echo", "again"); err != nil {
		t.Errorf("after a plugin that was killed: %v", err)
	}
}

// TestExecuteCancelled: an execution ends in order, and one that ignores it
// costs the plugin its process.
func TestExecuteCancelled(t *testing.T) {
	r := started(t, func(c *Config) { c.CancelGrace = 300 * time.Millisecond }, pinnedSpec(t, "fault"))
	for skill, restarts := range map[string]int{"wait": 0, "hang": 1} {
		before := r.status(t, "fault").Restarts
		ctx, cancel := context.WithCancel(context.Background())
		o := newOut()
		over := make(chan error, 1)
		go func() {
			_, err := r.Execute(ctx, "fault", sdk.SkillCall{Skill: skill}, o)
			over <- err
		}()
		<-o.told
		cancel()
		wantOutcome(t, <-over, sdk.Aborted)
		if _, err := r.execute(t, "fault", "echo", ""); err != nil {
			t.Errorf("after %s: %v", skill, err)
		}
		if n := r.status(t, "fault").Restarts - before; n != restarts {
			t.Errorf("%s: %d restarts", skill, n)
		}
	}
}

// TestToldProject: a plugin is told of the project only where its block grants it the
// files there, or the sandbox.
func TestToldProject(t *testing.T) {
	for _, c := range []struct{ grant, want string }{{sdk.GrantProject, "/p"}, {sdk.GrantSandbox, "/p"}, {sdk.GrantTools, ""}} {
		spec := pinnedSpec(t, "fault")
		spec.Grants = []string{sdk.GrantEntries, c.grant}
		r := started(t, nil, spec)
		res, err := r.Invoke(t.Context(), sdk.Invocation{Tool: "about", Run: "k", Project: "/p", RunDir: "/d"}, newOut())
		var about struct{ Call sdk.Invocation }
		if err == nil {
			err = json.Unmarshal(res.Structured, &about)
		}
		if err != nil || about.Call.Project != c.want || about.Call.RunDir != "/d" {
			t.Errorf("granted %s: project %q, run's folder %q, %v", c.grant, about.Call.Project, about.Call.RunDir, err)
		}
	}
}

// TestExecuteBelieved: what a skill tells of its changes is believed as a
// tool's word is.
func TestExecuteBelieved(t *testing.T) {
	trusted := pinnedSpec(t, "trusted")
	trusted.Grants = []string{sdk.GrantProject}
	r := started(t, nil, pinnedSpec(t, "fault"), trusted)
	res, err := r.execute(t, "fault", "changes", "")
	if err != nil || len(res.Changes) != 0 || !res.Untold {
		t.Errorf("without the grant: %+v %v", res, err)
	}
	res, err = r.execute(t, "trusted", "changes", "")
	if err != nil || len(res.Changes) != 1 || res.Untold {
		t.Errorf("with the grant: %+v %v", res, err)
	}
}

// TestNarrowed: a block narrows what its plugin may ask of the daemon.
func TestNarrowed(t *testing.T) {
	daemon := &fakeDaemon{}
	block := func(instance string, tools, models []string, grants ...string) inspect.Spec {
		s := asking(pinnedSpec(t, instance), grants...)
		s.Tools, s.Models = tools, models
		return s
	}
	r := newRig(t, func(c *Config) { c.Services = daemon })
	daemon.s = r.Supervisor
	r.start(context.Background(), []inspect.Spec{
		block("open", nil, nil, sdk.GrantTools, sdk.GrantModels),
		block("some", []string{"no*", "open__big"}, []string{"p/*"}, sdk.GrantTools, sdk.GrantModels),
		block("none", []string{}, []string{"*"}, sdk.GrantTools, sdk.GrantModels),
		block("poor", []string{"*"}, []string{"*"}),
	})
	for _, c := range []struct {
		instance, ask string
		outcome       sdk.Outcome
	}{
		{"open", "invoke noop", ""}, {"open", "invoke open__noop", ""}, {"open", "invoke echo", sdk.Validation}, // n is missing
		{"some", "invoke noop", ""}, {"some", "invoke open__noop", ""}, {"some", "invoke echo", sdk.Permission},
		{"some", "invoke open__echo", sdk.Permission}, {"some", "invoke big", sdk.Validation}, {"some", "invoke nothing", sdk.NotFound},
		{"some", "invoke some__noop", sdk.Permission}, // it is not the tool noop: that is open's
		{"none", "invoke noop", sdk.Permission}, {"poor", "invoke noop", sdk.Permission},
		{"open", "complete", ""}, {"open", "complete own", ""}, {"open", "complete p/m", sdk.Permission},
		{"some", "complete p/m", ""}, {"some", "complete p/x/y", ""}, {"some", "complete q/m", sdk.Permission}, {"some", "complete", ""},
		{"none", "complete p/m", ""}, {"poor", "complete", sdk.Permission},
	} {
		_, err := r.execute(t, c.instance, "back", c.ask)
		if c.outcome == "" && err != nil || c.outcome != "" && (err == nil || sdk.OutcomeOf(err) != c.outcome) {
			t.Errorf("%s: %s: %v, want %q", c.instance, c.ask, err, c.outcome)
		}
	}
	_, err := r.execute(t, "some", "back", "complete q/m")
	if err == nil || !strings.Contains(err.Error(), `models = ["p/*", "q/m"]`) {
		t.Errorf("the refusal does not say what to write: %v", err)
	}
}
