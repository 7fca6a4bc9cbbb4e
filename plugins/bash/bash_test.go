//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// prefix is an installation with nothing but the runner, made once.
var prefix struct {
	sync.Mutex
	dir string
}

func TestMain(m *testing.M) {
	if job := os.Getenv(killedEnv); job != "" {
		killedMain(job)
	}
	code := m.Run()
	if prefix.dir != "" {
		_ = os.RemoveAll(prefix.dir)
	}
	if err := goleak.Find(); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

func installation(t *testing.T) string {
	t.Helper()
	prefix.Lock()
	defer prefix.Unlock()
	if prefix.dir == "" {
		dir, err := os.MkdirTemp("", "bp")
		if err != nil {
			t.Fatal(err)
		}
		prefix.dir = dir
		for _, name := range []string{"runner", "view"} {
			cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "libexec", "bothy", "bothy-"+name), "../../sandbox/"+name)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("build the %s: %v\n%s", name, err, out)
			}
		}
	}
	return prefix.dir
}

func needPodman(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("sandbox: needs an ordinary user, this is root")
	}
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("sandbox: podman is not installed")
	}
}

// stream collects what a call sends.
type stream struct {
	mu     sync.Mutex
	chunks map[int]string
}

func (s *stream) Chunk(channel int, p []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chunks[channel] += string(p)
	return nil
}

func (s *stream) Progress(string, float64) error { return nil }

// rig is a configured plugin with a run.
type rig struct {
	t       *testing.T
	b       *bash
	project string
	runDir  string
}

func newRig(t *testing.T, change func(*sdk.Settings)) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "b")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, b: newBash(hclog.NewNullLogger()), project: filepath.Join(dir, "project"), runDir: filepath.Join(dir, "run")}
	for _, d := range []string{r.project, r.runDir} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	settings := sdk.Settings{DataDir: filepath.Join(dir, "data"), SocketDir: filepath.Join(dir, "s"), Prefix: installation(t), Sandbox: &sdk.Sandbox{}}
	if change != nil {
		change(&settings)
	}
	if err := r.b.configure(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.b.drain(context.Background()); err != nil {
			t.Errorf("drain: %v", err)
		}
		if os.RemoveAll(dir) != nil {
			_ = exec.Command("podman", "unshare", "rm", "-rf", dir).Run()
		}
	})
	return r
}

func (r *rig) call(arguments string) (sdk.ToolResult, *stream, error) {
	r.t.Helper()
	out := &stream{chunks: make(map[int]string)}
	result, err := r.b.tools().Invoke(r.t.Context(), sdk.Invocation{
		Tool: "bash", Arguments: json.RawMessage(arguments), Run: "run-1", Project: r.project, RunDir: r.runDir,
	}, out)
	return result, out, err
}

func (r *rig) event(name string) {
	r.t.Helper()
	payload, err := json.Marshal(sdk.RunEvent{Run: sdk.Run{Key: "run-1"}, Project: r.project, RunDir: r.runDir})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.b.Event(r.t.Context(), name, payload); err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
}

func TestContract(t *testing.T) { sdktest.Tool(t, newBash(hclog.NewNullLogger()).tools()) }

