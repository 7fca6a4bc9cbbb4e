package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
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
	c := s.count(s.run(context.Background(), plan{Tag: "counted", Steps: 6, Tools: []string{"note_line", codeSkill, textSkill}, Twice: true, Slow: 2}))
	t.Logf("%d commits for %d turns and %d actions, and %d for pieces of %v of stream", c.steps, c.turns, c.actions, c.pieces, c.streamed)
	c.bounded(t)
	if c.pieces == 0 || float64(c.pieces) > piecesPerSecond*c.streamed.Seconds() {
		t.Errorf("%d commits of pieces in %v of stream", c.pieces, c.streamed)
	}
}

// TestCommitsPerTurnOfEachWay counts them in each way in which a model calls tools and is shown its run.
func TestCommitsPerTurnOfEachWay(t *testing.T) {
	t.Parallel()
	const turns = 5 // with two calls each
	var blocks []string
	for _, w := range ways {
		blocks = append(blocks, w.agent())
	}
	s := newSite(t, withoutSandbox, strings.Join(blocks, ""))
	s.up()
	for _, w := range ways {
		c := s.play(w, w.name(), w.cassette(t, w.name(), turns, 32768, ""))
		t.Logf("%s: %d commits for %d turns and %d actions", w.name(), c.steps+c.pieces, c.turns, c.actions)
		if c.turns != turns+1 || c.actions < 2*turns {
			t.Errorf("%s has %d turns and %d actions", w.name(), c.turns, c.actions)
		}
		c.bounded(t)
	}
}

// TestCommitsOfADemotion counts those of a prompt whose packet does not fit: they are what they were with room, and one more.
func TestCommitsOfADemotion(t *testing.T) {
	t.Parallel()
	var blocks []string
	packets := []way{ways[1], ways[3]}
	for _, w := range packets {
		blocks = append(blocks, w.agent())
	}
	s := newSite(t, withoutSandbox, strings.Join(blocks, ""))
	s.up()
	for _, w := range packets {
		var commits [2]int
		for i, room := range []int{65536, 16384} {
			run := fmt.Sprintf("%s-%d", w.name(), room)
			s.play(w, run, w.cassette(t, w.name(), 1, 65536, strings.Repeat("a line of words\n", 2500)))
			c := s.play(w, run, w.cassette(t, w.name(), 1, room, ""))
			if c.demoted != i {
				t.Errorf("%s: %d turns demote", run, c.demoted)
			}
			commits[i] = c.steps + c.pieces
			c.bounded(t)
		}
		if commits[1] != commits[0]+1 {
			t.Errorf("%s: %d commits where something is demoted, and %d where not", w.name(), commits[1], commits[0])
		}
	}
}

// play gives a run of a way a prompt that a cassette answers, and counts its commits.
func (s *site) play(w way, run, tape string) counted {
	s.t.Helper()
	file := filepath.Join(s.root, run+".json")
	write(s.t, file, tape)
	a, err := s.client.Act(context.Background(), rpc.Prompt{Project: s.project, Run: run, Agent: w.name(), Prompt: "note", Replay: file})
	if err == nil {
		err = s.followLoop(context.Background(), s.client, a, a.Seq)
	}
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", run, err, s.evidence())
	}
	return s.count(a)
}

// way is how a model calls tools and is shown its run.
type way struct{ dialect, view string }

var ways = []way{
	{sdk.DialectTools, sdk.ViewTranscript}, {sdk.DialectTools, sdk.ViewPacket}, {sdk.DialectTags, sdk.ViewTranscript}, {sdk.DialectTags, sdk.ViewPacket},
}

func (w way) name() string { return w.dialect + "-" + w.view }

// agent is the block of one that works so.
func (w way) agent() string {
	return fmt.Sprintf("agent %q {\n  model = \"steps/steps\"\n  dialect = %q\n  view = %q\n  tools = [\"set\", \"update\", \"note_line\"]\n}\n", w.name(), w.dialect, w.view)
}

