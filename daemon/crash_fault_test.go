package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fault is a way in which the kernel can fail the database, in the words of
// `strace -e inject`. A short write is one that wrote nothing: strace does not
// let the call happen, so no other length would be true.
type fault struct {
	name  string
	calls string // a list of system calls
	does  string
	file  string // what the database's path is followed by
}

// stops reports whether the daemon ends by itself when a commit meets the fault
// (ADR 0073).
func (f fault) stops() bool { return f.file == "-wal" && f.does == "error=EIO" }

var faults = []fault{
	{"EIO when the log is written", "pwrite64", "error=EIO", "-wal"},
	{"no room for the log", "pwrite64", "error=ENOSPC", "-wal"},
	{"a short write of the log", "pwrite64", "retval=0", "-wal"},
	{"EIO when the log is flushed", "fsync,fdatasync", "error=EIO", "-wal"},
	{"EIO when the database is written", "pwrite64", "error=EIO", ""},
	{"no room for the database", "pwrite64", "error=ENOSPC", ""},
	{"a short write of the database", "pwrite64", "retval=0", ""},
	{"EIO when the database is flushed", "fsync,fdatasync", "error=EIO", ""},
	{"EIO in the index of the log", "pwrite64,ftruncate", "error=EIO", "-shm"},
	{"no room for the index of the log", "pwrite64,ftruncate", "error=ENOSPC", "-shm"},
}

// faultSamples is how many of the k are tried of each fault when nobody says how many.
const faultSamples = 1

// TestFaults lets the k-th system call on the database's files fail, for every
// k until a daemon that starts, takes a prompt and works it off meets no fault
// any more. strace counts for each thread, so that one k may fail several
// calls. Whatever the daemon makes of it, it says what is wrong; and with the
// disk well again the next daemon has lost nothing that was acknowledged, shows
// no part of a turn, and knows of every effect.
//
// BOTHY_FAULTS says how many of the k are drawn, or all.
func TestFaults(t *testing.T) {
	needStrace(t)
	t.Parallel()
	all := os.Getenv("BOTHY_FAULTS") == "all"
	random := seeded(t)
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			x := &faulty{site: newSite(t, withoutSandbox), fault: f}
			x.up()
			x.run(t.Context(), plan{Tag: "calm", Steps: 1, Tools: []string{"note_line"}})
			x.stop()
			if all {
				k := 1
				for ; x.survives(k) && !t.Failed(); k++ {
				}
				t.Logf("%d faults", k-1)
				return
			}
			last := x.count()
			ks := []int{1, last, last + 1000}
			for range number(t, "BOTHY_FAULTS", faultSamples) {
				ks = append(ks, 1+random.IntN(last))
			}
			slices.Sort(ks)
			t.Logf("of %d faults: %v", last, ks[:len(ks)-1])
			for _, k := range slices.Compact(ks) {
				if x.survives(k) && k > last {
					t.Errorf("call %d failed, and there are about %d", k, last)
				}
			}
		})
	}
}

// needStrace skips where processes cannot be traced.
func needStrace(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("strace", "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("sandbox: strace must be installed and allowed to trace: %v: %s", err, out)
	}
}

// faulty is a site whose disk fails.
type faulty struct {
	*site
	fault fault
	nth   int
}

// trace is the command line to run the daemon under.
func (x *faulty) trace(more ...string) []string {
	line := []string{"strace", "-f", "--seccomp-bpf", "-qq", "-o", x.report(), "-e", "trace=" + x.fault.calls, "-e", "signal=none", "-P", x.store + x.fault.file}
	return append(line, more...)
}

func (x *faulty) report() string { return filepath.Join(x.root, "strace") }

// count finds out about how many calls there are for one thread to fail.
func (x *faulty) count() int {
	x.t.Helper()
	x.traced(x.trace())
	text, err := os.ReadFile(x.report())
	if err != nil {
		x.t.Fatal(err)
	}
	calls := map[string]int{}
	most := 1
	for l := range bytes.Lines(text) {
		thread, call, _ := strings.Cut(string(l), " ")
		name, _, ok := strings.Cut(strings.TrimSpace(call), "(")
		if ok {
			calls[thread+name]++
			most = max(most, calls[thread+name])
		}
	}
	return most
}

