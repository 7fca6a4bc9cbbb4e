package host

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	s.Args = []string{"--flag"}
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

// Fault 1: a plugin that exits in the middle of a call.
func TestCrashInCall(t *testing.T) {
	r := started(t, nil)
	began := time.Now()
	_, err := r.call(t, "crash", ``)
	wantOutcome(t, err, sdk.PluginCrashed)
	if d := time.Since(began); d > time.Second {
		t.Errorf("the error took %v", d)
	}
	if !strings.Contains(err.Error(), "exit status 5") || !strings.Contains(err.Error(), "giving up the ghost") {
		t.Errorf("the error does not say how it died: %v", err)
	}
	r.mustCall(t, "noop", ``)
	if n := r.status(t, "fault").Restarts; n != 1 {
		t.Errorf("%d restarts", n)
	}
}

// TestKilledInCall: kill -9 from outside, several calls in flight.
func TestKilledInCall(t *testing.T) {
	r := started(t, nil)
	errs := make(chan error, 4)
	waiting := make(chan string, 100)
	for range cap(errs) {
		o := newOut()
		o.told = waiting
		go func() {
			_, err := r.Invoke(context.Background(), sdk.Invocation{Tool: "wait"}, o)
			errs <- err
		}()
	}
	for range cap(errs) {
		<-waiting
	}
	if err := syscall.Kill(r.status(t, "fault").PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range cap(errs) {
		wantOutcome(t, <-errs, sdk.PluginCrashed)
	}
	if d := time.Since(began); d > time.Second {
		t.Errorf("the errors took %v", d)
	}
	r.mustCall(t, "noop", ``)
}

// TestRepeatedOnce: only a pinned plugin's idempotent calls are tried again.
func TestRepeatedOnce(t *testing.T) {
	sum := sha256Of(t, faultBinary)
	pinned, loose := spec("pinned", ""), spec("loose", "")
	pinned.SHA256 = sum
	r := started(t, nil, pinned, loose)
	mark := filepath.Join(t.TempDir(), "mark")
	arguments, err := json.Marshal(map[string]string{"path": mark})
	if err != nil {
		t.Fatal(err)
	}
	if res := r.mustCall(t, "pinned__crash_once", string(arguments)); res.Output != "second time" || !res.Untold {
		t.Errorf("answered %+v", res)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	_, err = r.call(t, "loose__crash_once", string(arguments))
	wantOutcome(t, err, sdk.PluginCrashed)
	_, err = r.call(t, "pinned__crash", ``)
	wantOutcome(t, err, sdk.PluginCrashed)
}

// Faults 3 and 4: a call that ignores its deadline, or its cancellation.
func TestHangingCall(t *testing.T) {
	for _, c := range []struct {
		name string
		want sdk.Outcome
		make func() (context.Context, context.CancelFunc)
	}{
		{"deadline", sdk.Timeout, func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 300*time.Millisecond)
		}},
		{"abort", sdk.Aborted, func() (context.Context, context.CancelFunc) {
			return context.WithCancel(context.Background())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := started(t, func(cfg *Config) { cfg.CancelGrace = 500 * time.Millisecond })
			pid := r.status(t, "fault").PID
			ctx, cancel := c.make()
			defer cancel()
			o := newOut()
			errs := make(chan error, 1)
			began := time.Now()
			go func() {
				_, err := r.Invoke(ctx, sdk.Invocation{Tool: "hang"}, o)
				errs <- err
			}()
			<-o.told
			if c.want == sdk.Aborted {
				cancel()
			}
			err := <-errs
			wantOutcome(t, err, c.want)
			if !strings.Contains(err.Error(), "killed") {
				t.Errorf("the error does not say that it was killed: %v", err)
			}
			if d := time.Since(began); d > 3*time.Second {
				t.Errorf("it took %v", d)
			}
			eventually(t, "the process is gone", func() bool { return gone(pid) })
			r.mustCall(t, "noop", ``)
		})
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
	began := time.Now()
	r.Stop(context.Background())
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("Stop of a hung plugin took %v", d)
	}
	if !gone(pid) {
		t.Error("the hung plugin is still there")
	}
}

