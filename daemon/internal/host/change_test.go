package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// live is a spec with a block, whose process may be configured again.
func live(t testing.TB, block string) inspect.Spec {
	t.Helper()
	s := spec("fault", "")
	s.Env["FAULT_LIVE"] = "1"
	s.Body = body(t, block)
	return s
}

// tells is the configuration that the process works with, and its id.
func (r *rig) tells(t testing.TB) (url, key string, pid int) {
	t.Helper()
	var about struct {
		PID    int `json:"pid"`
		Config struct{ BaseURL, Key string }
	}
	if err := json.Unmarshal(r.mustCall(t, "about", ``).Structured, &about); err != nil {
		t.Fatal(err)
	}
	return about.Config.BaseURL, about.Config.Key, about.PID
}

// TestReconfigure: a changed block alone reaches the process that runs, one that
// is the same reaches nobody, and a call under way notices neither.
func TestReconfigure(t *testing.T) {
	r := started(t, nil, live(t, "base_url = \"one\"\nkey = \"k\"\n"))
	_, _, pid := r.tells(t)
	release := r.hold(t)
	moved := live(t, "# a remark\nkey = \"k\"\nbase_url = \"one\"\n")
	moved.Source.Start.Line = 7
	if a := r.replace(t, moved); a.How != Unchanged || a.Generation != 1 {
		t.Errorf("the same settings: %+v", a)
	}
	a := r.replace(t, live(t, "base_url = \"two\"\n"))
	if a.How != Reconfigured || a.Generation != 2 || len(a.Diagnostics) != 0 || len(a.Digest) != 64 {
		t.Errorf("other settings: %+v", a)
	}
	if url, key, now := r.tells(t); url != "two" || key != "" || now != pid {
		t.Errorf("process %d works with %q and %q, want %d with \"two\"", now, url, key, pid)
	}
	if digest, generation := r.serving("fault"); digest != a.Digest || generation != 2 {
		t.Errorf("serving %s %d", digest, generation)
	}
	if served, err := release(); err != nil || served != fmt.Sprint(pid) {
		t.Errorf("the call under way: %s %v", served, err)
	}
	other := live(t, "base_url = \"two\"\n")
	other.Env["MORE"] = "1"
	if a := r.replace(t, other); a.How != Swapped || a.Generation != 3 {
		t.Errorf("another environment: %+v", a)
	}
	if _, _, now := r.tells(t); now == pid {
		t.Error("the environment of a process changed")
	}
}

// TestWithoutTheFeature: a plugin that does not say that it may be configured
// again is started anew.
func TestWithoutTheFeature(t *testing.T) {
	one, two := live(t, "base_url = \"one\"\n"), live(t, "base_url = \"two\"\n")
	delete(one.Env, "FAULT_LIVE")
	delete(two.Env, "FAULT_LIVE")
	r := started(t, nil, one)
	if a := r.replace(t, two); a.How != Swapped {
		t.Errorf("%+v", a)
	}
	if url, _, _ := r.tells(t); url != "two" {
		t.Errorf("it works with %q", url)
	}
}

// TestReconfigureRefused: the settings that were in force stay so, in the process
// too, and after a crash.
func TestReconfigureRefused(t *testing.T) {
	r := started(t, nil, live(t, "base_url = \"one\"\n"))
	_, _, pid := r.tells(t)
	for block, want := range map[string]string{
		"base_url = \"two\"\nrefuse = \"no such server\"\n": "no such server",
		"base_url = 2\n": "base_url",
		"nothing = 2\n":  "nothing",
	} {
		a := r.replace(t, live(t, block))
		if a.How != Kept || a.Generation != 1 || len(a.Diagnostics) != 1 || !strings.Contains(a.Diagnostics[0].Error(), want) {
			t.Errorf("%s: %+v", block, a)
		}
		if url, _, now := r.tells(t); url != "one" || now != pid {
			t.Errorf("after a refusal process %d works with %q", now, url)
		}
	}
	if _, err := r.call(t, "crash", ``); sdk.OutcomeOf(err) != sdk.PluginCrashed {
		t.Fatal(err)
	}
	if url, _, _ := r.tells(t); url != "one" {
		t.Errorf("after a crash it works with %q", url)
	}
}

// TestReconfigureUnanswered: of a process that hangs or dies over its settings
// nobody knows what it took, so it does not go on; the old settings do.
func TestReconfigureUnanswered(t *testing.T) {
	for _, how := range []string{"hang", "die"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := started(t, func(c *Config) { c.ConfigureTimeout = time.Second }, live(t, "base_url = \"one\"\n"))
			_, _, pid := r.tells(t)
			a := r.replace(t, live(t, fmt.Sprintf("base_url = \"two\"\nrefuse = %q\n", how)))
			if a.How != Kept || len(a.Diagnostics) != 1 {
				t.Errorf("%+v", a)
			}
			if url, _, now := r.tells(t); url != "one" || now == pid {
				t.Errorf("process %d works with %q", now, url)
			}
		})
	}
}

