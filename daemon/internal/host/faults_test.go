package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// TestFaults is all that plugins do wrong, by the rows of the catalogue of faults.
// What each must come to is its own business and the operator's: the neighbours
// of the plugin never notice, and the daemon goes on. Row 16, a plugin at the
// daemon's own socket, is TestPluginAtTheSocket of package daemon.
func TestFaults(t *testing.T) {
	for _, row := range []struct {
		name string
		test func(*testing.T)
	}{
		{"01 exits in a call", crashInCall},
		{"01 killed with calls under way", killedInCall},
		{"01 repeated once at most", repeatedOnce},
		{"01 02 08 11 what is said", whatIsSaid},
		{"02 crash loop", crashLoop},
		{"03 a call ignores its end", hangingCall},
		{"03 stopped", stopped},
		{"04 ignores every signal", stubborn},
		{"05 06 07 13 14 does not start", failedStart},
		{"07 slow start", slowStart},
		{"08 noise on standard output", noise},
		{"09 flood on standard error", flood},
		{"10 eats memory", hog},
		{"10 opens files", openFiles},
		{"11 huge reply", hugeReply},
		{"12 grandchild holds the pipes", grandchildHolds},
		{"12 death seen with pipes held", seenWithPipesHeld},
		{"13 binary replaced", replacedBinary},
		{"12 a session of its own", ownSession},
		{"15 socket deleted", socketDeleted},
		{"17 daemon killed", hostKilled},
	} {
		t.Run(row.name, row.test)
	}
}

// crashInCall (1): a plugin that exits in the middle of a call.
func crashInCall(t *testing.T) {
	r := started(t, nil)
	_, err := r.call(t, "crash", ``)
	wantOutcome(t, err, sdk.PluginCrashed)
	if !strings.Contains(err.Error(), "exit status 5") || !strings.Contains(err.Error(), "giving up the ghost") {
		t.Errorf("the error does not say how it died: %v", err)
	}
	r.mustCall(t, "noop", ``)
	if n := r.status(t, "fault").Restarts; n != 1 {
		t.Errorf("%d restarts", n)
	}
}

// whatIsSaid: who called a plugin that does something wrong reads what it was.
func whatIsSaid(t *testing.T) {
	r := started(t, func(cfg *Config) { cfg.CancelGrace = 200 * time.Millisecond })
	for _, c := range []struct{ tool, arguments, want string }{
		{"panics", ``, `tool panics panicked: at the disco`},
		{"panics_aside", ``, `the plugin crashed: it ended with exit status 2; its last words: "panic: boom in a goroutine\n\ngoroutine `},
		{"leaves", ``, "the plugin crashed: it ended with exit status 0"},
		{"big", `{"n":50000000}`, "a message of the plugin is too large and was refused: one may have 16 MiB; its author answers with a part and says how to get the rest, "},
		{"chunks", `{"n":50,"text":"` + strings.Repeat("x", 1<<20) + `"}`, ""},
	} {
		_, err := r.call(t, c.tool, c.arguments)
		if text := fmt.Sprint(err); err == nil && c.want != "" || err != nil && !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: %.300s", c.tool, text)
		}
	}
	// A call that is deaf to its end costs those beside it their process too.
	beside := make(chan error, 1)
	o := newOut()
	go func() {
		_, err := r.Invoke(t.Context(), sdk.Invocation{Tool: "wait"}, o)
		beside <- err
	}()
	<-o.told
	ctx, cancel := context.WithCancel(t.Context())
	deaf := newOut()
	go func() { <-deaf.told; cancel() }()
	_, err := r.Invoke(ctx, sdk.Invocation{Tool: "hang"}, deaf)
	wantOutcome(t, err, sdk.Aborted)
	if err := <-beside; !strings.HasPrefix(err.Error(), "the plugin was ended: a call did not end within 200ms of its cancellation; where it stood is in ") {
		t.Error(err)
	}
}

// killedInCall: kill -9 from outside, several calls in flight.
func killedInCall(t *testing.T) {
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
	for range cap(errs) {
		wantOutcome(t, <-errs, sdk.PluginCrashed)
	}
	r.mustCall(t, "noop", ``)
}

