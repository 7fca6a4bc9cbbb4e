package main

import (
	"bytes"
	"os"
	"strconv"
	"sync"
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
// since it was last asked. Only cgroup v2 counts that; elsewhere the answer is
// always no.
type oomCounter struct {
	mu   sync.Mutex
	last int64
}

func newOOMCounter() *oomCounter {
	return &oomCounter{last: oomKills()}
}

func (c *oomCounter) advanced() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := oomKills()
	more := now > c.last
	c.last = now
	return more
}

func oomKills() int64 {
	events, err := os.ReadFile("/sys/fs/cgroup/memory.events")
	if err != nil {
		return 0
	}
	return parseOOMKills(events)
}

// parseOOMKills reads the oom_kill counter of cgroup v2's memory.events.
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
