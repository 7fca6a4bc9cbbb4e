//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// killedEnv makes the test binary a plugin that serves one call and is killed.
const killedEnv = "BOTHY_BASH_TEST_KILLED"

type killedJob struct {
	Settings sdk.Settings
	Calls    []sdk.Invocation
}

// sayer prints what comes first.
type sayer struct{}

func (sayer) Chunk(_ int, p []byte) error    { _, err := os.Stdout.Write(p); return err }
func (sayer) Progress(string, float64) error { return nil }

func killedMain(text string) {
	var job killedJob
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		panic(err)
	}
	b := newBash(hclog.NewNullLogger())
	if err := b.configure(b.stopping, job.Settings); err != nil {
		panic(err)
	}
	for _, call := range job.Calls {
		if _, err := b.tools().Invoke(b.stopping, call, sayer{}); err != nil {
			panic(err)
		}
		if _, err := os.Stdout.WriteString("returned\n"); err != nil {
			panic(err)
		}
	}
	select {}
}

// killed makes calls in a plugin of its own, which is killed when it has
// printed the line.
func (r *rig) killed(line string, calls ...sdk.Invocation) {
	r.t.Helper()
	settings := *r.b.settings
	job, err := json.Marshal(killedJob{Settings: settings, Calls: calls})
	if err != nil {
		r.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), killedEnv+"="+string(job))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	hung := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer hung.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == line {
			return
		}
	}
	r.t.Fatalf("the plugin never said %q", line)
}

func (r *rig) invocation(run, id, command string) sdk.Invocation {
	r.t.Helper()
	arguments, err := json.Marshal(arguments{Command: command})
	if err != nil {
		r.t.Fatal(err)
	}
	dir := filepath.Join(r.runDir, run)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	return sdk.Invocation{Tool: "bash", Arguments: arguments, CallID: id, Run: run, Project: r.project, RunDir: dir}
}

// again is the plugin's next process.
func (r *rig) again() {
	r.t.Helper()
	settings := *r.b.settings
	r.b = newBash(hclog.NewNullLogger())
	if err := r.b.configure(r.t.Context(), settings); err != nil {
		r.t.Fatal(err)
	}
}

// TestSettledAsInvoked: a call that was settled reads as if nothing had died.
func TestSettledAsInvoked(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	const script = "echo out; echo err >&2; mkdir .bothy; exit 3"
	first := r.invocation("a", "a-1-0", script)
	cut := r.invocation("b", "b-1-0", "echo begun; sleep 987611")
	r.killed("begun", first, cut)
	began := time.Now()
	r.again()
	settled, err := r.b.tools().Settle(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("settled %v after the start", time.Since(began).Round(time.Millisecond))
	for range 2 {
		if got, err := r.b.tools().Settle(t.Context(), cut); sdk.OutcomeOf(err) != sdk.Interrupted {
			t.Errorf("what was cut short came to %+v %v", got, err)
		}
	}
	began = time.Now()
	invoked, err := r.b.tools().Invoke(t.Context(), r.invocation("a", "a-1-1", script), &stream{chunks: map[int]string{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the next command took %v", time.Since(began).Round(time.Millisecond))
	for _, result := range []*sdk.ToolResult{&settled, &invoked} {
		delete(result.Metadata, "duration_ms")
		for _, v := range result.Metadata["violations"].([]any) {
			delete(v.(map[string]any), "kept")
		}
	}
	if !reflect.DeepEqual(settled, invoked) || settled.Outcome != "exit:3" || !strings.HasPrefix(settled.Output, "out\nerr\n") {
		t.Errorf("settled as\n%+v, invoked as\n%+v", settled, invoked)
	}
}

func TestWhatIsLeftIsTakenOverAtTheStart(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	r.killed("begun", r.invocation("a", "a-1-0", "echo begun; sleep 987612"))
	if left, busy := sandbox.Left(r.b.settings.SocketDir); !left || busy {
		t.Fatalf("left %v, busy %v", left, busy)
	}
	r.again()
	r.b.recovery.Wait()
	if r.b.manager == nil {
		t.Fatal("the sandbox was not opened")
	}
	if data, _ := exec.Command("pgrep", "-f", "sleep 987612").Output(); len(data) != 0 {
		t.Errorf("the command still runs: %s", data)
	}
}

// TestNothingIsLeft: no Podman is started to find that there is nothing to find.
func TestNothingIsLeft(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	stub := filepath.Join(t.TempDir(), "podman")
	if err := os.WriteFile(stub, []byte("#!/bin/sh\ntouch "+ran+"\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BOTHY_PODMAN", stub)
	r := newRig(t, nil)
	r.b.recovery.Wait()
	_, err := r.b.tools().Settle(t.Context(), r.invocation("a", "a-1-0", "true"))
	if sdk.OutcomeOf(err) != sdk.Interrupted {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
		t.Error("Podman was started")
	}
}

func TestSettleWithoutThePluginsMeans(t *testing.T) {
	r := newRig(t, func(s *sdk.Settings) { s.Sandbox = nil })
	_, err := r.b.tools().Settle(t.Context(), r.invocation("a", "a-1-0", "true"))
	if sdk.OutcomeOf(err) != sdk.Interrupted || !strings.Contains(err.Error(), "grants") {
		t.Errorf("got %v", err)
	}
}
