package host

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/process"
	"github.com/bothyd/bothy/sdk"
)

// noise (8): noise on the real standard output, far beyond a pipe's buffer, does no
// harm, and what is printed and written is in the log.
func noise(t *testing.T) {
	r := started(t, atLevelInfo)
	if res := r.mustCall(t, "noise", `{"n":1000000}`); res.Output != "1000000" {
		t.Errorf("wrote %s bytes", res.Output)
	}
	r.mustCall(t, "noop", ``)
	for _, line := range []string{"printed through the SDK", "printed past the SDK", "written to standard error"} {
		eventually(t, "the log has what was "+line, func() bool { return strings.Contains(r.log.String(), line) })
	}
}

// flood (9): 100 MB on standard error.
func flood(t *testing.T) {
	r := started(t, nil)
	before := process.Resident(os.Getpid())
	r.mustCall(t, "flood", `{"n":100000000}`)
	if grown := process.Resident(os.Getpid()) - before; grown > 64<<20 {
		t.Errorf("the host grew by %d MB", grown>>20)
	}
	eventually(t, "the dropped lines are counted", func() bool { return strings.Contains(r.log.String(), "lines were dropped") })
	if n := len(r.log.String()); n > 4<<20 {
		t.Errorf("%d bytes were logged", n)
	}
}

// hog (10): a plugin that eats memory dies alone, and who called it reads that it was
// memory, and how its own words begin.
func hog(t *testing.T) {
	few := spec("fault", "")
	few.Limits.Memory = 512 << 20
	r := started(t, nil, few, spec("other", ""))
	if st := r.status(t, "fault"); st.MemoryLimit != 512<<20 {
		t.Errorf("in force are %d bytes", st.MemoryLimit)
	}
	_, err := r.call(t, "hog", `{"n":2000000000}`)
	wantOutcome(t, err, sdk.OutOfMemory)
	if text := err.Error(); !strings.HasPrefix(text, "the plugin ran out of memory (limits { memory } is 512 MB): it ended with exit status 2; its last words: \"fatal error: ") {
		t.Error(text)
	}
	r.mustCall(t, "other__noop", ``)
	r.mustCall(t, "noop", ``)
}

// hugeReply (11): replies above the cap, from the SDK and from a plugin without it.
func hugeReply(t *testing.T) {
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

// grandchildHolds (12): a grandchild holds the pipes of a plugin that died.
func grandchildHolds(t *testing.T) {
	r := started(t, nil)
	mark := filepath.Join(t.TempDir(), "pid")
	_, err := r.call(t, "grandchild", `{"path":"`+mark+`"}`)
	wantOutcome(t, err, sdk.PluginCrashed)
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

// ownSession (12): what a plugin has started ends with it, also in a session of its
// own, when it crashes and when the daemon stops.
func ownSession(t *testing.T) {
	r := started(t, nil)
	begun := func() (pids []int) {
		for _, text := range strings.Fields(r.mustCall(t, "children", ``).Output) {
			pid, err := strconv.Atoi(text)
			if err != nil || gone(pid) {
				t.Fatalf("the process %q: %v", text, err)
			}
			pids = append(pids, pid)
		}
		return pids
	}
	pids := begun()
	_, err := r.call(t, "crash", ``)
	wantOutcome(t, err, sdk.PluginCrashed)
	pids = append(pids, begun()...)
	r.Stop(t.Context())
	if i := slices.IndexFunc(pids, func(pid int) bool { return !gone(pid) }); i >= 0 || len(pids) != 6 {
		t.Errorf("of %v there is still number %d", pids, i)
	}
}

// socketDeleted (15): the plugin's socket is deleted under it.
func socketDeleted(t *testing.T) {
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

// openFiles (10): a plugin can open no more files than its block lets it, and
// lives on. One that runs containers has no limits, and its operator is told so.
func openFiles(t *testing.T) {
	few, boxed := spec("few", ""), spec("boxed", "")
	few.Limits = config.Limits{Files: 64}
	boxed.Limits, boxed.Grants = config.Limits{Memory: 1 << 30, Files: 64}, append(boxed.Grants, sdk.GrantSandbox)
	r := newRig(t, nil)
	var told []string
	for _, d := range r.start(t.Context(), []inspect.Spec{few, boxed}) {
		if d.Instance == "boxed" && strings.Contains(d.Summary, "limits do not hold") && d.Warning() {
			told = append(told, d.Summary)
		}
	}
	if len(told) != 1 {
		t.Errorf("told %q", told)
	}
	if st := r.status(t, "few"); st.FileLimit != 64 || st.MemoryLimit != 4<<30 {
		t.Errorf("in force are %+v", st)
	}
	if st := r.status(t, "boxed"); st.FileLimit == 64 || st.MemoryLimit != 0 {
		t.Errorf("in force are %+v", st)
	}
	if _, err := r.call(t, "few__open", `{"n":100}`); err == nil || !strings.Contains(err.Error(), "too many open files") {
		t.Errorf("it opened 100 files: %v", err)
	}
	r.mustCall(t, "boxed__open", `{"n":100}`)
	r.mustCall(t, "few__noop", ``)
}

// seenWithPipesHeld (12): the death of a plugin is seen although another process
// holds its standard error and lives on. `make bench` says how soon.
func seenWithPipesHeld(t *testing.T) {
	for range 3 {
		r := started(t, nil)
		l, err := r.instanceReady("fault")
		if err != nil {
			t.Fatal(err)
		}
		held, err := strconv.Atoi(r.mustCall(t, "held", ``).Output)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(r.status(t, "fault").PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-l.alive.Done()
		if gone(held) {
			t.Error("nobody holds the pipes any more: the test proves nothing")
		}
		if err := syscall.Kill(held, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}
