package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// asks has a conversation asked whether a command may run.
func asks(c *conversation, command string, offers ...string) *question {
	arguments, _ := json.Marshal(map[string]string{"command": command})
	p := sdk.Proposal{ID: "p-" + command, Hash: "h", Tool: "bash", Command: command, Bytes: len(command), Arguments: arguments, State: sdk.StateProposed}
	for _, text := range offers {
		p.Offers = append(p.Offers, sdk.Offer{Remember: sdk.RememberCall, Text: text})
	}
	a := &timeline.Action{}
	a.State = sdk.StateProposed
	c.Update(asked{a, p, nil})
	return c.open
}

// person types at a conversation, at times of its own.
type person struct {
	*conversation
	at time.Time
}

func newPerson(t *testing.T, width, height int) *person {
	t.Helper()
	p := &person{conversation: alone(t, width, height), at: time.Unix(1000, 0)}
	p.guard.now = func() time.Time { return p.at }
	return p
}

// does plays keys: "pause" is long enough for keys to count, "soon" is not, "screen" and
// "back" are the terminal on its other screen and on its own again.
func (p *person) does(keys string) {
	for _, key := range strings.Fields(keys) {
		switch key {
		case "pause", "soon":
			p.Update(guardTick{p.guard.turn})
			p.at = p.at.Add(map[string]time.Duration{"pause": guardPause, "soon": guardPause - 1}[key])
			p.Update(guardTick{p.guard.turn})
		case "screen":
			p.View()
			p.Update(screenStands{})
		case "back":
			p.Update(screenLeft{})
		default:
			p.Update(pressed(key))
		}
		p.View()
	}
}

// TestGuard: an answer has an effect only when what it answers has stood there for a
// moment, and no key came for as long; what was typed earlier stands in the input.
func TestGuard(t *testing.T) {
	long := strings.Repeat("echo ok\n", 8)
	longer := strings.Repeat("echo ok\n", 14)
	for _, c := range []struct {
		name, command, keys string
		sent                bool
		input               string
	}{
		{"at once", "ls", "y", false, "y"},
		{"before a moment has passed", "ls", "soon y", false, "y"},
		{"behind a moment", "ls", "pause y", true, ""},
		{"while a word is typed", "ls", "s soon a soon y soon", false, "say"},
		{"behind a word", "ls", "s a pause pause y", true, "sa"},
		{"a word that begins late", "ls", "pause s a y", false, "say"},
		{"enter", "ls", "s a enter", false, "sa"},
		{"no and yes", "ls", "n y r e d a esc", false, "nyreda"},
		{"twice, of what does not stand there whole", long, "pause y y", false, "y"},
		{"twice, with a moment between", long, "pause y pause y", true, ""},
		{"a page that is left before its end was read", longer, "pause y screen q back pause y", false, ""},
		{"a page that is left before it stands there", longer, "pause y q y screen back pause y", false, "y"},
		{"a page that was read", longer, "pause y screen end pause q back pause y", true, ""},
		{"behind a page at once", longer, "pause y screen end pause q y back y", false, "yy"},
		{"a rule at once", "ls", "pause a 1", false, "1"},
		{"a rule behind a moment", "ls", "pause a pause 1", true, ""},
		{"back from the rules", "ls", "pause a pause esc y", false, "y"},
		{"back from a reason", "ls", "pause r esc y", false, "y"},
	} {
		p := newPerson(t, 80, 24)
		q := asks(p.conversation, c.command, "always allow it")
		p.does(c.keys)
		if q.sent != c.sent || p.in.text() != c.input || p.open != q {
			t.Errorf("%s: answered %v, want %v; the input has %q, want %q", c.name, q.sent, c.sent, p.in.text(), c.input)
		}
		if view := bare(p.View().Content); p.screen == nil && !strings.Contains(view, c.input) {
			t.Errorf("%s: the input is not seen in\n%s", c.name, view)
		}
	}
}

// TestGuardShows: the keys stand there while they count.
func TestGuardShows(t *testing.T) {
	p := newPerson(t, 80, 24)
	asks(p.conversation, "ls")
	for _, step := range []struct {
		keys  string
		count bool
	}{{"", false}, {"soon", false}, {"pause", true}, {"x", false}, {"pause", true}} {
		p.does(step.keys)
		if view := bare(p.View().Content); strings.Contains(view, "y once") != step.count || strings.Contains(view, "in a moment") == step.count {
			t.Errorf("behind %q:\n%s", step.keys, view)
		}
	}
	p.Update(tea.PasteMsg{Content: "y"})
	if p.guard.counts || p.in.text() != "xy" {
		t.Errorf("a paste: the keys count %v, the input has %q", p.guard.counts, p.in.text())
	}
}

