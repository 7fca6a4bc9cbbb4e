package main

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// beside is what the runs of the project do that work or ask.
type beside struct {
	runs     []rpc.RunSummary
	told     map[string]bool // proposals of which the person was told
	watching bool
}

// besideCame tells of them; without runs that nothing more comes.
type besideCame struct {
	runs []rpc.RunSummary
	ends bool
}

// watchOthers begins to follow the project, without what models write.
func (c *conversation) watchOthers() {
	if c.others.watching {
		return
	}
	c.others.watching = true
	go func() {
		err := c.followOthers(c.ctx)
		if err != nil && c.ctx.Err() == nil {
			c.send(besideCame{ends: true}) // the next prompt begins again
		}
	}()
}

// followOthers asks for the runs at first, and whenever the status of one has changed.
func (c *conversation) followOthers(ctx context.Context) error {
	hello, err := c.cl.Hello(ctx)
	if err != nil {
		return err
	}
	if err := c.readOthers(ctx); err != nil {
		return err
	}
	w := client.Watch{Project: c.o.project, After: hello.Seq, Retry: lostFor, Lost: func(_ context.Context, why error) error {
		if errors.Is(why, client.ErrStopped) {
			return errStopped
		}
		return nil
	}}
	return c.cl.Follow(ctx, w, func(e client.Event) error {
		if e.Row == nil || e.Row.Kind != sdk.KindRunStatus && e.Row.Kind != sdk.KindRunRenamed && e.Row.Kind != sdk.KindRunDeleted {
			return nil
		}
		return c.readOthers(ctx)
	})
}

// mostBeside is how many runs are looked at: the ones that were told something last.
const mostBeside = 50

func (c *conversation) readOthers(ctx context.Context) error {
	all, err := c.cl.Runs(ctx, rpc.RunsParams{Project: c.o.project, Last: true, Limit: mostBeside})
	if errors.Is(err, client.ErrDisconnected) {
		return nil // the feed connects again, and tells what comes then
	}
	if err == nil {
		c.send(besideCame{runs: all})
	}
	return err
}

// tookBeside takes in what other runs do, and tells of questions that are new.
func (c *conversation) tookBeside(m besideCame) tea.Cmd {
	if m.ends {
		c.others.watching, c.others.runs = false, nil
		return nil
	}
	first := c.others.told == nil
	if first {
		c.others.told = map[string]bool{}
	}
	c.others.runs = m.runs
	var cmds []tea.Cmd
	for _, r := range m.runs {
		for _, w := range r.Waiting {
			if !c.others.told[w.ID] && !first && r.ID != c.runID {
				cmds = append(cmds, c.ring(r.Alias+" asks"))
			}
			c.others.told[w.ID] = true
		}
	}
	return tea.Batch(cmds...)
}

// beside are the other runs that ask (0) or work (1), the one that was told something
// last first.
func (c *conversation) beside(urgent int) (all []rpc.RunSummary) {
	for _, r := range c.others.runs {
		if r.ID != c.runID && urgency(r) == urgent {
			all = append(all, r)
		}
	}
	return all
}

// besideLine says in a line what other runs do; empty when they rest.
func (c *conversation) besideLine() string {
	var parts []string
	for _, r := range c.beside(0) {
		parts = append(parts, c.p.ask.Render(show.Line(r.Alias)+" asks"))
	}
	for _, r := range c.beside(1) {
		parts = append(parts, c.p.dim.Render(show.Line(r.Alias)+" works"))
	}
	line := strings.Join(parts, c.p.dim.Render(" · "))
	if len(c.beside(0)) > 0 {
		line += c.p.dim.Render("  alt-r answers")
	}
	return cut(line, c.columns())
}

// nextAsking goes to the next run that asks. What was left open in this one is asked again
// where no other run asks, and when one comes back to it.
func (c *conversation) nextAsking() tea.Cmd {
	left := c.leftOpen
	c.leftOpen = nil
	asks := c.beside(0)
	if len(asks) == 0 {
		if l := c.live.loop; l != nil && len(left) > 0 {
			return c.look(l)
		}
		c.tail = c.p.dim.Render("no other run asks; /runs shows them")
		return nil
	}
	return c.goToID(asks[len(asks)-1].ID) // the one that has waited longest
}

// goesOn says what goes on when one leaves, and how to come back.
func (c *conversation) goesOn() string {
	var lines []string
	if line := c.besideLine(); line != "" {
		lines = append(lines, line)
	}
	if c.run != "" && c.runID != 0 {
		how := "`bothy -r " + show.Line(c.run) + "` comes back"
		if c.working() {
			how = show.Line(c.run) + " goes on working; " + how
		}
		lines = append(lines, c.p.dim.Render(how))
	}
	return strings.Join(lines, "\n")
}
