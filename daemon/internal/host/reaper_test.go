package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// watcher is the process beside the daemon that watches for its death; 0 when there is none.
func watcher() int {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range all {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it is gone
		}
		var pid, parent int
		var state string
		_, _ = fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " %1s %d", &state, &parent)
		_, _ = fmt.Sscanf(string(stat), "%d", &pid)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if parent == os.Getpid() && state != "Z" && bytes.HasSuffix(line, []byte("\x00reap\x00")) {
			return pid
		}
	}
	return 0
}

// TestReaperKilled: one that is killed gets a successor as soon as there is
// something to say, and an orderly stop leaves none.
func TestReaperKilled(t *testing.T) {
	r := started(t, func(cfg *Config) { cfg.Shim = shimBinary() })
	first := watcher()
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
	second := watcher()
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
