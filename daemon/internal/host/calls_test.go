package host

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

func TestInvoke(t *testing.T) {
	r := started(t, nil)
	res := r.mustCall(t, "echo", `{"n":3,"text":"hé\u0000llo"}`)
	if !res.Success || res.Output != "hé\x00llo" || res.Metadata["n"] != 3.0 {
		t.Errorf("echo answered %+v", res)
	}
	if res := r.mustCall(t, "fault__noop", ``); !res.Success {
		t.Errorf("the full name answered %+v", res)
	}
	o := newOut()
	res, err := r.Invoke(context.Background(), sdk.Invocation{Tool: "chunks", Arguments: json.RawMessage(`{"n":50,"text":"abc"}`)}, o)
	if err != nil || res.Output != "done" || string(o.chunks) != strings.Repeat("abc", 50) {
		t.Errorf("chunks answered %+v %q %v", res, o.chunks, err)
	}
}

// TestProcess: what a plugin sees of the daemon's process.
func TestProcess(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-not-for-plugins")
	t.Setenv("LC_TEST", "C")
	s := spec("fault", "")
	s.Env["OWN"] = "1"
	s.Args, s.Grants = []string{"--flag"}, append(s.Grants, sdk.GrantProject)
	r := started(t, nil, s)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := r.Invoke(ctx, sdk.Invocation{
		Tool: "about", CallID: "call-1", Run: "k", Project: "/p", RunDir: "/d",
	}, newOut())
	if err != nil {
		t.Fatal(err)
	}
	var about struct {
		Env               []string
		PID, Group, Stdin int
		Call              sdk.Invocation
		Args              []string
	}
	if err := json.Unmarshal(res.Structured, &about); err != nil {
		t.Fatal(err)
	}
	if about.PID != about.Group || about.PID != r.status(t, "fault").PID {
		t.Errorf("process %d in group %d, status says %d", about.PID, about.Group, r.status(t, "fault").PID)
	}
	if about.Stdin != 0 {
		t.Errorf("stdin had %d bytes", about.Stdin)
	}
	if c := about.Call; c.CallID != "call-1" || c.Run != "k" || c.Project != "/p" || c.RunDir != "/d" || c.Deadline.IsZero() {
		t.Errorf("the call's context is %+v", c)
	}
	if !slices.Contains(about.Env, "OWN=1") || !slices.Contains(about.Env, "LC_TEST=C") || !slices.Equal(about.Args, []string{"--flag"}) {
		t.Errorf("env %v args %v", about.Env, about.Args)
	}
	if i := slices.IndexFunc(about.Env, func(s string) bool { return strings.Contains(s, "not-for-plugins") }); i >= 0 {
		t.Errorf("the plugin sees %s", about.Env[i])
	}
	if rss := r.status(t, "fault").RSS; rss < 1<<20 {
		t.Errorf("RSS is %d", rss)
	}
}

// TestCancelledCall: a call that stops when it is told to costs nobody anything.
func TestCancelledCall(t *testing.T) {
	r := started(t, nil)
	pid := r.status(t, "fault").PID
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err := r.Invoke(ctx, sdk.Invocation{Tool: "wait"}, newOut())
	wantOutcome(t, err, sdk.Timeout)
	_, err = r.Invoke(context.Background(), sdk.Invocation{Tool: "wait", Deadline: time.Now().Add(100 * time.Millisecond)}, newOut())
	wantOutcome(t, err, sdk.Timeout)
	if now := r.status(t, "fault").PID; now != pid {
		t.Errorf("the plugin was started anew: %d, then %d", pid, now)
	}
}

// suspend stops a process and waits until it stands.
func suspend(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process stands", func() bool { return processState(pid) == "T" })
}

// TestSuspended: SIGSTOP in the middle of a call, then Stop.
func TestSuspended(t *testing.T) {
	r := started(t, func(cfg *Config) { cfg.HealthInterval, cfg.CancelGrace = time.Hour, 300*time.Millisecond })
	pid := r.status(t, "fault").PID
	suspend(t, pid)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err := r.Invoke(ctx, sdk.Invocation{Tool: "noop"}, newOut())
	wantOutcome(t, err, sdk.Timeout)
	r.mustCall(t, "noop", ``)

	pid = r.status(t, "fault").PID
	suspend(t, pid)
	r.Stop(context.Background())
	if !gone(pid) {
		t.Error("the hung plugin is still there")
	}
}

