//go:build linux

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// beside is another process's plugin over the same sandbox, which is about to
// take the place of the rig's.
func (r *rig) beside(settings sdk.Settings) *rig {
	r.t.Helper()
	next := &rig{t: r.t, b: newBash(hclog.NewNullLogger()), project: r.project, runDir: r.runDir}
	if err := next.b.configure(r.t.Context(), settings); err != nil {
		r.t.Fatal(err)
	}
	return next
}

// heard closes a channel with the first output of a call.
type heard struct {
	stream
	told chan struct{}
}

func (h *heard) Chunk(channel int, p []byte) error {
	select {
	case <-h.told:
	default:
		close(h.told)
	}
	return h.stream.Chunk(channel, p)
}

// call of a run with folders of its own.
func (r *rig) exec(run, command string, out *heard) (sdk.ToolResult, error) {
	dir := filepath.Join(filepath.Dir(r.runDir), run)
	for _, d := range []string{"project", "run"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return sdk.ToolResult{}, err
		}
	}
	command, background := strings.CutPrefix(command, "background: ")
	arguments, err := json.Marshal(arguments{Command: command, TimeoutSeconds: 60, Background: background})
	if err != nil {
		return sdk.ToolResult{}, err
	}
	return r.b.tools().Invoke(r.t.Context(), sdk.Invocation{
		Tool: "bash", Arguments: arguments, Run: run, Project: filepath.Join(dir, "project"), RunDir: filepath.Join(dir, "run"),
	}, out)
}

func newHeard() *heard {
	return &heard{stream: stream{chunks: make(map[int]string)}, told: make(chan struct{})}
}

// TestHandOver: while a command runs under the old process, another run works under the
// new one at once. A command of a run that the old one has waits until it is given up;
// what ran in the background there is told of. Nothing of the run's home is lost, and the
// command under way ends where it began.
func TestHandOver(t *testing.T) {
	needPodman(t)
	var settings sdk.Settings
	old := newRig(t, func(s *sdk.Settings) { settings = *s })
	must := func(r *rig, run, command, want string) {
		t.Helper()
		got, err := r.exec(run, command, newHeard())
		if err != nil || !got.Success || strings.TrimSpace(got.Output) != want {
			t.Fatalf("%s: %s: got %q %v, want %q", run, command, got.Output, err, want)
		}
	}
	must(old, "a", "echo mine >~/mark; cat ~/mark", "mine")
	must(old, "idle", "echo still >~/mark; echo here >there; cat ~/mark", "still")
	if got, err := old.exec("idle", "background: echo up; sleep 600", newHeard()); err != nil || got.Metadata["running"] != true {
		t.Fatalf("got %+v %v", got, err)
	}
	busy, ended := newHeard(), make(chan string, 1)
	go func() {
		got, err := old.exec("a", "echo on; until [ -e $HOME/let-it-end ]; do sleep 0.05; done; echo over >view; echo over", busy)
		if err != nil {
			got.Output = err.Error()
		}
		ended <- got.Output
	}()
	<-busy.told

	next := old.beside(settings)
	t.Cleanup(func() {
		if err := next.b.drain(context.Background()); err != nil {
			t.Errorf("drain: %v", err)
		}
	})
	must(next, "b", "echo at once", "at once")
	type end struct {
		got sdk.ToolResult
		err error
	}
	waited := make(chan end, 1)
	go func() {
		got, err := next.exec("idle", "cat ~/mark there", newHeard())
		waited <- end{got, err}
	}()
	if err := old.b.release(t.Context(), "idle", ""); err != nil {
		t.Fatal(err)
	}
	idle := <-waited
	if idle.err != nil || !strings.HasPrefix(idle.got.Output, "still\nhere\n") || !strings.Contains(idle.got.Output, "no longer in the background: bg-1: echo up; sleep 600]") {
		t.Fatalf("got %q %v", idle.got.Output, idle.err)
	}
	must(next, "idle", "cat there", "here") // it is told once
	select {
	case out := <-ended:
		t.Fatalf("the command under way ended: %q", out)
	default:
	}
	go1 := filepath.Join(filepath.Dir(old.runDir), "a", "run", "home", "let-it-end")
	if err := os.WriteFile(go1, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := <-ended; out != "on\nover\n" {
		t.Fatalf("the command under way: %q", out)
	}
	if err := old.b.release(t.Context(), "a", ""); err != nil {
		t.Fatal(err)
	}
	must(next, "a", "cat ~/mark view", "mine\nover")
	if err := old.b.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(next, "a", "cat ~/mark view", "mine\nover")
	must(next, "b", "echo again", "again")
	must(next, "idle", "cat ~/mark", "still")
}

// TestBackgroundEndsWithTheProcess: the end of what ran in the background is told by the
// first result after it, whichever that is.
func TestBackgroundEndsWithTheProcess(t *testing.T) {
	needPodman(t)
	var settings sdk.Settings
	old := newRig(t, func(s *sdk.Settings) { settings = *s })
	got, err := old.use("bash", `{"command":"echo up; sleep 600","background":true}`)
	needs(t, got, err, "bg-1")
	const waits = "echo up; until [ -e $HOME/let-it-end ]; do sleep 0.05; done; echo "
	for _, last := range []string{"late; exit 3", "read"} {
		got, err = old.use("bash", `{"command":"`+waits+last+`","background":true}`)
		needs(t, got, err, "up", "it runs in the background")
	}
	if err := os.WriteFile(filepath.Join(old.runDir, "home", "let-it-end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, j := range old.b.jobs.runs["run-1"][1:] {
		<-j.Done()
	}
	got, err = old.use("bash_output", `{"id":"bg-3","wait_seconds":60}`)
	needs(t, got, err, "read", "ended with exit status 0")
	if err := old.b.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := old.beside(settings)
	t.Cleanup(func() {
		if err := next.b.drain(context.Background()); err != nil {
			t.Errorf("drain: %v", err)
		}
	})
	if _, err := next.use("bash_output", `{"id":"bg-1"}`); sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), "bg-1: echo up; sleep 600, bg-2: echo up; until [ -e $HOME/let-it-end ]; do sleep 0.05; done;... (which had ended before: exit status 3; 5 bytes that it printed were not read); start one again") {
		t.Errorf("got %v", err)
	}
	if _, err := next.use("bash_output", `{}`); sdk.OutcomeOf(err) != sdk.NotFound || strings.Contains(err.Error(), "bg-1") {
		t.Errorf("got %v", err)
	}
}