// TestHeartbeat: a plugin that hangs between calls is found and replaced.
func TestHeartbeat(t *testing.T) {
	r := started(t, func(cfg *Config) { cfg.HealthInterval = 100 * time.Millisecond })
	pid := r.status(t, "fault").PID
	suspend(t, pid)
	eventually(t, "another process serves", func() bool {
		st := r.status(t, "fault")
		return st.State == Ready && st.PID != pid
	})
}

// Fault 15: the plugin's socket is deleted under it.
func TestSocketDeleted(t *testing.T) {
	r := started(t, func(cfg *Config) { cfg.HealthInterval = 100 * time.Millisecond })
	pid := r.status(t, "fault").PID
	if res := r.mustCall(t, "unlink", ``); res.Output == "" {
		t.Fatal("nothing was deleted")
	}
	eventually(t, "another process serves", func() bool {
		st := r.status(t, "fault")
		return st.State == Ready && st.PID != pid
	})
}

// Fault 12: a grandchild holds the pipes of a plugin that died.
func TestGrandchild(t *testing.T) {
	r := started(t, nil)
	mark := filepath.Join(t.TempDir(), "pid")
	began := time.Now()
	_, err := r.call(t, "grandchild", `{"path":"`+mark+`"}`)
	wantOutcome(t, err, sdk.PluginCrashed)
	if d := time.Since(began); d > time.Second {
		t.Errorf("the death was seen after %v", d)
	}
	b, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(b))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	if gone(pid) {
		t.Fatal("the grandchild does not hold the pipes any more: the test proves nothing")
	}
	r.mustCall(t, "noop", ``)
}

// Fault 8: noise on the real standard output, far beyond a pipe's buffer.
func TestNoise(t *testing.T) {
	r := started(t, nil)
	if res := r.mustCall(t, "noise", `{"n":1000000}`); res.Output != "1000000" {
		t.Errorf("wrote %s bytes", res.Output)
	}
	r.mustCall(t, "noop", ``)
	eventually(t, "the printed line is logged", func() bool { return strings.Contains(r.log.String(), "printed through the SDK") })
}

// Fault 9: 100 MB on standard error.
func TestFlood(t *testing.T) {
	r := started(t, nil)
	before := residentMemory(os.Getpid())
	r.mustCall(t, "flood", `{"n":100000000}`)
	if grown := residentMemory(os.Getpid()) - before; grown > 64<<20 {
		t.Errorf("the host grew by %d MB", grown>>20)
	}
	eventually(t, "the dropped lines are counted", func() bool { return strings.Contains(r.log.String(), "lines were dropped") })
	if n := len(r.log.String()); n > 4<<20 {
		t.Errorf("%d bytes were logged", n)
	}
}

// Fault 10: a plugin that eats memory dies alone.
func TestHog(t *testing.T) {
	r := started(t, func(cfg *Config) { cfg.Memory = 512 << 20 }, spec("fault", ""), spec("other", ""))
	_, err := r.call(t, "hog", `{"n":2000000000}`)
	wantOutcome(t, err, sdk.PluginCrashed)
	r.mustCall(t, "other__noop", ``)
	r.mustCall(t, "noop", ``)
}

// Fault 11: replies above the cap, from the SDK and from a plugin without it.
func TestHugeReply(t *testing.T) {
	r := started(t, nil, spec("fault", ""), spec("rogue", "rogue"))
	if res := r.mustCall(t, "big", `{"n":10000000}`); len(res.Output) != 10000000 {
		t.Errorf("%d bytes arrived", len(res.Output))
	}
	_, err := r.call(t, "big", `{"n":20000000}`)
	wantOutcome(t, err, sdk.Overflow)
	_, err = r.call(t, "huge", ``)
	wantOutcome(t, err, sdk.Overflow)
	r.mustCall(t, "noop", ``)
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

func TestPanicInTool(t *testing.T) {
	r := started(t, nil)
	_, err := r.call(t, "panics", ``)
	wantOutcome(t, err, sdk.Internal)
	if !strings.Contains(err.Error(), "at the disco") {
		t.Error(err)
	}
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
	if err := call(agreed); sdk.OutcomeOf(err) != sdk.Conflict {
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
