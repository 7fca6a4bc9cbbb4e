package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// named is a spec whose processes tell which one they are: their about shows
// the environment.
func named(mark string) inspect.Spec {
	s := spec("fault", "")
	s.Env["MARK"] = mark
	return s
}

func (r *rig) mark(t testing.TB) string {
	t.Helper()
	var about struct {
		Env []string `json:"env"`
	}
	if err := json.Unmarshal(r.mustCall(t, "about", ``).Structured, &about); err != nil {
		t.Fatal(err)
	}
	for _, e := range about.Env {
		if mark, ok := strings.CutPrefix(e, "MARK="); ok {
			return mark
		}
	}
	return ""
}

func (r *rig) replace(t testing.TB, s inspect.Spec) Replaced {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	a, err := r.swapTo(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// hold begins a call that lasts until the file is made; it answers with the
// process id of the plugin that served it.
func (r *rig) hold(t testing.TB) (release func() (string, error)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "go-on")
	o := newOut()
	type end struct {
		result sdk.ToolResult
		err    error
	}
	ended := make(chan end, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	go func() {
		defer cancel()
		res, err := r.Invoke(ctx, sdk.Invocation{Tool: "until", Arguments: json.RawMessage(fmt.Sprintf(`{"path":%q}`, path)), Run: "run"}, o)
		ended <- end{res, err}
	}()
	<-o.told
	return func() (string, error) {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		e := <-ended
		return e.result.Output, e.err
	}
}

// TestReplace: the call under way ends on the old process, the next one goes to
// the new, and the old one is known until it is gone.
func TestReplace(t *testing.T) {
	r := started(t, nil, named("one"))
	old := r.status(t, "fault").PID
	release := r.hold(t)
	if a := r.replace(t, named("two")); !a.Switched() || len(a.Diagnostics) != 0 {
		t.Fatalf("%+v", a)
	}
	if got := r.mark(t); got != "two" {
		t.Errorf("after the switch %q serves", got)
	}
	now := r.status(t, "fault").PID
	if known := r.Processes(); now == old || !slices.Contains(known, old) || !slices.Contains(known, now) {
		t.Errorf("processes %v, want %d and %d", known, old, now)
	}
	if pid, err := release(); err != nil || pid != strconv.Itoa(old) {
		t.Errorf("the call under way ended on %s: %v; want %d", pid, err, old)
	}
	eventually(t, "the old process is gone", func() bool { return gone(old) && len(r.Processes()) == 1 })
}

// TestReplaceThatFails: the old one stays, and nothing of the new one is left.
func TestReplaceThatFails(t *testing.T) {
	var said atomic.Int32
	r := started(t, func(c *Config) { c.Diagnose = func(inspect.Diagnostic) { said.Add(1) } }, named("one"))
	old := r.status(t, "fault").PID
	wrong := named("two")
	wrong.Body, wrong.Eval = body(t, "no_such = 1\n"), nil
	missing := named("three")
	missing.Path = "/nowhere/plugin"
	crooked := spec("fault", "exit")
	for _, s := range []inspect.Spec{wrong, missing, crooked} {
		a := r.replace(t, s)
		if a.Switched() || len(a.Diagnostics) == 0 {
			t.Errorf("%+v", a)
		}
		if st := r.status(t, "fault"); r.mark(t) != "one" || st.PID != old || st.State != Ready || !strings.HasPrefix(st.Error, "it goes on with the block that it had: ") || st.Path != faultBinary {
			t.Errorf("the old one does not serve as before: %+v", st)
		}
	}
	if n := len(r.Processes()); n != 1 || said.Load() != 4 { // three mistakes, and once that it keeps running
		t.Errorf("%d processes, %d diagnostics", n, said.Load())
	}
	// When it crashes, it comes back as it was.
	if _, err := r.call(t, "crash", ``); sdk.OutcomeOf(err) != sdk.PluginCrashed {
		t.Fatal(err)
	}
	if got := r.mark(t); got != "one" {
		t.Errorf("after a crash %q serves", got)
	}
}

// TestListSaysWhatKeepsIt: a plugin that serves and could not be started again is
// ready, and says so.
func TestListSaysWhatKeepsIt(t *testing.T) {
	s := spec("fault", "")
	s.Path = copyOf(t, 0o755)
	r := started(t, nil, s)
	for mode, says := range map[os.FileMode]string{0o644: "is not executable", 0o777: "can be changed by everybody", 0: "permission denied", 0o755: ""} {
		if err := os.Chmod(s.Path, mode); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 && mode == 0 {
			says = "is not executable"
		}
		if st := r.status(t, "fault"); st.State != Ready || !strings.Contains(st.Error, says) || (says == "") != (st.Error == "") {
			t.Errorf("%v: %s %q", mode, st.State, st.Error)
		}
	}
	if err := os.Remove(s.Path); err != nil {
		t.Fatal(err)
	}
	if st := r.status(t, "fault"); st.State != Ready || !strings.Contains(st.Error, "could not be started again: its binary is missing") {
		t.Errorf("%s %q", st.State, st.Error)
	}
}

// TestListReadsNothing: of a file that looks as it did at the start no digest is worked out
// for a list, which would be kept.
func TestListReadsNothing(t *testing.T) {
	r := started(t, nil)
	kept := filepath.Join(r.cfg.DataDir, "plugins")
	if err := os.RemoveAll(kept); err != nil {
		t.Fatal(err)
	}
	if st := r.status(t, "fault"); st.State != Ready || st.Error != "" {
		t.Errorf("%s %q", st.State, st.Error)
	}
	if _, err := os.Stat(kept); err == nil {
		t.Error("it was read")
	}
}

// TestReplaceOfWhatDoesNotRun: a broken plugin, and one in the middle of its
// start, begin with the new spec at once.
func TestReplaceOfWhatDoesNotRun(t *testing.T) {
	for _, mode := range []string{"version", "exit", "silent"} { // the last one is not diagnosed yet
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var mended []string
			r := newRig(t, func(c *Config) {
				c.Patience = time.Second / 2
				c.Mended = func(d inspect.Diagnostic) { mu.Lock(); mended = append(mended, d.Instance); mu.Unlock() }
			})
			r.start(context.Background(), []inspect.Spec{spec("fault", mode)})
			if mode != "silent" {
				eventually(t, "it has failed", func() bool { return r.status(t, "fault").Error != "" })
			}
			if a := r.replace(t, named("new")); !a.Switched() {
				t.Fatalf("%+v", a)
			}
			if got := r.mark(t); got != "new" {
				t.Errorf("%q serves", got)
			}
			mu.Lock()
			defer mu.Unlock()
			if mode != "silent" && !slices.Contains(mended, "fault") {
				t.Error("nobody heard that it was mended")
			}
		})
	}
}

