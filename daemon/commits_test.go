package daemon

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// What a turn may cost in durable commits, pieces of a stream apart; and how
// many of those there may be in a second.
const (
	commitsPerTurn   = 4
	commitsPerAction = 2
	piecesPerSecond  = 5
)

// TestCommitsPerTurn counts what the real daemon makes durable.
func TestCommitsPerTurn(t *testing.T) {
	t.Parallel()
	s := newSite(t, withoutSandbox).withSkills()
	s.up()
	c := s.count(plan{Tag: "counted", Steps: 6, Tools: []string{"note_line", codeSkill, textSkill}, Twice: true, Slow: 2})
	t.Logf("%d commits for %d turns and %d actions, and %d for pieces of %v of stream", c.steps, c.turns, c.actions, c.pieces, c.streamed)
	if most := commitsPerTurn*c.turns + commitsPerAction*c.actions; c.steps > most {
		t.Errorf("%d commits for %d turns and %d actions, and there may be %d", c.steps, c.turns, c.actions, most)
	}
	if c.pieces == 0 || float64(c.pieces) > piecesPerSecond*c.streamed.Seconds() {
		t.Errorf("%d commits of pieces in %v of stream", c.pieces, c.streamed)
	}
}

// counted is what a run cost.
type counted struct {
	steps, pieces, turns, actions int
	streamed                      time.Duration // of the turns whose answers came in pieces
}

// count takes a plan to its end and counts its commits. All rows of one commit
// bear one time, and no two commits bear the same.
func (s *site) count(p plan) (c counted) {
	s.t.Helper()
	a := s.run(context.Background(), p)
	d, err := s.client.Run(context.Background(), rpc.RunRef{Run: strconv.FormatInt(a.ID, 10)})
	if err != nil {
		s.t.Fatal(err)
	}
	pieces, steps, inPieces := map[time.Time]bool{}, map[time.Time]bool{}, map[int]bool{}
	for _, r := range s.journal() {
		switch {
		case r.Run != a.ID || r.Seq <= a.Seq: // the prompt itself is the client's
		case r.Kind == sdk.KindEntryChunk:
			pieces[r.Time], inPieces[r.Turn] = true, true
		default:
			steps[r.Time] = true
		}
	}
	for at := range pieces { // the first of a stream makes its entry too
		delete(steps, at)
	}
	c.steps, c.pieces, c.turns = len(steps), len(pieces), len(d.Turns)
	for _, e := range d.History {
		if sdk.SchemeOf(e.Path) == "log" {
			c.actions++
		}
	}
	for _, turn := range d.Turns {
		if inPieces[turn.Sequence] {
			c.streamed += time.Duration(turn.Duration)
		}
	}
	return c
}
