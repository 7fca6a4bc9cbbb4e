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
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// keeper is a spec whose processes keep something for each run, and write down
// which they give up.
func keeper(t testing.TB, mark string) (s inspect.Spec, marks string) {
	t.Helper()
	s = named(mark)
	marks = filepath.Join(t.TempDir(), "marks")
	s.Env["FAULT_KEEPS"], s.Env["FAULT_MARKS"] = "1", marks
	return s, marks
}

// again is the same spec for another process.
func again(s inspect.Spec, mark string) inspect.Spec {
	env := map[string]string{}
	for k, v := range s.Env {
		env[k] = v
	}
	env["MARK"], s.Env = mark, env
	return s
}

func lines(t testing.TB, file, prefix string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, prefix) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// serves is the process that answers a call of a run.
func (r *rig) serves(ctx context.Context, run string) (int, error) {
	res, err := r.Invoke(ctx, sdk.Invocation{Tool: "about", Arguments: []byte(`{}`), Run: run, RunDir: "/runs/" + run}, newOut())
	if err != nil {
		return 0, err
	}
	var about struct{ PID int }
	err = json.Unmarshal(res.Structured, &about)
	return about.PID, err
}

// TestHandOver: when another process takes the place of one that keeps something for
// runs, all calls that come go there at once; the old one gives up the runs that are
// idle, and the others with the last of their calls, each once, before it ends.
func TestHandOver(t *testing.T) {
	one, marks := keeper(t, "one")
	r := started(t, nil, one)
	old := r.status(t, "fault").PID
	where := func(run string) int {
		t.Helper()
		pid, err := r.serves(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	if where("idle") != old {
		t.Fatal("another process serves")
	}
	release := r.hold(t) // of the run "run"
	if where("run") != old {
		t.Fatal("another process serves")
	}
	if a := r.replace(t, again(one, "two")); a.How != Swapped {
		t.Fatalf("%+v", a)
	}
	now := r.status(t, "fault").PID
	for _, run := range []string{"idle", "fresh", "run", ""} {
		if got := where(run); got != now {
			t.Errorf("the run %q is served by %d, want %d", run, got, now)
		}
	}
	eventually(t, "the idle run was given up", func() bool { return len(lines(t, marks, "released")) == 1 })
	if pid, err := release(); err != nil || pid != fmt.Sprint(old) {
		t.Errorf("the call under way: %s %v", pid, err)
	}
	eventually(t, "the old process is gone", func() bool { return gone(old) && len(r.Processes()) == 1 })
	want := []string{
		fmt.Sprintf("released idle /runs/idle %d", old),
		fmt.Sprintf("released run /runs/run %d", old), // hold named no folder, another call did
	}
	if got := lines(t, marks, "released"); !slices.Equal(got, want) {
		t.Errorf("given up: %q, want %q", got, want)
	}
	if got := lines(t, marks, "drained"); len(got) != 1 {
		t.Errorf("drained: %q", got)
	}
}

// TestHandOverAfterADeath: what a dead process kept is gone with it, and nobody asks it
// for anything.
func TestHandOverAfterADeath(t *testing.T) {
	one, marks := keeper(t, "one")
	r := started(t, nil, one)
	for range 3 {
		if _, err := r.serves(t.Context(), "run"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.call(t, "crash", ``); sdk.OutcomeOf(err) != sdk.PluginCrashed {
			t.Fatal(err)
		}
	}
	release := r.hold(t)
	old := r.status(t, "fault").PID
	if a := r.replace(t, again(one, "two")); a.How != Swapped {
		t.Fatalf("%+v", a)
	}
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, err := release()
	wantOutcome(t, err, sdk.PluginCrashed)
	if got := r.mark(t); got != "two" {
		t.Errorf("%q serves", got)
	}
	if got := r.status(t, "fault"); got.Restarts != 3 {
		t.Errorf("%d restarts, want 3: the new process did not crash", got.Restarts)
	}
	if got := lines(t, marks, "released"); len(got) != 0 {
		t.Errorf("a dead process gave up %q", got)
	}
	eventually(t, "one process is left", func() bool { return len(r.Processes()) == 1 })
	if strings.Contains(r.log.String(), "does not answer and is killed") {
		t.Error("a dead process was asked to end")
	}
}

// TestRunsOfAProcessAreBounded: a process that serves for long knows the runs of its last
// calls, and those with a call under way.
func TestRunsOfAProcessAreBounded(t *testing.T) {
	calls := inflight{runs: map[string]*keptRun{}}
	calls.begin("busy", "/runs/busy")
	for i := range 3 * mostKept {
		run := strconv.Itoa(i)
		calls.begin(run, "/runs/"+run)
		if calls.end(run); len(calls.runs) > mostKept {
			t.Fatalf("%d runs are known", len(calls.runs))
		}
	}
	if calls.runs["busy"] == nil || calls.runs[strconv.Itoa(3*mostKept-1)] == nil {
		t.Error("a run with a call under way, or that of the last call, is forgotten")
	}
}

// TestHandOverWaitsForCalls: a run is let go of when none of its calls is under way, and
// the link is drained when all runs are let go of.
func TestHandOverWaitsForCalls(t *testing.T) {
	calls := inflight{runs: map[string]*keptRun{}}
	for _, folder := range []string{"", "/runs/one", ""} { // completions name none
		if !calls.begin("one", folder) {
			t.Fatal("it takes no calls")
		}
	}
	if !calls.begin("", "") {
		t.Fatal("it takes no calls")
	}
	released, goOn := make(chan string), make(chan struct{})
	over := calls.drained(func(run, dir string) {
		released <- run + " " + dir
		<-goOn
	})
	if calls.begin("two", "") {
		t.Error("it takes calls beside its successor")
	}
	for range 2 {
		calls.end("one")
	}
	calls.end("")
	select {
	case got := <-released:
		t.Fatalf("%s was let go of while a call of it was under way", got)
	case <-over:
		t.Fatal("it is drained while a call is under way")
	default:
	}
	calls.end("one")
	if got := <-released; got != "one /runs/one" {
		t.Errorf("let go of: %q", got)
	}
	select {
	case <-over:
		t.Fatal("it is drained before the run is let go of")
	default:
	}
	close(goOn)
	<-over
}

// TestHandOverManyTimes: calls under way on several old processes each end where they
// began.
func TestHandOverManyTimes(t *testing.T) {
	one, marks := keeper(t, "0")
	r := started(t, nil, one)
	pids := map[string]int{}
	dir := t.TempDir()
	ended := make(chan error, 3)
	for n := range 3 {
		run := fmt.Sprint("run", n)
		pids[run] = r.status(t, "fault").PID
		o := newOut()
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			res, err := r.Invoke(ctx, sdk.Invocation{Tool: "until", Arguments: fmt.Appendf(nil, `{"path":%q}`, filepath.Join(dir, run)), Run: run}, o)
			if err == nil && res.Output != fmt.Sprint(pids[run]) {
				err = fmt.Errorf("%s ended on %s, want %d", run, res.Output, pids[run])
			}
			ended <- err
		}()
		<-o.told
		if a := r.replace(t, again(one, fmt.Sprint(n+1))); a.How != Swapped {
			t.Fatalf("%+v", a)
		}
	}
	for run := range pids {
		if err := os.WriteFile(filepath.Join(dir, run), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range pids {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	now := r.status(t, "fault").PID
	for run := range pids {
		if got, err := r.serves(t.Context(), run); err != nil || got != now {
			t.Errorf("at last %s is served by %d (%v), want %d", run, got, err, now)
		}
	}
	eventually(t, "one process is left", func() bool { return len(r.Processes()) == 1 })
	if got := lines(t, marks, "released"); len(got) != 3 {
		t.Errorf("given up: %q", got)
	}
}