// TestReplaceIsOvertaken: a start that hangs does not keep a newer block waiting.
func TestReplaceIsOvertaken(t *testing.T) {
	r := started(t, nil, named("one"))
	first := make(chan error, 1)
	go func() {
		_, err := r.swapTo(context.Background(), spec("fault", "silent"))
		first <- err
	}()
	eventually(t, "the one that hangs was started", func() bool { return len(r.Processes()) == 2 })
	if a := r.replace(t, named("three")); !a.Switched() {
		t.Errorf("%+v", a)
	}
	wantOutcome(t, <-first, sdk.Conflict)
	if got := r.mark(t); got != "three" {
		t.Errorf("%q serves", got)
	}
	eventually(t, "one process is left", func() bool { return len(r.Processes()) == 1 })
}

// TestRemove: the tools go at once, the call under way ends, then the process.
func TestRemove(t *testing.T) {
	var mu sync.Mutex
	var said, mended []string
	r := started(t, func(c *Config) {
		c.Diagnose = func(d inspect.Diagnostic) { mu.Lock(); said = append(said, d.Summary); mu.Unlock() }
		c.Mended = func(d inspect.Diagnostic) { mu.Lock(); mended = append(mended, d.Summary); mu.Unlock() }
	}, named("one"), spec("other", ""))
	old := r.status(t, "fault").PID
	release := r.hold(t)
	r.remove("fault")
	_, err := r.call(t, "fault__echo", `{"text":"x","n":1}`)
	wantOutcome(t, err, sdk.NotFound)
	r.mustCall(t, "echo", `{"text":"the bare name is the other's now","n":1}`)
	if !slices.Contains(r.Processes(), old) {
		t.Error("the process that still works is not known")
	}
	if pid, err := release(); err != nil || pid != strconv.Itoa(old) {
		t.Errorf("the call under way: %s %v", pid, err)
	}
	eventually(t, "its process is gone", func() bool { return gone(old) })
	r.remove("fault") // a second time
	_, err = r.swapTo(context.Background(), named("late"))
	wantOutcome(t, err, sdk.NotFound)
	clashes := func(list *[]string) int {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, text := range *list {
			if strings.Contains(text, `"echo" is also one of plugin`) {
				n++
			}
		}
		return n
	}
	if clashes(&mended) != 1 {
		t.Errorf("the names clash no more, and nobody heard: %q", mended)
	}
	r.start(context.Background(), []inspect.Spec{named("again")})
	if clashes(&said) != 2 {
		t.Errorf("it is not told again that the names clash: %q", said)
	}
	if st := r.status(t, "fault"); st.State != Ready {
		t.Errorf("started again: %+v", st)
	}
}

