package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// endOrphans ends containers that Podman does not know. A service that is killed
// while it makes one leaves the process that would have become the container,
// and Podman's own beside it, which waits for it for ever.
func (m *Manager) endOrphans(ctx context.Context) {
	known, err := m.ours(ctx)
	if err != nil {
		m.logger.Warn("cannot look for containers that Podman has forgotten", "error", err)
		return
	}
	m.endUnknown(known)
}

func (m *Manager) endUnknown(known []listed) {
	for conmon, id := range m.watchers() {
		if slices.ContainsFunc(known, func(c listed) bool { return c.ID == id }) {
			continue
		}
		for _, pid := range children(conmon) {
			if args := commandLine(pid); len(args) == 0 || filepath.Base(args[0]) == "podman" {
				continue // it tidies up already
			}
			m.logger.Info("ending a container that Podman does not know", "container", id, "pid", pid)
			kill(pid) // Podman's own process then ends by itself
		}
	}
}

// kill kills a process that may have ended.
func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }

// endTree kills a process and all below it. None of them can start another while their
// children are read.
func endTree(pid int) {
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	for _, child := range children(pid) {
		endTree(child)
	}
	kill(pid)
}

// watchers are Podman's processes beside containers of this manager, with the
// containers' ids.
func (m *Manager) watchers() map[int]string {
	found := map[int]string{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		args := commandLine(pid)
		if len(args) == 0 || filepath.Base(args[0]) != "conmon" || !strings.HasPrefix(after(args, "-n"), "bothy-"+key(m.cfg.Instance)+"-") ||
			!strings.HasPrefix(after(args, "-b"), m.cfg.StateDir+"/") {
			continue
		}
		found[pid] = after(args, "-u")
	}
	return found
}

// after is the argument behind an option.
func after(args []string, option string) string {
	if i := slices.Index(args, option); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

func children(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // each thread has its own
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the thread may have ended
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
