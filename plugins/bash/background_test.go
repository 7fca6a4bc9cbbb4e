//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// use calls a tool of the plugin.
func (r *rig) use(tool, arguments string) (sdk.ToolResult, error) {
	r.t.Helper()
	return r.b.tools().Invoke(r.t.Context(), sdk.Invocation{
		Tool: tool, Arguments: json.RawMessage(arguments), Run: "run-1", Project: r.project, RunDir: r.runDir,
	}, &stream{chunks: make(map[int]string)})
}

// needs is a result that must hold texts.
func needs(t *testing.T, got sdk.ToolResult, err error, texts ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range texts {
		if !strings.Contains(got.Output+got.Error, want) {
			t.Errorf("%q is not in %q, error %q", want, got.Output, got.Error)
		}
	}
}

// TestBackgroundJobs: a command is started, read, and ended; it ends when the run rests.
func TestBackgroundJobs(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	start := func(command string) (sdk.ToolResult, error) {
		return r.use("bash", fmt.Sprintf(`{"command":%s,"background":true}`, must(json.Marshal(command))))
	}
	got, err := r.use("bash_output", `{}`)
	if sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), "background = true") {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = start("echo begun; until [ -e go ]; do sleep 0.02; done; echo seen; sleep 600")
	needs(t, got, err, "begun\n", "runs in the background as bg-1", "cannot write to the project")
	if got.Metadata["running"] != true || !got.Told {
		t.Errorf("got %+v", got)
	}
	if got, err = r.use("bash", `{"command":"touch go"}`); err != nil || !got.Success {
		t.Fatal(got, err)
	}
	got, err = r.use("bash_output", `{"id":"bg-1","wait_seconds":60}`)
	needs(t, got, err, "seen\n")
	got, err = r.use("bash_output", `{}`)
	needs(t, got, err, "bg-1 has run for", "nothing new")

	got, err = start("echo soon over; exit 3")
	if needs(t, got, err, "soon over"); got.Metadata["running"] == true {
		needs(t, got, err, "as bg-2")
		got, err = r.use("bash_output", `{"id":"bg-2","wait_seconds":60}`)
	}
	if needs(t, got, err, "bg-2 has ended with exit status 3"); got.Success || got.Outcome != sdk.Exit(3) {
		t.Errorf("got %+v", got)
	}
	for i := range 3 {
		got, err = start("sleep 600")
		needs(t, got, err, fmt.Sprintf("as bg-%d", 3+i))
	}
	if _, err = start("sleep 600"); sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), "bg-1: echo begun") {
		t.Errorf("a fifth one: %v", err)
	}
	if _, err = r.use("bash_output", `{}`); sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), "bg-5: sleep 600") {
		t.Errorf("without a name: %v", err)
	}
	got, err = r.use("bash_stop", `{"id":"bg-1"}`)
	if needs(t, got, err, "bg-1 was ended"); !got.Success || got.Metadata["running"] != false {
		t.Errorf("got %+v", got)
	}
	r.event("run.idle")
	if _, err = r.use("bash_output", `{"id":"bg-3"}`); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("got %v", err)
	}
	got, err = r.use("bash", `{"command":"ls"}`)
	needs(t, got, err, "go\n")
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(r.project), "data", "sandbox", "views", "*", "writable")); err != nil || len(left) > 0 {
		t.Errorf("%q stay, %v", left, err)
	}
}

// TestBackgroundCannotWrite to the project, nor to what git does not ignore.
func TestBackgroundCannotWrite(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	if got, err := r.use("bash", `{"command":"git init -q . && mkdir -p node_modules/.cache src && echo node_modules >.gitignore"}`); err != nil || !got.Success {
		t.Fatal(got, err)
	}
	got, err := r.use("bash", `{"command":"touch x src/x .git/x; touch node_modules/.cache/x && ls node_modules/.cache","background":true}`)
	needs(t, got, err)
	all := got.Output
	for got.Metadata["running"] == true {
		if got, err = r.use("bash_output", `{"wait_seconds":60}`); err != nil {
			t.Fatal(err)
		}
		all += got.Output
	}
	if strings.Count(all, "Read-only file system") != 3 || !strings.Contains(all, "\nx\n") {
		t.Errorf("it printed %q", all)
	}
	for _, name := range []string{"x", "src/x", ".git/x", "node_modules/.cache/x"} {
		if _, err := os.Lstat(filepath.Join(r.project, name)); err == nil {
			t.Errorf("the project has %s", name)
		}
	}
}

// TestUnreadOutput: what is not read in time goes, the oldest first, and is counted.
func TestUnreadOutput(t *testing.T) {
	j := newJob("x", "", false)
	j.add(1, []byte("old"))
	j.add(2, []byte(strings.Repeat("n", mostUnread)))
	if text, dropped := j.read(); dropped != 3 || text != strings.Repeat("n", mostUnread) {
		t.Errorf("%d bytes, %d dropped", len(text), dropped)
	}
	if text, dropped := j.read(); text != "" || dropped != 0 {
		t.Errorf("again %q, %d", text, dropped)
	}
}

// TestARunThatRestsWhileAJobIsStarted: the command is ended, and takes no place.
func TestARunThatRestsWhileAJobIsStarted(t *testing.T) {
	var js jobs
	j := newJob("sleep 600", "", false)
	if err := js.book("run-1", j); err != nil {
		t.Fatal(err)
	}
	js.forget(t.Context(), "run-1")
	if js.started(j, &sandbox.Background{}) {
		t.Error("it goes on")
	}
	if _, err := js.find("run-1", "", ""); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("it is found: %v", err)
	}
}

// TestBackgroundThatFailsAtOnce is told so with its start.
func TestBackgroundThatFailsAtOnce(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	r.b.printsWithin, r.b.endsWithin = time.Minute, time.Minute // a busy machine takes a while to end a container
	got, err := r.use("bash", `{"command":"nosuchprogram","background":true}`)
	if needs(t, got, err, "command not found", "has ended with exit status 127"); got.Success {
		t.Errorf("got %+v", got)
	}
	r.b.printsWithin, r.b.endsWithin = printsWithin, endsWithin
	got, err = r.use("bash", `{"command":"sleep 600","background":true}`)
	needs(t, got, err, "as bg-2")
	got, err = r.use("bash_stop", `{}`)
	needs(t, got, err, "bg-2 was ended")
	if _, err := r.b.tools().Invoke(t.Context(), sdk.Invocation{
		Tool: "bash", Arguments: json.RawMessage(`{"command":"true","background":true}`), Run: "run-2", RunDir: r.runDir,
	}, &stream{chunks: make(map[int]string)}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("in a private run: %v", err)
	}
}
