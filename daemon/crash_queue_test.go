package daemon

import (
	"context"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestQueueOutlivesDaemon gives a busy run a second prompt and ends the daemon:
// the next one goes on with the first and then takes the second. Two clients
// follow from different points over both daemons and see the same rows.
func TestQueueOutlivesDaemon(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"kill -9": syscall.SIGKILL, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queueOutlives(newSite(t, withoutSandbox), sig)
		})
	}
}

func queueOutlives(s *site, sig syscall.Signal) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.up()
	plans := []plan{{Tag: "first", Steps: 3, Tools: []string{"note_line"}, Hold: 2}, {Tag: "second", Steps: 2, Tools: []string{"note_line"}}}
	var loops []rpc.Accepted
	for _, p := range plans {
		a, err := s.client.Act(ctx, rpc.Prompt{Project: s.project, Run: "queue", Prompt: p.prompt()})
		if err != nil {
			s.t.Fatal(err)
		}
		s.history.accepted(a, p.prompt())
		loops = append(loops, a)
		select {
		case <-s.model.gate("first").arrived: // the first prompt is being worked on
			s.model.gate("first").arrived <- struct{}{} // for the next prompt
		case <-ctx.Done():
			s.t.Fatalf("the model was not asked\n%s", s.evidence())
		}
	}
	clients := &background{cancel: cancel}
	for _, after := range []int64{0, loops[1].Seq} {
		clients.run("a follower", func() error {
			c := s.connect("follower")
			return s.followLoop(ctx, c, loops[1], after)
		})
	}
	s.signal(sig)
	s.model.open("first")
	s.up()
	clients.done.Wait()
	if err := clients.wait(); err != nil {
		s.t.Fatalf("%v\n%s", err, s.evidence())
	}
	for i, p := range plans {
		s.finished(p, loops[i])
	}
	s.inOrder(loops)
	s.acknowledged()
	s.whole()
}

// inOrder checks that each loop of a run began when the one before had ended.
func (s *site) inOrder(loops []rpc.Accepted) {
	s.t.Helper()
	var begun, ended []int64
	for _, r := range s.journal() {
		switch {
		case r.Run != loops[0].ID:
		case r.Kind == sdk.KindLoopStarted:
			begun = append(begun, r.Loop)
			if len(begun) != len(ended)+1 {
				s.t.Errorf("loop %d began at row %d while %d of those before had ended", r.Loop, r.Seq, len(ended))
			}
		case r.Kind == sdk.KindLoopEnded:
			ended = append(ended, r.Loop)
		}
	}
	if len(begun) != len(loops) || len(ended) != len(loops) {
		s.t.Errorf("of %d loops %v began and %v ended", len(loops), begun, ended)
	}
}

// TestFollowersAgree lets several clients follow one run from different points
// while the daemon is killed: each sees every row behind its point once, in
// order.
func TestFollowersAgree(t *testing.T) {
	t.Parallel()
	s := newSite(t, withoutSandbox)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.up()
	p := plan{Tag: "watched", Steps: 6, Tools: []string{"note_line"}, Slow: 2, Hold: 4}
	a, err := s.submit(ctx, s.client, p)
	if err != nil {
		t.Fatal(err)
	}
	clients := &background{cancel: cancel}
	follow := func(after int64) {
		clients.run("a follower", func() error { return s.followLoop(ctx, s.connect("follower"), a, after) })
	}
	follow(0)
	follow(a.Seq)
	select {
	case <-s.model.gate(p.Tag).arrived:
	case <-ctx.Done():
		t.Fatalf("the model was not asked\n%s", s.evidence())
	}
	follow(s.status().Seq - 3)
	s.kill()
	s.model.open(p.Tag)
	s.up()
	follow(a.Seq + 5)
	clients.done.Wait()
	if err := clients.wait(); err != nil {
		t.Fatalf("%v\n%s", err, s.evidence())
	}
	s.finished(p, a)
	s.acknowledged()
}
