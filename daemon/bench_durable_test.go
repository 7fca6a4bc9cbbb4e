package daemon

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// The benchmarks here measure what durability costs, on daemons that are
// stopped, killed and started again.

// unbounded lets a run have as many turns as it likes.
const unbounded = "guard {\n  max_turns = 0\n}\n"

// BenchmarkCommits reports the durable commits of a turn and of an action.
func BenchmarkCommits(b *testing.B) {
	s := newSite(b, withoutSandbox)
	s.up()
	var c counted
	for once := true; b.Loop(); once = false { // they are all alike
		if once {
			c = s.count(s.run(context.Background(), plan{Tag: "counted", Steps: 9, Tools: []string{"note_line"}}))
		}
	}
	per := float64(c.steps-c.actions) / float64(c.turns)
	report(b, "durable commits of a turn, with one action", fmt.Sprintf("%.2f  (%d commits, %d turns, %d actions)", per+1, c.steps, c.turns, c.actions),
		fmt.Sprintf("at most %d", commitsPerTurn+commitsPerAction))
}

// BenchmarkRecovery compares, for runs of 500 and of 50 turns, the time from
// the start of a daemon whose predecessor was killed to its question to the
// model.
func BenchmarkRecovery(b *testing.B) {
	lengths := []int{50, 500}
	sites := map[int]*site{}
	taken := map[int]*[]time.Duration{}
	for _, turns := range lengths {
		s := newSite(b, withoutSandbox, unbounded)
		sites[turns], taken[turns] = s, &[]time.Duration{}
		s.up()
		p := plan{Tag: "long", Steps: turns, Tools: []string{"note_line"}, Hold: turns + 1}
		if _, err := s.client.Act(context.Background(), rpc.Prompt{Project: s.project, Run: p.Tag, Prompt: p.prompt()}); err != nil {
			b.Fatal(err)
		}
		s.asked(b)
		s.kill()
	}
	for b.Loop() {
		for _, turns := range lengths {
			s := sites[turns]
			timed(b, taken[turns], func() error {
				s.start(nil)
				s.asked(b)
				return nil
			})
			s.kill()
		}
	}
	ratio(b, "recovery to the next question: 500 turns against 50", "x-50", *taken[500], *taken[50], "at most 10x: linear")
}

// asked waits until the model was asked for the step that is held.
func (s *site) asked(b *testing.B) {
	b.Helper()
	select {
	case <-s.model.gate("long").arrived:
	case <-time.After(patience):
		b.Fatalf("the model was not asked\n%s", s.evidence())
	}
}

// BenchmarkReady compares, for a daemon of eight plugins, being ready after its
// predecessor was killed and after that was stopped.
func BenchmarkReady(b *testing.B) {
	blocks := []string{withoutSandbox}
	for i := range 7 { // beside the ledger itself
		blocks = append(blocks, fmt.Sprintf("plugin \"ledger%d\" {\n  plugin = \"ledger\"\n  env    = { %s = \"1\" }\n  grants = [\"project\"]\n}\n", i, playLedger))
	}
	s := newSite(b, blocks...)
	s.up()
	if n := ready(s.status().Plugins); n != 8 {
		b.Fatalf("%d plugins are ready, want 8\n%s", n, s.evidence())
	}
	var stopped, killed []time.Duration
	for b.Loop() {
		s.stop()
		timed(b, &stopped, func() error { return s.ready(s.start(nil)) })
		s.kill()
		timed(b, &killed, func() error { return s.ready(s.start(nil)) })
	}
	ratio(b, "ready with 8 plugins: after kill -9 against after a stop", "x-stop", killed, stopped, "reported")
}

func ready(plugins []rpc.Plugin) (n int) {
	for _, p := range plugins {
		if p.State == "ready" {
			n++
		}
	}
	return n
}

// BenchmarkBytes reports what a turn adds to the database's file: each is a
// prompt of its own. A run adds what it has once, the system text above all.
func BenchmarkBytes(b *testing.B) {
	const turns = 200
	s := newSite(b, withoutSandbox)
	s.up()
	grown := func(text int, run func(i int) string) int64 {
		before := s.resting(b)
		c := s.connect("submitter")
		defer func() { _ = c.Close() }()
		for i := range turns {
			p := plan{Tag: fmt.Sprintf("b%d-%d", text, i), Text: text}
			a, err := c.Act(b.Context(), rpc.Prompt{Project: s.project, Run: run(i), Prompt: p.prompt()})
			if err == nil {
				err = s.followLoop(b.Context(), c, a, a.Seq)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		return (s.resting(b) - before) / turns
	}
	var alone, empty, full int64
	for once := true; b.Loop(); once = false {
		if once {
			alone = grown(0, func(i int) string { return fmt.Sprint("alone-", i) })
			empty = grown(0, func(int) string { return "same" })
			full = grown(8<<10, func(i int) string { return fmt.Sprint("same-", i/10) })
		}
	}
	report(b, "database bytes of one more empty turn of a run", fmt.Sprint(empty), "at most 6 KB")
	report(b, "database bytes of a run of one empty turn", fmt.Sprint(alone), "at most 6 KB for the turn")
	report(b, "database bytes of a turn with 8 KB of new text, per byte of text", fmt.Sprintf("%.2f  (%d bytes more than the empty one)", float64(full-empty)/(8<<10), full-empty), "below 2")
}

// resting is the size of the database while no daemon runs: the log is folded
// into it then.
func (s *site) resting(b *testing.B) int64 {
	b.Helper()
	s.stop()
	info, err := os.Stat(s.store)
	if err != nil {
		b.Fatal(err)
	}
	s.up()
	return info.Size()
}

// BenchmarkWatchers reports how many clients in a second connect, ask to watch
// a run from its beginning, and have its first row.
func BenchmarkWatchers(b *testing.B) {
	const together = 8
	s := newSite(b, withoutSandbox)
	s.up()
	a := s.run(context.Background(), plan{Tag: "watched", Steps: 10, Tools: []string{"note_line"}})
	n, start := 0, time.Now()
	for b.Loop() {
		var all sync.WaitGroup
		for range together {
			all.Go(func() {
				c := s.connect("watcher")
				if err := c.Follow(context.Background(), client.Watch{Run: a.ID}, func(client.Event) error { return client.ErrDone }); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		n += together
	}
	report(b, "watchers in a second, each on a connection of its own", fmt.Sprintf("%.0f  (n=%d, %d at a time)", float64(n)/time.Since(start).Seconds(), n, together), "reported")
}