// TestReplaceUnderLoad: exchanges cost no call, and leave nothing behind.
func TestReplaceUnderLoad(t *testing.T) {
	const exchanges = 12
	r := started(t, nil, named("0"))
	descriptors := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0 // elsewhere than on Linux
		}
		return len(open)
	}
	before := descriptors()
	stop := make(chan struct{})
	var calls, failed atomic.Int64
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := r.call(t, "echo", `{"text":"x","n":1}`); err != nil {
					failed.Add(1)
					t.Errorf("a call failed: %v", err)
				}
				calls.Add(1)
			}
		})
	}
	for n := range exchanges {
		if a := r.replace(t, named(fmt.Sprint(n+1))); !a.Switched() {
			t.Errorf("%+v", a)
		}
	}
	close(stop)
	workers.Wait()
	t.Logf("%d calls over %d exchanges, %d failed", calls.Load(), exchanges, failed.Load())
	if got := r.mark(t); got != fmt.Sprint(exchanges) {
		t.Errorf("%q serves at last", got)
	}
	eventually(t, "one process is left", func() bool { return len(r.Processes()) == 1 })
	eventually(t, "no descriptor is left", func() bool { return descriptors() <= before+2 })
}

// TestStopDuringReplace: a daemon that stops waits for no exchange.
func TestStopDuringReplace(t *testing.T) {
	r := started(t, nil, named("one"))
	asked := make(chan error, 1)
	go func() {
		_, err := r.swapTo(context.Background(), spec("fault", "silent"))
		asked <- err
	}()
	eventually(t, "the new one was started", func() bool { return len(r.Processes()) == 2 })
	r.Stop(context.Background())
	wantOutcome(t, <-asked, sdk.Conflict)
	if left := r.Processes(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestReplaceOfTheDead: a block that is asked for as the plugin dies is the one
// with which the plugin is started again; the dead process is not asked about it.
func TestReplaceOfTheDead(t *testing.T) {
	for range 8 { // what is asked for and the death are seen in any order
		r := started(t, nil, live(t, "base_url = \"one\"\n"))
		slow := live(t, "base_url = \"never\"\n")
		slow.Env["FAULT"] = "silent"
		x, err := r.ask(slow, false)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the one that hangs was started", func() bool { return len(r.Processes()) == 2 })
		_, err = r.call(t, "crash", ``)
		wantOutcome(t, err, sdk.PluginCrashed)
		if a := r.replace(t, live(t, "base_url = \"two\"\n")); a.How != Started {
			t.Errorf("%+v", a)
		}
		if url, _, _ := r.tells(t); url != "two" {
			t.Errorf("it works with %q", url)
		}
		_, err = x.wait(t.Context())
		wantOutcome(t, err, sdk.Conflict)
		r.Stop(t.Context())
	}
}

// TestLookBesideARequest: a file that is to be looked at is, also when another
// block is asked for at the same moment.
func TestLookBesideARequest(t *testing.T) {
	r := started(t, nil)
	i, err := r.instance("fault")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		x := i.asks(spec("fault", ""), false)
		i.recheck()
		if a, err := x.wait(t.Context()); err != nil || a.How != Unchanged {
			t.Errorf("%+v %v", a, err)
		}
	}
	eventually(t, "it looked", func() bool { return !i.waiting() })
}

// waiting reports whether something is asked for that was not begun.
func (i *instance) waiting() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked != nil
}

// TestRepeatedOnWhatMayRepeat: a call that crashed its plugin is made again by the
// successor only if the call may be repeated there as well.
func TestRepeatedOnWhatMayRepeat(t *testing.T) {
	dir := t.TempDir()
	goOn := filepath.Join(dir, "go-on")
	pinned, loose := spec("fault", ""), spec("fault", "until="+goOn)
	pinned.SHA256, loose.Path = sha256Of(t, faultBinary), another(t)
	r := started(t, nil, pinned)
	x, err := r.ask(loose, false)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new one was started", func() bool { return len(r.Processes()) == 2 })
	o, ended := newOut(), make(chan error, 1)
	go func() {
		_, err := r.Invoke(t.Context(), sdk.Invocation{Tool: "crash_once", Arguments: fmt.Appendf(nil, `{"path":%q}`, filepath.Join(dir, "mark"))}, o)
		ended <- err
	}()
	<-o.told // that it is to be repeated
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, <-ended, sdk.PluginCrashed)
	if a, err := x.wait(t.Context()); err != nil || a.How != Swapped {
		t.Errorf("%+v %v", a, err)
	}
}

// TestAnAnswerThatIsThereIsTaken: also by who has no time left.
func TestAnAnswerThatIsThereIsTaken(t *testing.T) {
	over, end := context.WithCancel(context.Background())
	end()
	for range 50 { // of two channels that are ready, select takes either
		r := &request{answer: make(chan Replaced, 1)}
		r.answer <- Replaced{How: Swapped}
		if a, err := r.wait(over); err != nil || a.How != Swapped {
			t.Fatalf("%+v, %v", a, err)
		}
		dropped := &request{answer: make(chan Replaced, 1)}
		dropped.drop()
		_, err := dropped.wait(over)
		wantOutcome(t, err, sdk.Conflict)
	}
	_, err := (&request{answer: make(chan Replaced, 1)}).wait(over)
	wantOutcome(t, err, sdk.Aborted)
}