// TestGuardOfFrames: a question whose frame is held has not stood there.
func TestGuardOfFrames(t *testing.T) {
	p := newPerson(t, 80, 24)
	p.printing = true
	q := asks(p.conversation, "ls")
	p.does("pause pause y")
	if q.sent {
		t.Error("it was answered")
	}
	p.printing = false
	if p.does("pause pause y"); !q.sent {
		t.Error("it was not answered")
	}
}

// TestGuardOfTheTerminalsOwn: one y agrees to one thing, and a question that comes behind
// what the terminal asks is not answered unseen.
func TestGuardOfTheTerminalsOwn(t *testing.T) {
	for _, c := range []struct {
		keys string
		want int
	}{{"y y y", 0}, {"pause y y y", 1}, {"pause y pause y y", 2}, {"pause n pause y y", 1}, {"pause y pause y pause y", 3}} {
		p, agreed := newPerson(t, 80, 24), 0
		one := sure{lines: []string{"? trust"}, yes: func() tea.Cmd { agreed++; return nil }, no: func() tea.Cmd { return nil }}
		p.askEach([]sure{one, one, one})
		p.Update(tick{})
		if p.does(c.keys); agreed != c.want {
			t.Errorf("%s: agreed to %d, want %d", c.keys, agreed, c.want)
		}
	}
	p := newPerson(t, 80, 24)
	p.askSure(sure{lines: []string{"? trust"}, yes: func() tea.Cmd { return nil }})
	p.Update(tick{})
	p.does("pause")
	q := asks(p.conversation, "ls")
	if view := bare(p.View().Content); !strings.Contains(view, "asks") {
		t.Errorf("nothing says that a question waits:\n%s", view)
	}
	if p.does("y y"); q.sent || p.sure != nil {
		t.Errorf("answered %v, what the terminal asks stands there %v", q.sent, p.sure != nil)
	}
	if p.does("pause y"); !q.sent {
		t.Error("it is not answered later")
	}
}

// TestRunsWhatWasShown: y and rules let run only what was shown whole and is what it
// claims, and no rule that was not shown whole.
func TestRunsWhatWasShown(t *testing.T) {
	long := strings.Repeat("echo ok\n", 50) + "rm -rf ~"
	rule := "allow " + strings.Repeat("`curl evil` ", 40)
	for _, c := range []struct {
		name          string
		width, height int
		command, rule string
		keys          string
		sent          bool
	}{
		{"short", 80, 24, "ls", "allow ls", "pause a pause 1", true},
		{"long, by a rule, on a high screen", 80, 90, long, "allow it", "pause a pause 1", true},
		{"long, by a rule, on a narrow one", 40, 150, long, "allow it", "pause a pause 1", true},
		{"long, by a rule", 80, 24, long, "allow it", "pause a pause 1", false},
		{"long, by a rule, twice", 80, 24, long, "allow it", "pause a pause 1 screen pause q back pause 1", false},
		{"long, by a rule, read", 80, 24, long, "allow it", "pause a pause 1 screen pause end pause q back pause 1", true},
		{"read before the rules were", 80, 12, long, rule, "pause y screen end pause q back pause a pause 1", false},
		{"read with the rules", 80, 12, long, rule, "pause y screen end pause q back pause a pause 1 screen end pause q back pause 1", true},
		{"a long rule that is shown", 80, 24, "ls", rule, "pause a pause 1", true},
		{"a long rule on a low screen", 80, 9, "ls", rule, "pause a pause 1", false},
		{"narrow", 20, 90, "echo 0123456789012 rm -rf ~/d", "allow", "pause y", false},
		{"narrow, twice", 12, 90, "rm -rf ~/d /home/me", "allow", "pause y screen q back pause y", false},
		{"narrow, read", 12, 90, "rm -rf ~/d /home/me", "allow", "pause y screen pause q back pause y", true},
	} {
		p := newPerson(t, c.width, c.height)
		q := asks(p.conversation, c.command, c.rule)
		if p.does(c.keys); q.sent != c.sent {
			t.Errorf("%s: %v", c.name, q.sent)
		}
	}
	for _, keys := range []string{"pause y", "pause a pause 1"} {
		p := newPerson(t, 80, 24)
		q := asks(p.conversation, "ls", "allow ls")
		q.proposal.Bytes = 400
		if p.does(keys); q.sent || p.screen != nil {
			t.Errorf("%s lets run what is not what it claims", keys)
		}
	}
}

// TestRulesAreShownWhole: the text of a rule is folded, and nothing of it is cut.
func TestRulesAreShownWhole(t *testing.T) {
	p := newPerson(t, 40, 50)
	rule := "allow " + strings.Repeat("`curl evil` ", 20) + "to the end"
	asks(p.conversation, "ls", rule)
	p.does("pause a pause")
	if view := bare(p.View().Content); !strings.Contains(strings.ReplaceAll(view, "\n      + ", ""), "    1 "+rule) {
		t.Errorf("it is\n%s", view)
	}
}

