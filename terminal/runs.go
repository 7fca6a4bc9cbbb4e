package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// enterRun leaves the run that one is in, which goes on by itself, and enters another:
// that is the one way into a run. Without detail it is none yet, and the next prompt
// makes one. Head is said first.
func (c *conversation) enterRun(d *rpc.RunDetail, head string) tea.Cmd {
	if c.leaveFeed != nil {
		c.leaveFeed()
	}
	c.closeQuestion()
	c.live.end()
	c.live.calls, c.live.context = calls{}, nil
	c.entered++
	c.leaveFeed, c.sure, c.queue, c.own = nil, nil, nil, own{}
	c.tree, c.line, c.shown = &timeline.Tree{}, &timeline.Timeline{}, map[any]bool{}
	c.seq, c.following, c.behind, c.lost, c.leftOpen = 0, false, false, false, nil
	if d == nil {
		return c.begins(head)
	}
	c.run, c.runID, c.model, c.behind, c.head = d.Run, d.ID, d.Model, true, head
	c.live.context = d.Context
	c.follow()
	return nil
}

// leaveRun is where a run is left for another one, or for a new one.
func (c *conversation) leaveRun(d *rpc.RunDetail) tea.Cmd {
	if d != nil && d.ID == c.runID {
		return c.say(c.p.dim.Render("  this is run " + show.Line(d.Run)))
	}
	left := ""
	if c.working() {
		left = c.p.dim.Render("  "+show.Line(c.run)+" goes on working") + "\n"
	}
	c.unsent()
	c.o.yolo = false                        // that was said of the run that is left
	c.o.noMemory = c.o.noMemory && d == nil // and this of those that are begun here
	c.run, c.runID, c.model = "", 0, c.o.model
	if d == nil {
		return c.enterRun(nil, left+"\n"+c.p.bold.Render("a new run")+c.p.dim.Render("  the first prompt makes it"))
	}
	c.o.model = ""
	about := "  agent " + show.Line(d.Agent) + "  " + show.Line(d.Model) + "  " + show.Plural(len(d.Loops), "prompt")
	head := wrapped(c.p.bold.Render("run "+show.Line(d.Run))+c.p.dim.Render(about), c.columns(), "  ")
	return c.enterRun(d, left+"\n"+head)
}

// resume goes to another run: the one of that name, or the one that is picked.
func (c *conversation) resume(name string) tea.Cmd {
	if name == "" {
		return c.pickRun("")
	}
	return c.goTo(rpc.RunRef{Run: name, Project: c.o.project}, name)
}

// goTo enters a run. One that is not there is looked for by what was typed.
func (c *conversation) goTo(ref rpc.RunRef, typed string) tea.Cmd {
	return c.leads(func(ctx context.Context) tea.Msg {
		d, err := c.cl.Run(ctx, ref)
		switch {
		case sdk.OutcomeOf(err) == sdk.NotFound:
			return shows{func(c *conversation) tea.Cmd { return c.pickRun(typed) }}
		case err != nil:
			return failure{err}
		}
		return shows{func(c *conversation) tea.Cmd { return tea.Batch(c.leaveRun(&d), c.doesKept()) }}
	})
}

// goToID enters the run of an id.
func (c *conversation) goToID(id int64) tea.Cmd {
	return c.goTo(rpc.RunRef{Run: strconv.FormatInt(id, 10)}, "")
}

func (c *conversation) newRun(string) tea.Cmd {
	rests := c.rests()
	return tea.Batch(c.leaveRun(nil), func() tea.Msg { rests(); return nil })
}

// leaveTime is how long the end waits for the daemon to hear that a run is left.
const leaveTime = time.Second

// rests is how the daemon is told that nobody goes on with the run that one is in. That it was not is nothing to say: the
// run rests by itself in time.
func (c *conversation) rests() func() {
	if c.runID == 0 {
		return func() {}
	}
	run := rpc.RunRef{Run: strconv.FormatInt(c.runID, 10)}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), leaveTime)
		defer cancel()
		_, _ = c.cl.Leave(ctx, run)
	}
}

// fork makes a run that begins with what this one knows, and goes to it.
func (c *conversation) fork(turn string) tea.Cmd {
	f := rpc.Fork{Run: c.run, Project: c.o.project}
	if turn = strings.TrimSpace(strings.TrimPrefix(turn, "turn")); turn != "" {
		n, err := strconv.Atoi(turn)
		if err != nil || n < 1 {
			return c.fail(fmt.Errorf("%s is no turn: /fork TURN takes the number of a turn, such as 3 in turn_3/bash/call", turn))
		}
		f.Turn = n
	}
	if c.runID == 0 {
		return c.noRun()
	}
	return c.leads(func(ctx context.Context) tea.Msg {
		made, err := c.cl.Fork(ctx, f)
		if err != nil {
			return failure{err}
		}
		return shows{func(c *conversation) tea.Cmd { return c.goToID(made.ID) }}
	})
}