// TestOtherSDK: a plugin that is not built with ours: fields and pieces of a
// later version are skipped, and a plugin without Cancel hears of the end.
func TestOtherSDK(t *testing.T) {
	r := started(t, nil, spec("rogue", "rogue"))
	if res := r.mustCall(t, "strange", ``); res.Output != "ok" {
		t.Errorf("answered %+v", res)
	}
	pid := r.status(t, "rogue").PID
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err := r.Invoke(ctx, sdk.Invocation{Tool: "deaf"}, newOut())
	wantOutcome(t, err, sdk.Timeout)
	if r.status(t, "rogue").PID != pid {
		t.Error("the plugin was killed for a call that ended")
	}
}

// TestPanicInTool: a model gets one line of a panic, and the log its stack.
func TestPanicInTool(t *testing.T) {
	r := started(t, atLevelInfo)
	_, err := r.call(t, "panics", ``)
	wantOutcome(t, err, sdk.Internal)
	if err.Error() != "tool panics panicked: at the disco" {
		t.Error(err)
	}
	eventually(t, "the stack is in the log", func() bool { return strings.Contains(r.log.String(), "main.panics(") })
	r.mustCall(t, "noop", ``)
}

func TestRefusedArguments(t *testing.T) {
	r := started(t, nil)
	for arguments, want := range map[string]string{
		`{"n":"three"}`:                "property \"n\"",
		`{}`:                           `"n" is required`,
		`{"n":1,"m":2}`:                `"m" is not declared; declared are: n, text`,
		`{"n":1,"n":2}`:                `"n" is given twice`,
		`[1]`:                          "must be a JSON object",
		`{"n":1`:                       "no JSON",
		`{"n":1} 2`:                    "behind the JSON",
		strings.Repeat(`{"n":`, 10000): "nested deeper",
	} {
		_, err := r.call(t, "echo", arguments)
		wantOutcome(t, err, sdk.Validation)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", arguments, err, want)
		}
	}
	_, err := r.call(t, "nothing", `{}`)
	wantOutcome(t, err, sdk.NotFound)
	if !strings.Contains(err.Error(), "echo") {
		t.Errorf("the error does not name what exists: %v", err)
	}
}

func TestManifestChanges(t *testing.T) {
	r := started(t, nil)
	_, err := r.call(t, "grown", ``)
	wantOutcome(t, err, sdk.NotFound)
	r.mustCall(t, "grow", ``)
	eventually(t, "the new tool is there", func() bool {
		return slices.ContainsFunc(r.Tools(), func(x sdk.Tool) bool { return x.Name == "grown" })
	})
	r.mustCall(t, "grown", ``)
}

// TestAgreedBinary: a call that a person agreed to reaches the binary that it was
// agreed for and no other, also when that is replaced at the last moment.
func TestAgreedBinary(t *testing.T) {
	s := spec("fault", "")
	s.Path = copyOf(t, 0o755)
	r := started(t, nil, s)
	agreed := r.Tools()[0].Digest
	call := func(digest string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := r.Invoke(ctx, sdk.Invocation{Tool: "about", Arguments: json.RawMessage(`{}`), Run: "run", Digest: digest}, newOut())
		return err
	}
	if err := errors.Join(call(agreed), call("")); err != nil || len(agreed) != 64 {
		t.Fatalf("the binary %q: %v", agreed, err)
	}
	other := copyOf(t, 0o755)
	if err := errors.Join(appendTo(other, "\n"), os.Rename(other, s.Path)); err != nil {
		t.Fatal(err)
	}
	if a := r.replace(t, s); !a.Switched() {
		t.Fatalf("%+v", a)
	}
	if err := call(agreed); sdk.OutcomeOf(err) != sdk.Again {
		t.Errorf("another binary got the call: %v", err)
	}
	now := r.Tools()[0].Digest
	if err := call(now); err != nil || now == agreed {
		t.Errorf("the binary %s, before %s: %v", now, agreed, err)
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
