package main

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// twoAsking is a loop of which two children propose something at the same time: what stands for a proposal is by its id.
type twoAsking struct {
	f     *fakeDaemon
	loop  int64
	child map[string]int64 // run
}

func (x twoAsking) commit(run int64, row sdk.JournalRow) {
	row.Run = run
	x.f.commit(row)
}

// begin has both propose.
func (x twoAsking) begin() {
	x.f.commit(sdk.JournalRow{Kind: sdk.KindLoopStarted, Loop: x.loop})
	x.f.commit(sdk.JournalRow{Kind: sdk.KindTurnOpened, Loop: x.loop, Turn: 1})
	for _, id := range []string{"aaaa", "bbbb"} {
		run := x.child[id]
		x.commit(run, sdk.JournalRow{Kind: sdk.KindRunCreated, Data: data(map[string]int64{"delegator": 7})})
		x.f.commit(entry(x.loop, 1, "log://turn_1/delegate/"+id, text(""), sdk.StateStreaming, "", sdk.PhaseStarted,
			map[string]any{"tool": "delegate", "child": sdk.ActionChild{Run: run, Alias: id, Loop: 10 * run, Agent: "worker"}}))
	}
	for _, id := range []string{"aaaa", "bbbb"} {
		p := aProposal("/p")
		p.ID, p.Run, p.Alias = id, x.child[id], id
		x.f.policy.propose(p)
		run := x.child[id]
		x.commit(run, sdk.JournalRow{Kind: sdk.KindLoopStarted, Loop: 10 * run})
		x.commit(run, sdk.JournalRow{Kind: sdk.KindTurnOpened, Loop: 10 * run, Turn: 1})
		x.commit(run, entry(10*run, 1, bashPath, text(""), sdk.StateProposed, "", sdk.PhaseRecorded, map[string]any{"tool": "bash", "proposal": map[string]any{"id": id}}))
	}
}

// end has the child end whose proposal was answered.
func (x twoAsking) end(id string) {
	run := x.child[id]
	x.commit(run, entry(10*run, 1, bashPath, text("gone"), sdk.StateResolved, "", sdk.PhaseEnded, nil))
	x.commit(run, ended(10*run, 200, "answer", "the model answered"))
	x.f.commit(entry(x.loop, 1, "log://turn_1/delegate/"+id, text("done"), sdk.StateResolved, "", sdk.PhaseEnded, nil))
}

func (x twoAsking) over() { x.f.commit(ended(x.loop, 200, "answer", "the model answered")) }

// TestSeveralChildrenAsk: of what children propose at the same time nothing is lost: a person is asked about one after the
// other, and where nobody is asked all is shown.
func TestSeveralChildrenAsk(t *testing.T) {
	b, _ := withQuestion(t, "y", "n not this")
	var x twoAsking
	b.daemon.play = func(f *fakeDaemon, loop int64) {
		x = twoAsking{f, loop, map[string]int64{"aaaa": 8, "bbbb": 9}}
		x.begin()
	}
	var asked []string
	b.daemon.policy.resolve = func(r rpc.Resolve) (rpc.Resolved, error) {
		asked = append(asked, r.ID+" "+string(r.Answer))
		p, err := b.daemon.policy.Proposal(context.Background(), r.ID)
		p.State = sdk.StateResolved
		b.daemon.policy.propose(p)
		if x.end(r.ID); len(asked) == 2 {
			x.over()
		}
		return rpc.Resolved{Proposal: p, Status: sdk.StatusRunning}, err
	}
	b.want(t, exitOK, "run", "x")
	if got := strings.Join(asked, ", "); got != "aaaa accept, bbbb reject" {
		t.Errorf("answered %q: %s", got, b.err.String())
	}

	b, _ = withQuestion(t)
	b.c.inTTY, b.c.outTTY, b.c.errTTY, b.c.keys = false, false, false, nil
	b.c.in = strings.NewReader("")
	b.daemon.play = func(f *fakeDaemon, loop int64) {
		x := twoAsking{f, loop, map[string]int64{"aaaa": 8, "bbbb": 9}}
		x.begin()
		x.end("bbbb") // somebody answered elsewhere
		x.end("aaaa")
		x.over()
	}
	b.want(t, exitOK, "run", "--answer-within", "1h", "x")
	for _, id := range []string{"aaaa", "bbbb"} {
		if !strings.Contains(b.err.String(), "for an answer to proposal "+id) {
			t.Errorf("%s is not shown: %s", id, b.err.String())
		}
	}
}