// survives starts a daemon whose k-th call fails, gives it a prompt, kills it
// and lets another one finish. It reports whether a call failed.
func (x *faulty) survives(k int) (hit bool) {
	x.t.Helper()
	inject := fmt.Sprintf("inject=%s:%s:when=%d", x.fault.calls, x.fault.does, k)
	p, a, trouble := x.traced(x.trace("-e", inject))
	text, err := os.ReadFile(x.report())
	if err != nil {
		x.t.Fatal(err)
	}
	hit = bytes.Contains(text, []byte("(INJECTED)"))
	if trouble != nil && !hit {
		x.t.Errorf("k=%d: nothing failed, and yet: %v\n%s", k, trouble, x.evidence())
	}
	if trouble != nil && hit && !x.says(trouble) {
		x.t.Errorf("k=%d: the daemon does not say what is wrong; what came of it was: %v\n%s", k, trouble, x.evidence())
	}
	x.up()
	if a.Loop == 0 {
		a = x.run(x.t.Context(), p)
	} else {
		x.ends(p, a)
	}
	x.actions(a.ID, p.Tag+"-")
	x.acknowledged()
	x.stop()
	return hit
}

// traced takes a daemon through its life under strace: it starts, works off a
// prompt as far as it can, and stops; one with trouble is killed.
func (x *faulty) traced(line []string) (p plan, a rpc.Accepted, trouble error) {
	x.t.Helper()
	x.nth++
	p = plan{Tag: fmt.Sprintf("f%d", x.nth), Steps: 2, Tools: []string{"note_line"}}
	if err := errors.Join(os.RemoveAll(x.report()), os.Truncate(x.log(), 0)); err != nil {
		x.t.Fatal(err)
	}
	d := x.start(nil, line...)
	defer func() {
		text, _ := os.ReadFile(x.report())
		if trouble != nil && x.fault.stops() && bytes.Contains(text, []byte("(INJECTED)")) {
			if !d.gone(patience) || d.cmd.ProcessState.ExitCode() != 1 {
				x.t.Errorf("a failed fsync is to end the daemon in order with exit 1: %v\n%s", d.cmd.ProcessState, x.evidence())
			}
		}
		if trouble == nil { // the end has its faults too
			x.signalTraced(d, syscall.SIGTERM)
			d.gone(patience)
		}
		x.signalTraced(d, syscall.SIGKILL)
		if !d.gone(patience) {
			x.t.Fatalf("strace does not end\n%s", x.evidence())
		}
		_ = x.client.Close()
	}()
	if err := x.ready(d); err != nil {
		return p, a, err
	}
	ctx, cancel := context.WithTimeout(x.t.Context(), 5*time.Second)
	defer cancel()
	a, err := x.client.Act(ctx, rpc.Prompt{Project: x.project, Run: p.Tag, Prompt: p.prompt(), Key: p.Tag})
	if err != nil {
		return p, rpc.Accepted{}, err
	}
	x.history.accepted(a, p.prompt())
	c := x.connect("submitter")
	defer func() { _ = c.Close() }()
	if err := x.followLoop(ctx, c, a, a.Seq); err != nil {
		return p, a, err
	}
	detail, err := c.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(a.ID, 10)})
	if err != nil {
		return p, a, err
	}
	x.history.detail(detail)
	if l := detail.Loops[len(detail.Loops)-1]; l.Status != sdk.StatusOK {
		return p, a, fmt.Errorf("the loop ended with %d: %s", l.Status, l.Reason)
	}
	return p, a, nil
}

func (x *faulty) log() string { return filepath.Join(filepath.Dir(x.store), "bothyd.log") }

// signalTraced signals the daemon that strace runs, if it still runs.
func (x *faulty) signalTraced(d *bothyd, sig syscall.Signal) {
	strace := d.cmd.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", strace, strace))
	if err != nil {
		return
	}
	for _, child := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(pid, sig) // it may have ended
		}
	}
}

// troubles is how a daemon words what a disk did to it.
var troubles = regexp.MustCompile(`(?i)disk|i/o error|input/output|no space|full`)

// says reports whether the log, standard error or what a client was told names
// the disk.
func (x *faulty) says(trouble error) bool {
	if troubles.MatchString(trouble.Error()) {
		return true
	}
	for _, path := range []string{x.log(), x.daemon.stderr} {
		if text, err := os.ReadFile(path); err == nil && troubles.Match(text) {
			return true
		}
	}
	return false
}

// ends waits for the end of a loop that was accepted. A loop may have ended
// badly because of the fault; then that was said. One that had not ended goes
// on and ends well.
func (x *faulty) ends(p plan, a rpc.Accepted) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), patience)
	defer cancel()
	c := x.connect("submitter")
	defer func() { _ = c.Close() }()
	if err := x.followLoop(ctx, c, a, a.Seq); err != nil {
		x.t.Fatalf("run %s: %v\n%s", p.Tag, err, x.evidence())
	}
	d, err := c.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(a.ID, 10)})
	if err != nil {
		x.t.Fatal(err)
	}
	x.history.detail(d)
	x.turns(d)
	if l := d.Loops[len(d.Loops)-1]; l.Status != sdk.StatusOK && !troubles.MatchString(l.Reason) {
		x.t.Errorf("run %s ended with %d: %s\n%s", p.Tag, l.Status, l.Reason, x.evidence())
	}
}
