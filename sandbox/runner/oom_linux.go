package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// oomPreference is added to a command's score, so that the kernel ends it and
// not the runner when the memory limit is reached.
const oomPreference = "500"

// preferOOM makes a process the kernel's first choice; its children inherit
// that. It is best effort: where /proc refuses, the kernel's own order holds.
func preferOOM(pid int) {
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(oomPreference), 0)
}

// oomCounter tells whether the kernel killed something for the memory limit
// while a command ran. Podman's own flag for it is wrong when a child is killed.
type oomCounter struct {
	// events is where the container's control group is seen.
	events string
	before int64
}

func newOOMCounter() *oomCounter { return &oomCounter{events: "/sys/fs/cgroup"} }

// begin is before a command, and killed after it.
func (c *oomCounter) begin() { c.before = c.kills() }

// killed says whether something was. On cgroup v1 the group may be one that
// others are in, for Podman makes none there: only a command that ended by
// SIGKILL is told to have been the one.
func (c *oomCounter) killed(ended bool) bool {
	if c.kills() <= c.before {
		return false
	}
	_, err := os.Stat(filepath.Join(c.events, "memory.events"))
	return err == nil || ended
}

func (c *oomCounter) kills() int64 {
	for _, name := range []string{"memory.events", "memory/memory.oom_control"} {
		if events, err := os.ReadFile(filepath.Join(c.events, name)); err == nil {
			return parseOOMKills(events)
		}
	}
	return 0
}

// parseOOMKills reads the oom_kill counter of cgroup v2's memory.events, or of
// v1's memory.oom_control.
func parseOOMKills(events []byte) int64 {
	for line := range bytes.Lines(events) {
		name, count, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if ok && string(name) == "oom_kill" {
			n, err := strconv.ParseInt(string(count), 10, 64)
			if err == nil {
				return n
			}
		}
	}
	return 0
}