func TestDeclaration(t *testing.T) {
	b := newBash(hclog.NewNullLogger())
	if err := b.tools().Err(); err != nil {
		t.Fatal(err)
	}
	spec := b.tools().Tools()[0]
	var schema struct {
		Required   []string       `json:"required"`
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(spec.Parameters, &schema); err != nil {
		t.Fatal(err)
	}
	if spec.Name != "bash" || strings.Join(schema.Required, " ") != "command" || len(schema.Properties) != 4 || spec.Annotations.ReadOnly {
		t.Fatalf("got %+v %s", spec, spec.Parameters)
	}
	for _, word := range []string{"/workspace", "no network", "read-only", "timeout_seconds"} {
		if !strings.Contains(spec.Description, word) {
			t.Errorf("the description says nothing of %s", word)
		}
	}
}

// TestTheDescriptionTellsTheLimits that are configured, and asks the daemon to
// read it again when they are others.
func TestTheDescriptionTellsTheLimits(t *testing.T) {
	b := newBash(hclog.NewNullLogger())
	for _, c := range []struct {
		sandbox sdk.Sandbox
		want    string
		changed int
	}{
		{sdk.Sandbox{}, "has 120 seconds unless timeout_seconds says otherwise; at most 600. Long output is cut after 10 MB", 0},
		{sdk.Sandbox{Timeout: sdk.Duration(90 * time.Second), MaxOutput: 512 << 10}, "has 90 seconds unless timeout_seconds says otherwise; at most 600. Long output is cut after 0.5 MB", 1},
	} {
		if err := b.configure(t.Context(), sdk.Settings{DataDir: t.TempDir(), SocketDir: t.TempDir(), Sandbox: &c.sandbox}); err != nil {
			t.Fatal(err)
		}
		if got := b.tools().Tools()[0].Description; !strings.Contains(got, c.want) || len(b.changed) != c.changed {
			t.Errorf("told %d times of\n%s", len(b.changed), got)
		}
	}
}

// TestTheSandboxHasTheSameLimits as package sdk says, which it may not import.
func TestTheSandboxHasTheSameLimits(t *testing.T) {
	if sandbox.DefaultTimeout != sdk.CommandTime || sandbox.MaxTimeout != sdk.MaxCommandTime ||
		sandbox.DefaultStdoutCap != sdk.CommandOutput || sandbox.DefaultStderrCap != sdk.CommandErrors {
		t.Error("sandbox and sdk differ")
	}
}

func TestCommandInTheSandbox(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	got, out, err := r.call(`{"command":"id -u; touch /x; echo hi > /workspace/a; echo err >&2; exit 3"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got.Success || got.Error != "exit status 3" || got.Outcome != "exit:3" || got.Truncated || got.Metadata["exit_code"] != 3 ||
		got.Metadata["stdout"] != "1000\n" || got.Output != "1000\n"+got.Metadata["stderr"].(string) || !strings.HasSuffix(got.Output, "err\n") {
		t.Fatalf("got %+v", got)
	}
	if _, ok := got.Metadata["duration_ms"].(int64); !ok {
		t.Errorf("duration_ms: %v", got.Metadata["duration_ms"])
	}
	if out.chunks[1] != "1000\n" || out.chunks[2] != got.Metadata["stderr"] {
		t.Errorf("streamed %v", out.chunks)
	}
	if data, err := os.ReadFile(filepath.Join(r.project, "a")); err != nil || string(data) != "hi\n" {
		t.Errorf("a: %q %v", data, err)
	}

	got, _, err = r.call(`{"command":"pwd","dir":"/tmp"}`)
	if err != nil || !got.Success || got.Output != "/tmp\n" {
		t.Errorf("got %+v %v", got, err)
	}
	got, _, err = r.call(`{"command":"sleep 60 & sleep 60","timeout_seconds":0.3}`)
	if err != nil || got.Success || got.Error != "timed out after 300ms" || got.Outcome != sdk.Timeout || got.Metadata["timed_out"] != true {
		t.Errorf("got %+v %v", got, err)
	}
	got, _, err = r.call(`{"command":"mkdir .bothy"}`)
	if err != nil || got.Success || got.Outcome != sdk.Permission || !strings.Contains(got.Output, "what the command made of .bothy was not applied") {
		t.Errorf("got %+v %v", got, err)
	}
}

func TestBadArguments(t *testing.T) {
	r := newRig(t, nil)
	for arguments, want := range map[string]string{
		`{"command":"  "}`:                         "command is empty",
		`{"command":"true","timeout_seconds":601}`: "up to 600",
		`{"command":"true","timeout_seconds":-1}`:  "up to 600",
		`{"command":"true","chat_id":"other"}`:     "chat_id",
		`{"command":1}`:                            "arguments of bash",
	} {
		_, _, err := r.call(arguments)
		if sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", arguments, err)
		}
	}
	if r.b.manager != nil {
		t.Error("a refused call opened the sandbox")
	}
}

func TestEveryCallSaysThatPodmanIsMissing(t *testing.T) {
	stub := filepath.Join(t.TempDir(), "podman")
	if err := os.WriteFile(stub, []byte("#!/bin/sh\necho podman version 3.0.1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BOTHY_PODMAN", stub)
	want := "too old"
	if os.Geteuid() == 0 {
		want = "ordinary user"
	}
	r := newRig(t, nil)
	for range 2 {
		_, _, err := r.call(`{"command":"touch /tmp/never-on-the-host"}`)
		if sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), want) {
			t.Fatalf("got %v", err)
		}
	}
	if err := r.b.health(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("health: %v", err)
	}
	if _, err := os.Stat("/tmp/never-on-the-host"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it was run on the host")
	}
}

func TestEndedCallsSayWhatHappened(t *testing.T) {
	for cause, want := range map[error]sdk.Outcome{context.Canceled: sdk.Aborted, context.DeadlineExceeded: sdk.Timeout} {
		err := classified(cause)
		if sdk.OutcomeOf(err) != want || !errors.Is(err, cause) || strings.HasPrefix(err.Error(), "context") {
			t.Errorf("%v became %s: %v", cause, sdk.OutcomeOf(err), err)
		}
	}
}

func TestWithoutTheGrant(t *testing.T) {
	r := newRig(t, func(s *sdk.Settings) { s.Sandbox = nil })
	_, _, err := r.call(`{"command":"true"}`)
	if sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), "grants") {
		t.Fatalf("got %v", err)
	}
}

func TestSettingsReachTheContainer(t *testing.T) {
	needPodman(t)
	r := newRig(t, func(s *sdk.Settings) {
		s.Sandbox = &sdk.Sandbox{Pids: 77, MaxOutput: 10, Timeout: sdk.Duration(700 * time.Millisecond)}
	})
	got, _, err := r.call(`{"command":"ulimit -u; echo 0123456789; sleep 60"}`)
	if err != nil || got.Output != "77\n0123456\n[4 more bytes of stdout were dropped]\n" || !got.Truncated || got.Error != "timed out after 700ms" {
		t.Fatalf("got %+v %v", got, err)
	}
}

func TestEventsDropTheContainer(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	mark := func(want string) {
		t.Helper()
		got, _, err := r.call(`{"command":"ls /tmp/mark ~/mark 2>/dev/null; touch /tmp/mark ~/mark"}`)
		if err != nil || !got.Success || strings.TrimSpace(got.Output) != want {
			t.Fatalf("got %q %v, want %q", got.Output, err, want)
		}
	}
	r.event(runReset)
	if r.b.manager != nil {
		t.Error("a run without a container started Podman")
	}
	mark("")
	mark("/home/bothy/mark\n/tmp/mark")
	r.event(runExpired)
	mark("/home/bothy/mark")
	r.event(runReset)
	mark("")
	r.event(runDeleted)
	if used(sandbox.RunSpec{RunDir: r.runDir}) {
		t.Error("the home of a deleted run is there")
	}
}

func TestInterruptedCommandIsLookedAtAtOnce(t *testing.T) {
	t.Setenv("BOTHY_PODMAN", "/nonexistent")
	data, project := t.TempDir(), t.TempDir()
	run := filepath.Join(data, "runs", "r")
	for _, dir := range []string{run, filepath.Join(project, ".bothy"), filepath.Join(data, "runs", "other")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	note := `{"project":"` + project + `","watch":[{"path":".bothy","before":{"kind":"absent","at":".bothy"}}]}`
	if err := os.WriteFile(filepath.Join(run, "command.json"), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(s *sdk.Settings) { s.DataDir = data })
	r.b.recovery.Wait()
	if _, err := os.Lstat(filepath.Join(project, ".bothy")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the planted folder is there: %v", err)
	}
	if left := interrupted(data); len(left) != 0 {
		t.Fatalf("still noted: %v", left)
	}
}

func TestDrainEndsTheSandbox(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	if _, _, err := r.call(`{"command":"true"}`); err != nil {
		t.Fatal(err)
	}
	if err := r.b.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.call(`{"command":"true"}`); sdk.OutcomeOf(err) != sdk.Unavailable {
		t.Fatalf("got %v", err)
	}
}

func TestCheckCommand(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if _, done := check([]string{"describe"}, &stdout, &stderr); done {
		t.Fatal("another command was taken for check")
	}
	for _, args := range [][]string{{"check"}, {"check", "nonsense"}} {
		if code, done := check(args, &stdout, &stderr); !done || code != 2 {
			t.Errorf("%v: %d %v", args, code, done)
		}
	}
	dir := t.TempDir()
	settings, err := json.Marshal(sdk.Settings{DataDir: dir, SocketDir: filepath.Join("/tmp", "no-such-dir-"+filepath.Base(dir)), Prefix: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Join("/tmp", "no-such-dir-"+filepath.Base(dir))) })
	t.Setenv("BOTHY_PODMAN", "/nonexistent")
	code, done := check([]string{"check", string(settings)}, &stdout, &stderr)
	var findings []sandbox.Finding
	if err := json.Unmarshal(stdout.Bytes(), &findings); err != nil || !done || code != 1 || len(findings) == 0 {
		t.Fatalf("got %d %s %v", code, stdout.String(), err)
	}
}