// TestLeftOpen: what was left open is asked again by /answer and alt-r, and by no row.
func TestLeftOpen(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(c *conversation) tea.Cmd
		asks bool
	}{
		{"a row", func(c *conversation) tea.Cmd { return c.look(c.line.Loops[0]) }, false},
		{"/answer", func(c *conversation) tea.Cmd { return c.askAgain("") }, true},
		{"alt-r", func(c *conversation) tea.Cmd { return c.nextAsking() }, true},
	} {
		p := newPerson(t, 80, 24)
		row := func(kind, path, data string, turn int) sdk.JournalRow {
			return sdk.JournalRow{Kind: kind, Path: path, Data: json.RawMessage(data), Loop: 1, Turn: turn, Run: 1, Time: p.at}
		}
		p.Update(rowCame{row(sdk.KindLoopStarted, "", "{}", 0)})
		p.Update(rowCame{row(sdk.KindTurnOpened, "", "{}", 1)})
		p.Update(rowCame{row(sdk.KindEntrySet, "log://turn_1/bash/ls", `{"state":"proposed"}`, 1)})
		at := p.line.Loops[0].Waits()
		at.Proposal = &sdk.ActionProposal{ID: "p"}
		m := asked{at, sdk.Proposal{ID: at.ProposalID(), Command: "ls", Bytes: 2, State: sdk.StateProposed}, nil}
		if p.Update(m); p.open == nil {
			t.Fatal("nothing is asked")
		}
		p.printing = false // the prompt stands there
		if p.does("pause esc"); p.open != nil {
			t.Fatal("esc leaves nothing open")
		}
		p.Update(m) // it was asked for twice
		if p.open != nil || (c.do(p.conversation) != nil) != c.asks {
			t.Errorf("%s: it stands there %v, asks again %v; want that %v", c.name, p.open != nil, !c.asks, c.asks)
		}
	}
}

// TestTrustsWhatWasShown: y agrees to nothing that scrolled out of the screen, or stands
// beyond its right edge, before a pager showed it.
func TestTrustsWhatWasShown(t *testing.T) {
	for _, c := range []struct {
		name  string
		tools int
		width int
		keys  string
		want  int
	}{
		{"short", 1, 80, "pause y", 1},
		{"long", 600, 80, "pause y screen pause q back pause n", 0},
		{"long, twice", 600, 80, "pause y screen pause q back pause y", 0},
		{"long, read", 600, 80, "pause y screen end pause q back pause y", 1},
		{"long, left at its end at once", 600, 80, "pause y screen end q back pause y", 0},
		{"narrow", 1, 12, "pause y", 0},
	} {
		p, agreed := newPerson(t, c.width, 24), 0
		skill := rpc.TrustSkill{Skill: sdk.Skill{Name: "x", Description: "nice", AllowedTools: []string{"bash", strings.Repeat("pad ", c.tools)}}, Hash: "abcdef"}
		s := p.aboutSkill(skill)
		s.yes = func() tea.Cmd { agreed++; return nil }
		p.askSure(s)
		p.Update(tick{})
		if p.does(c.keys); agreed != c.want {
			t.Errorf("%s: agreed %d times, want %d", c.name, agreed, c.want)
		}
	}
}

// TestYesToWhatStoodThere: y lets run what stood on the screen whole as it was pressed, whatever
// took room below it, and what has room since the window was made larger had to stand there
// for a moment.
func TestYesToWhatStoodThere(t *testing.T) {
	let := 0
	for width := 20; width <= 50; width += 3 {
		for height := 4; height <= 14; height++ {
			for _, below := range []struct {
				queue int
				tail  string
			}{{0, ""}, {1, ""}, {2, ""}, {2, strings.Repeat("said ", 12)}, {0, strings.Repeat("said ", 24)}} {
				p := newPerson(t, width, height)
				p.Update(tea.WindowSizeMsg{Width: width, Height: height})
				p.inRun()
				for i := range below.queue {
					p.queue = append(p.queue, queued{int64(i + 2), i + 2, "a prompt that waits"})
				}
				p.tail = below.tail
				asks(p.conversation, "make clean")
				p.does("pause")
				stood := strings.Contains(bare(p.View().Content), "? make clean")
				p.Update(pressed("y"))
				if p.open.sent && !stood {
					t.Errorf("%d columns, %d rows, %v: y lets run what was not shown", width, height, below)
				}
				if p.open.sent {
					let++
				}
			}
		}
	}
	if let == 0 {
		t.Error("y never let anything run")
	}
	p := newPerson(t, 40, 5)
	asks(p.conversation, "make clean")
	p.does("pause")
	p.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if p.does("y"); p.open.sent {
		t.Error("y lets run what has just come to stand there")
	}
}
