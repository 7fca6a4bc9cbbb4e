package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// pid is that of the process beside the daemon.
func (r *reaper) pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cmd.Process.Pid
}

// TestReaperKilled: one that is killed gets a successor as soon as there is
// something to say, and an orderly stop leaves none.
func TestReaperKilled(t *testing.T) {
	r := started(t, func(cfg *Config) { cfg.Shim = shimBinary() })
	first := r.reaper.pid()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first is gone with all its threads, which hold the pipe", func() bool {
		threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", first)) // none when it is gone
		return gone(first) && len(threads) <= 1
	})
	if _, err := r.call(t, "crash", ``); err == nil {
		t.Fatal("no crash")
	}
	r.mustCall(t, "noop", ``)
	second := r.reaper.pid()
	if second == first || gone(second) {
		t.Errorf("no successor of %d: %d", first, second)
	}
	r.Stop(t.Context())
	if !gone(second) {
		t.Error("it outlived an orderly stop")
	}
}

// TestNoReaper: without one the plugins run all the same, and the log warns.
func TestNoReaper(t *testing.T) {
	r := started(t, func(cfg *Config) { cfg.Shim = filepath.Join(t.TempDir(), "absent") })
	r.mustCall(t, "noop", ``)
	if log := r.log.String(); !strings.Contains(log, "may stay behind") || !strings.Contains(log, "repair the installation") {
		t.Errorf("the log says %s", log)
	}
}