// rename gives the run another name. That it has it is told by its journal.
func (c *conversation) rename(name string) tea.Cmd {
	if name == "" {
		return c.fail(fmt.Errorf("/rename NAME: 1 to 64 of A-Z a-z 0-9 _ -"))
	}
	return c.ofRun(func(ctx context.Context, ref rpc.RunRef) (string, error) {
		done, err := c.cl.Rename(ctx, rpc.Rename{Run: ref.Run, Project: ref.Project, Name: name})
		return c.p.dim.Render("  this run is " + show.Line(done.Run) + " now"), err
	})
}

// renamed takes note of the run's new name.
func (c *conversation) renamed(row sdk.JournalRow) {
	var d struct{ To string }
	if json.Unmarshal(row.Data, &d) == nil && d.To != "" {
		c.run = d.To
	}
}

func (c *conversation) listRuns(string) tea.Cmd { return c.pickRun("") }

// pickRun shows the runs of the project, those first that ask or work. Typing searches
// their names and prompts.
func (c *conversation) pickRun(typed string) tea.Cmd {
	p := &picker{title: "runs of " + show.Line(home(c.o.project)), typed: typed, empty: "no run fits; esc goes back"}
	p.find = func(typed string) tea.Cmd {
		return c.ask(func(ctx context.Context) tea.Msg {
			all, err := c.cl.Runs(ctx, rpc.RunsParams{Project: c.o.project, Last: true, Search: strings.TrimSpace(typed)})
			return shows{func(c *conversation) tea.Cmd {
				if err != nil {
					p.empty = harmless(err.Error())
				}
				if typed != p.typed {
					return nil // more was typed meanwhile
				}
				return p.set(c.runRows(all), err == nil)
			}}
		})
	}
	p.look = func(ch choice) tea.Cmd {
		return c.ask(func(ctx context.Context) tea.Msg {
			d, err := c.cl.Run(ctx, rpc.RunRef{Run: ch.id})
			return shows{func(c *conversation) tea.Cmd {
				if err == nil { // else there is no preview
					p.viewed[ch.id] = ch.also + "\n\n" + harmless(d.Summary)
				}
				return nil
			}}
		})
	}
	p.choose = func(ch choice) tea.Cmd {
		id, err := strconv.ParseInt(ch.id, 10, 64)
		if err != nil {
			return c.fail(err)
		}
		return c.goToID(id)
	}
	return tea.Batch(c.over(p), p.find(typed))
}

// runRows are runs as they are picked from.
func (c *conversation) runRows(all []rpc.RunSummary) []choice {
	slices.SortStableFunc(all, func(a, b rpc.RunSummary) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), b.LastActivity.Compare(a.LastActivity))
	})
	wide := 0
	for _, r := range all {
		wide = max(wide, min(show.Width(show.Line(r.Alias)), 20))
	}
	var rows []choice
	for _, r := range all {
		name := show.Cut(show.Line(r.Alias), 20)
		s := show.Bold
		if r.ID == c.runID {
			s = show.Plain
		}
		state := runState(r)
		state.Text = fmt.Sprintf("%-8s", state.Text)
		line := show.Spans{
			{Style: s, Text: name + strings.Repeat(" ", max(0, wide-show.Width(name)))},
			{Style: show.Dim, Text: "  " + moment(r.LastActivity, time.Now()) + "  "},
			state,
			{Style: show.Plain, Text: "  " + show.Line(show.OneLine(r.Summary))},
		}
		rows = append(rows, choice{id: strconv.FormatInt(r.ID, 10), line: line, also: about(r)})
	}
	return rows
}

// urgency says which runs come first: those that ask, then those that work.
func urgency(r rpc.RunSummary) int {
	switch {
	case len(r.Waiting) > 0:
		return 0
	case r.Status == sdk.StatusRunning:
		return 1
	}
	return 2
}

// runState says in a word how a run is.
func runState(r rpc.RunSummary) show.Span {
	switch {
	case len(r.Waiting) > 0:
		return show.Span{Style: show.Ask, Text: "asks"}
	case r.Status == sdk.StatusRunning:
		return show.Span{Style: show.Name, Text: "works"}
	case r.Held:
		return show.Span{Style: show.Ask, Text: "held"}
	}
	return show.Span{Style: show.Dim, Text: show.Status(r.Status)}
}

// about is what a run waits for, and what it was told last.
func about(r rpc.RunSummary) string {
	var lines []string
	for _, w := range r.Waiting {
		lines = append(lines, "? "+show.Line(w.Tool+" "+w.What))
	}
	if r.Queued > 0 {
		lines = append(lines, show.Plural(r.Queued, "prompt")+" waits")
	}
	return strings.Join(append(lines, "> "+harmless(strings.TrimSpace(r.LastPrompt))), "\n")
}

// moment is a time as a list has it: of today the hour, else the day.
func moment(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return "     " + t.Format("15:04")
	}
	return t.Format(time.DateOnly)
}
