package daemon

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk/rpc"
)

// leftoverTime is how long what a dead daemon left may still be there once
// another daemon answers.
const leftoverTime = 30 * time.Second

// nothingLeft looks, until the time is up, for what a dead daemon has left: a
// process that names the site and is not the daemon's, or a container whose run
// is not there.
func (s *site) nothingLeft() {
	s.t.Helper()
	var left []string
	for deadline := time.Now().Add(leftoverTime); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		if left = s.leftovers(); len(left) == 0 {
			return
		}
	}
	s.t.Errorf("%v after the daemon answered there still are:\n%s\n%s", leftoverTime, strings.Join(left, "\n"), s.evidence())
}

// containerName finds the container in the command line of its conmon.
var containerName = regexp.MustCompile(`\x00(bothy-[A-Za-z0-9_.-]+)\x00`)

func (s *site) leftovers() []string {
	table, err := processTable()
	if err != nil {
		return []string{err.Error()}
	}
	runs, err := s.client.Runs(context.Background(), rpc.RunsParams{Hidden: true, Limit: 1000})
	if err != nil {
		return []string{err.Error()}
	}
	var keys []string
	for _, r := range runs {
		keys = append(keys, r.Key)
		for _, child := range r.Children {
			keys = append(keys, child.Key)
		}
	}
	open := func(container string) bool {
		return slices.ContainsFunc(keys, func(key string) bool {
			sum := sha256.Sum256([]byte(key))
			return strings.HasSuffix(container, "-"+hex.EncodeToString(sum[:6]))
		})
	}
	var left []string
	for pid, p := range table {
		if !p.names(s.root) || pid == os.Getpid() || pid == s.pausePID() || table.descends(pid, s.daemon.cmd.Process.Pid) {
			continue
		}
		if conmon := containerName.FindSubmatch(table.conmonOf(pid).command); conmon != nil && open(string(conmon[1])) {
			continue
		}
		left = append(left, fmt.Sprintf("%d %s (parent %d)", pid, bytes.ReplaceAll(p.command, []byte{0}, []byte{' '}), p.parent))
	}
	return left
}

// pausePID is the process that keeps Podman's user namespace, 0 when there is
// none. It is Podman's and outlives whoever made it; the next daemon goes on
// with it and ends it when it stops.
func (s *site) pausePID() int {
	found, err := filepath.Glob(filepath.Join(s.root, "run/bothy/p/*/x/libpod/tmp/pause.pid"))
	if err != nil || len(found) == 0 {
		return 0
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// allGone checks that a daemon that was stopped in order has left nothing at
// all, of its own or of those before it.
func (s *site) allGone() {
	s.t.Helper()
	var left []string
	for deadline := time.Now().Add(leftoverTime); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		all, err := processTable()
		if err != nil {
			s.t.Fatal(err)
		}
		left = nil
		for pid, p := range all {
			if p.names(s.root) && pid != os.Getpid() {
				left = append(left, fmt.Sprintf("%d %s", pid, bytes.ReplaceAll(p.command, []byte{0}, []byte{' '})))
			}
		}
		if len(left) == 0 {
			return
		}
	}
	s.t.Errorf("after an orderly stop there still are:\n%s", strings.Join(left, "\n"))
}

// endRest kills what a test that failed leaves behind.
func (s *site) endRest() {
	all, err := processTable()
	if err != nil {
		s.t.Log(err)
	}
	for pid, p := range all {
		if p.names(s.root) && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

type proc struct {
	parent  int
	command []byte // arguments, each ended by a zero byte
	environ []byte
}

func (p proc) names(mark string) bool {
	return bytes.Contains(p.command, []byte(mark)) || bytes.Contains(p.environ, []byte(mark))
}

type procs map[int]proc

// processTable reads /proc, without zombies and what may not be seen.
func processTable() (procs, error) {
	all := procs{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it ended
		}
		_, rest, _ := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(" "))
		fields := bytes.Fields(rest)
		if len(fields) < 2 || string(fields[0]) == "Z" || string(fields[0]) == "X" {
			continue
		}
		p := proc{}
		p.parent, _ = strconv.Atoi(string(fields[1]))
		p.command, _ = os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		p.environ, _ = os.ReadFile(filepath.Join("/proc", e.Name(), "environ")) // of our own user's only
		all[pid] = p
	}
	return all, nil
}

func (all procs) descends(pid, from int) bool {
	for range 64 {
		if pid == from {
			return true
		}
		p, ok := all[pid]
		if !ok {
			return false
		}
		pid = p.parent
	}
	return false
}

// conmonOf is the process itself or the one above it that watches a container.
func (all procs) conmonOf(pid int) proc {
	for range 64 {
		p, ok := all[pid]
		if !ok {
			break
		}
		name, _, _ := bytes.Cut(p.command, []byte{0})
		if filepath.Base(string(name)) == "conmon" {
			return p
		}
		pid = p.parent
	}
	return proc{}
}