// cassette is a conversation of so many turns, each of which writes a line that begins with the tag and an entry, and one that
// ends it with what else it leaves as an entry, if anything.
func (w way) cassette(t testing.TB, tag string, turns, context int, leaves string) string {
	t.Helper()
	anything := cassette.Rule{Any: true}
	user := cassette.Expected{Role: sdk.RoleUser, Text: &cassette.Text{Rule: anything}}
	c := cassette.Cassette{Format: 1, Model: "steps/steps", Context: context}
	for n := 1; n <= turns+1; n++ {
		request := []cassette.Expected{user}
		if n > 1 && w == ways[0] {
			request = []cassette.Expected{{Role: sdk.RoleTool, Tool: "note_line", Result: &anything}, {Role: sdk.RoleTool, Tool: "set", Result: &anything}}
		}
		line, path := fmt.Sprintf("%s-%d", tag, n), fmt.Sprintf("known://%d", n)
		says, reason := sdk.Delta{Text: "all is noted"}, "stop"
		events := []cassette.Played{{Delta: says}}
		switch {
		case n > turns && w.dialect == sdk.DialectTags:
			events[0].Text = `<update status="200">all is noted</update>`
			if leaves != "" {
				events[0].Text = `<set path="unknown://left">` + leaves + "</set>\n" + events[0].Text
			}
		case n > turns && leaves != "":
			reason = "calls"
			events = []cassette.Played{
				{Delta: sdk.Delta{Call: &sdk.CallDelta{Index: 0, ID: "c1", Tool: "set", Arguments: fmt.Sprintf(`{"path":"unknown://left","body":%q}`, leaves)}}},
				{Delta: sdk.Delta{Call: &sdk.CallDelta{Index: 1, ID: "c2", Tool: "update", Arguments: `{"status":200,"body":"all is noted"}`}}},
			}
		case n > turns:
		case w.dialect == sdk.DialectTags:
			events[0].Text = fmt.Sprintf("<note_line line=%q/>\n<set path=%q>%s</set>\n<update>more comes</update>", line, path, line)
		default:
			reason = "calls"
			events = []cassette.Played{
				{Delta: sdk.Delta{Call: &sdk.CallDelta{Index: 0, ID: "c1", Tool: "note_line", Arguments: fmt.Sprintf(`{"line":%q}`, line)}}},
				{Delta: sdk.Delta{Call: &sdk.CallDelta{Index: 1, ID: "c2", Tool: "set", Arguments: fmt.Sprintf(`{"path":%q,"body":%q}`, path, line)}}},
			}
		}
		events = append(events, cassette.Played{Delta: sdk.Delta{Finish: &sdk.Finish{Reason: reason}}})
		c.Steps = append(c.Steps, cassette.Step{Request: request, Events: events})
	}
	text, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// counted is what a run cost.
type counted struct {
	steps, pieces, turns, actions int
	demoted                       int           // turns whose packet was made shorter before it was sent
	streamed                      time.Duration // of the turns whose answers came in pieces
}

// bounded holds a run to what it may cost.
func (c counted) bounded(t *testing.T) {
	t.Helper()
	if most := commitsPerTurn*c.turns + commitsPerAction*c.actions + c.demoted; c.steps > most {
		t.Errorf("%d commits for %d turns and %d actions, and there may be %d", c.steps, c.turns, c.actions, most)
	}
}

// count counts the commits of a prompt that has ended, the last one of its run. All rows of one commit
// bear one time, and no two commits bear the same.
func (s *site) count(a rpc.Accepted) (c counted) {
	s.t.Helper()
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
		if r.Run == a.ID && r.Seq > a.Seq && r.Path == (sdk.ActionPath{Turn: r.Turn, Tool: sdk.ErrorTool, Slug: "demoted"}).String() {
			c.demoted++
		}
	}
	for at := range pieces { // the first of a stream makes its entry too
		delete(steps, at)
	}
	c.steps, c.pieces = len(steps), len(pieces)
	own := map[int]bool{}
	for _, turn := range d.Turns {
		own[turn.Sequence] = turn.Loop == a.Loop
		if own[turn.Sequence] {
			c.turns++
		}
	}
	for _, e := range d.History {
		if sdk.SchemeOf(e.Path) == "log" && own[e.Turn] {
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