// repeatedOnce: only a pinned plugin's idempotent calls are tried again.
func repeatedOnce(t *testing.T) {
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

// hangingCall (3, 4): a call that ignores its deadline, or its cancellation.
func hangingCall(t *testing.T) {
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
			eventually(t, "the process is gone", func() bool { return gone(pid) })
			r.mustCall(t, "noop", ``)
		})
	}
}

// crashLoop (2): a plugin that keeps crashing is given up, and says so.
func crashLoop(t *testing.T) {
	told := make(chan inspect.Diagnostic, 1000) // more than it takes: the host waits for who is told
	r := newRig(t, func(cfg *Config) { cfg.Diagnose = func(d inspect.Diagnostic) { told <- d } })
	r.start(context.Background(), []inspect.Spec{spec("loop", "dies"), spec("fault", "")})
	eventually(t, "it is broken", func() bool { return r.status(t, "loop").State == Broken })
	st := r.status(t, "loop")
	if st.Restarts != tooMany-1 || !strings.Contains(st.Error, "crashed 5 times") || !strings.Contains(st.Error, "exit status 4") {
		t.Errorf("status %+v", st)
	}
	for d := range told {
		if strings.Contains(d.Summary, "it is broken") {
			break
		}
	}
	_, err := r.call(t, "loop__noop", ``)
	wantOutcome(t, err, sdk.Unavailable)
	for _, err := range []error{err, r.Missing("loop__noop"), r.Missing("another")} {
		if text := err.Error(); !strings.Contains(text, "loop") || !strings.Contains(text, "it crashed 5 times") || !strings.Contains(text, "exit status 4") {
			t.Errorf("%q does not say that it is broken, and why", text)
		}
	}
	r.mustCall(t, "fault__noop", ``)
}

// stopped (3): a plugin that stands still, as after SIGSTOP, is found by its
// heartbeats and killed. The call under way ends, and
// what it is told names the file that shows where the plugin stood.
func stopped(t *testing.T) {
	r := started(t, nil)
	pid := r.status(t, "fault").PID
	errs := make(chan error, 1)
	o := newOut()
	go func() {
		_, err := r.Invoke(context.Background(), sdk.Invocation{Tool: "wait"}, o)
		errs <- err
	}()
	<-o.told
	suspend(t, pid)
	err := <-errs
	wantOutcome(t, err, sdk.PluginCrashed)
	if !gone(pid) {
		t.Error("its process is still there")
	}
	said, file, named := strings.Cut(err.Error(), "; where it stood is in ")
	if said != "the plugin was ended: it did not answer for 3s" {
		t.Error(said)
	}
	text, readErr := os.ReadFile(file)
	if !named || readErr != nil || !strings.Contains(string(text), "goroutine ") || !strings.Contains(string(text), "main.wait(") {
		t.Errorf("%v\nshows %q: %v", err, text, readErr)
	}
	r.mustCall(t, "noop", ``)
	eventually(t, "the log names the file", func() bool { return strings.Contains(r.log.String(), file) })
	if strings.Contains(r.log.String(), "main.wait(") {
		t.Error("the stacks are in the log")
	}
}

// stubborn (4): a plugin that ignores all signals which can be ignored is killed
// when it stands still and when the daemon stops, and leaves nothing.
func stubborn(t *testing.T) {
	r := started(t, func(cfg *Config) { cfg.HealthInterval, cfg.DrainTimeout = 100*time.Millisecond, 200*time.Millisecond }, spec("fault", "stubborn"))
	pid := r.status(t, "fault").PID
	suspend(t, pid)
	eventually(t, "another process serves", func() bool {
		st := r.status(t, "fault")
		return st.State == Ready && st.PID != pid
	})
	if !gone(pid) {
		t.Error("the first one is still there")
	}
	if strings.Contains(r.log.String(), "where it stood") {
		t.Error("stacks are named that were not written")
	}
	pid = r.status(t, "fault").PID
	r.Stop(context.Background())
	if !gone(pid) {
		t.Error("the process outlived the end")
	}
}