// TestStopDuringReconfigure: a plugin that is being given its settings when the
// daemon stops is drained like any other.
func TestStopDuringReconfigure(t *testing.T) {
	marks := filepath.Join(t.TempDir(), "marks")
	if err := os.WriteFile(marks, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	marked := func(block string) inspect.Spec {
		s := live(t, block)
		s.Env["FAULT_MARKS"], s.Env["FAULT_KEEPS"] = marks, "1"
		return s
	}
	r := started(t, nil, marked("base_url = \"one\"\n"))
	asked := make(chan error, 1)
	go func() {
		_, err := r.swapTo(context.Background(), marked("base_url = \"two\"\nrefuse = \"hang\"\n"))
		asked <- err
	}()
	eventually(t, "it has its settings", func() bool { return len(lines(t, marks, "hangs")) == 1 })
	r.Stop(context.Background())
	wantOutcome(t, <-asked, sdk.Conflict)
	if got := lines(t, marks, "drained"); len(got) != 1 {
		t.Errorf("drained: %q", got)
	}
}

// TestForce: what did not change is started anew when that is asked for.
func TestForce(t *testing.T) {
	s := named("one")
	r := started(t, nil, s)
	old := r.status(t, "fault").PID
	for _, force := range []bool{false, true} {
		x, err := r.ask(s, force)
		if err != nil {
			t.Fatal(err)
		}
		a, err := x.wait(t.Context())
		if err != nil || (a.How == Swapped) != force {
			t.Errorf("force %v: %+v %v", force, a, err)
		}
		if now := r.status(t, "fault").PID; (now != old) != force {
			t.Errorf("force %v: process %d, was %d", force, now, old)
		}
	}
}

// TestReloadOfTheBroken: a plugin that was given up is tried again, and the
// answer is what came of it.
func TestReloadOfTheBroken(t *testing.T) {
	r := newRig(t, nil)
	missing := spec("fault", "")
	missing.Path = t.TempDir() + "/bothy-plugin-late"
	r.start(t.Context(), []inspect.Spec{missing})
	if a := r.replace(t, missing); a.How != Started || len(a.Diagnostics) != 1 {
		t.Errorf("%+v", a)
	}
	copyFile(t, faultBinary, missing.Path)
	if a := r.replace(t, missing); a.How != Started && a.How != Unchanged || len(a.Diagnostics) != 0 {
		t.Errorf("%+v", a)
	}
	r.mustCall(t, "noop", ``)
}

// TestUnhealthy: a new process that says that it cannot work does not take the
// place of one that can, but of one that cannot either.
func TestUnhealthy(t *testing.T) {
	r := started(t, nil, named("one"))
	ill := named("two")
	ill.Env["FAULT_ILL"] = "1"
	if a := r.replace(t, ill); a.How != Kept || !strings.Contains(a.Diagnostics[0].Detail, "it is ill") {
		t.Errorf("%+v", a)
	}
	if got := r.mark(t); got != "one" {
		t.Errorf("%q serves", got)
	}
	eventually(t, "one process is left", func() bool { return len(r.Processes()) == 1 })

	r = started(t, nil, ill)
	again := named("three")
	again.Env["FAULT_ILL"] = "1"
	if a := r.replace(t, again); a.How != Swapped {
		t.Errorf("%+v", a)
	}
}

// TestDrainLimit: a call that does not end keeps the old process for so long and
// no longer, and says why it ended.
func TestDrainLimit(t *testing.T) {
	r := started(t, func(c *Config) { c.DrainLimit = 300 * time.Millisecond }, named("one"))
	old := r.status(t, "fault").PID
	release := r.hold(t)
	if a := r.replace(t, named("two")); a.How != Swapped {
		t.Fatalf("%+v", a)
	}
	eventually(t, "the old process is gone", func() bool { return gone(old) })
	_, err := release()
	wantOutcome(t, err, sdk.PluginCrashed)
	if err == nil || !strings.Contains(err.Error(), "taken its place 300ms before") {
		t.Errorf("it does not say why: %v", err)
	}
	if got := r.mark(t); got != "two" {
		t.Errorf("%q serves", got)
	}
}

// copyFile puts a program somewhere by renaming, as an installation does.
func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to+".new", data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(to+".new", to); err != nil {
		t.Fatal(err)
	}
}
