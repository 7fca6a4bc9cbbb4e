package daemon

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

const (
	idleRuns    = 1000
	activeRuns  = 50
	perIdleRun  = 50 << 10 // bytes of memory that one may cost
	settledTime = 10 * time.Second
	mostStore   = 20 // descriptors of the database: two for each of at most 8 readers and the writer, and two of all
)

// TestIdleRuns measures the real daemon from outside: what 1,000 idle runs cost
// in memory, and that 50 active ones leave neither goroutines nor descriptors
// behind when they have ended.
func TestIdleRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t, withoutSandbox)
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	defer cancel()

	s.up()
	s.run(ctx, plan{Tag: "warm", Steps: 1, Tools: []string{"note_line"}}) // what is made once and kept is there now
	before := s.resident()
	s.idle(ctx)
	cost := (s.resident() - before) / idleRuns
	t.Logf("%d idle runs: %d bytes each (resident %d MB before)", idleRuns, cost, before>>20)
	if cost >= perIdleRun {
		t.Errorf("an idle run costs %d bytes, and may cost %d", cost, perIdleRun)
	}
	s.wave(ctx, "a")
	s.quiet()
	open, _ := s.descriptors()
	s.settled(open)
	once := s.goroutines()

	s.up()
	for _, tag := range []string{"b", "c", "d"} {
		s.wave(ctx, tag)
	}
	s.quiet()
	s.settled(open)
	thrice := s.goroutines()
	t.Logf("%d descriptors; %d goroutines after one wave of %d runs, %d after three", open, once, activeRuns, thrice)
	if thrice > once+2 { // of a reader
		t.Errorf("%d goroutines after one wave of runs, %d after three\n%s", once, thrice, s.evidence())
	}
}

// wave has many runs at work at the same time, and ends when all have ended.
func (s *site) wave(ctx context.Context, tag string) {
	s.t.Helper()
	ended := make(chan int64, activeRuns)
	clients := &background{}
	ctx, clients.cancel = context.WithCancel(ctx)
	after := s.status().Seq
	clients.run("the follower", func() error {
		return s.followAll(ctx, after, func(r sdk.JournalRow) {
			if r.Kind == sdk.KindLoopEnded {
				ended <- r.Loop
			}
		})
	})
	for i := range activeRuns {
		p := plan{Tag: fmt.Sprintf("%s%d", tag, i), Steps: 1, Tools: []string{"note_line"}, Hold: 1}
		if _, err := s.submit(ctx, s.client, p); err != nil {
			s.t.Fatal(err)
		}
		select {
		case <-s.model.gate(p.Tag).arrived:
		case <-ctx.Done():
			s.t.Fatalf("the model was not asked for %s\n%s", p.Tag, s.evidence())
		}
	}
	if n := s.status().Running; n != activeRuns {
		s.t.Errorf("%d runs are at work, want %d", n, activeRuns)
	}
	for i := range activeRuns {
		s.model.open(fmt.Sprintf("%s%d", tag, i))
	}
	for range activeRuns {
		select {
		case <-ended:
		case <-ctx.Done():
			s.t.Fatalf("not all runs ended\n%s", s.evidence())
		}
	}
	if err := clients.wait(); err != nil {
		s.t.Error(err)
	}
}

// idle makes runs that do nothing.
func (s *site) idle(ctx context.Context) {
	s.t.Helper()
	var makers sync.WaitGroup
	for m := range 8 {
		makers.Go(func() {
			for i := range idleRuns / 8 {
				if _, err := s.client.StartRun(ctx, rpc.StartRun{Project: s.project, Run: fmt.Sprintf("idle-%d-%d", m, i)}); err != nil {
					s.t.Error(err)
					return
				}
			}
		})
	}
	makers.Wait()
}

// descriptors counts the open files of the daemon, those of its database apart.
func (s *site) descriptors() (others, stored int) {
	s.t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", s.daemon.cmd.Process.Pid)
	open, err := os.ReadDir(dir)
	if err != nil {
		s.t.Skipf("this system does not tell the open files of a process: %v", err)
	}
	for _, fd := range open {
		if to, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && strings.HasPrefix(to, s.store) {
			stored++
			continue
		}
		others++
	}
	return others, stored
}

// quiet waits until the daemon has come to rest after its work: it uses no
// processor for a while.
func (s *site) quiet() {
	s.t.Helper()
	const rest = 500 * time.Millisecond
	used := s.used()
	for deadline := time.Now().Add(settledTime); time.Now().Before(deadline); {
		<-time.After(rest)
		now := s.used()
		if now <= used+1 { // of a hundred ticks a second
			return
		}
		used = now
	}
}

// used is the time that the daemon has used of a processor, in ticks.
func (s *site) used() (ticks int64) {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.daemon.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the third field of the file is the first here
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		ticks += n
	}
	return ticks
}

// resident is the daemon's resident memory in bytes.
func (s *site) resident() int64 {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.daemon.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// settled waits until the daemon has no more files open than at first, those of
// its database within bounds.
func (s *site) settled(most int) {
	s.t.Helper()
	n, stored := s.descriptors()
	for deadline := time.Now().Add(settledTime); n > most && time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		n, stored = s.descriptors()
	}
	if n > most {
		s.t.Errorf("%d descriptors are open after the runs have ended, and %d were before", n, most)
	}
	if stored > mostStore {
		s.t.Errorf("%d descriptors of the database are open, and there may be %d", stored, mostStore)
	}
}

// goroutines ends the daemon with SIGQUIT, by which it tells all of them.
func (s *site) goroutines() int {
	s.t.Helper()
	s.signal(syscall.SIGQUIT)
	text, err := os.ReadFile(filepath.Join(s.root, "stderr"))
	if err != nil {
		s.t.Fatal(err)
	}
	text = text[max(0, bytes.LastIndex(text, []byte("SIGQUIT: quit"))):]
	return bytes.Count(text, []byte("\ngoroutine "))
}
