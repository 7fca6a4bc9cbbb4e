package main

import (
	"cmp"
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// greeted is what the daemon said first.
type greeted struct {
	hello  rpc.Hello
	waits  int // proposals, anywhere
	agents []rpc.Agent
	detail *rpc.RunDetail
	err    error
}

// begin greets the daemon once the first frame stands there and the colours are known.
func (c *conversation) begin() tea.Cmd {
	if c.begun || !c.framed || c.back == unknown && !c.waited {
		return nil
	}
	c.begun = true
	return c.hello()
}

// hello greets the daemon.
func (c *conversation) hello() tea.Cmd {
	return c.ask(func(ctx context.Context) tea.Msg {
		g, err := start.Repeat(ctx, c.daemon, c.cl, func() (greeted, error) { return c.greeting(ctx) })
		g.err = err
		return g
	})
}

// greeting asks for what is said first.
func (c *conversation) greeting(ctx context.Context) (g greeted, err error) {
	if g.hello, err = c.cl.Hello(ctx); err != nil {
		return g, err
	}
	if open, err := c.cl.Proposals(ctx, rpc.ProposalsParams{}); err == nil { // else the first lines have less
		g.waits = len(open)
	}
	if agents, err := c.cl.Agents(ctx, rpc.AgentsParams{Project: c.o.project}); err == nil { // likewise
		g.agents = agents
	}
	if c.o.run == "" {
		return g, nil
	}
	d, err := c.cl.Run(ctx, rpc.RunRef{Run: c.o.run, Project: c.o.project})
	switch {
	case err == nil:
		g.detail = &d
	case sdk.OutcomeOf(err) != sdk.NotFound:
		return g, err
	}
	return g, nil
}

// greet says where one is, and begins with the run that was named.
func (c *conversation) greet(g greeted) tea.Cmd {
	if g.err != nil {
		return tea.Batch(c.fail(g.err), c.bye())
	}
	head := wrapped(c.p.bold.Render("bothy "+version())+c.p.dim.Render("  "+show.Line(home(c.o.project))+c.with(g)), c.columns(), "  ")
	hint := c.p.dim.Render("/help shows commands and keys; Ctrl-D leaves")
	if g.waits > 0 {
		wait := map[bool]string{true: "waits", false: "wait"}[g.waits == 1]
		hint = c.p.ask.Render(show.Plural(g.waits, "question")+" "+wait+" for an answer: `bothy proposals`") + c.p.dim.Render("  ") + hint
	}
	c.watchOthers()
	var cmd tea.Cmd
	if c.set.mistake != nil {
		head += "\n" + wrapped(c.p.bad.Render("! ")+harmless(c.set.mistake.Error()), c.columns()-2, "  ")
	}
	if first := head + "\n" + wrapped(hint, c.columns(), ""); g.detail != nil {
		cmd = c.enterRun(g.detail, first)
	} else {
		cmd = c.begins(first)
	}
	if c.o.pick {
		return tea.Batch(cmd, c.pickRun(""))
	}
	return cmd
}

// begins says what stands before all else, then what was said meanwhile, and lets go out what
// was sent meanwhile.
func (c *conversation) begins(first string) tea.Cmd {
	if c.headed {
		return c.say(first)
	}
	c.headed = true
	c.waits = append([]string{first}, c.waits...)
	return tea.Batch(c.print(), c.transmit())
}

// with says which agent works here, in which mode, and with which model where one is named.
func (c *conversation) with(g greeted) string {
	agent, model, mode := c.o.agent, c.model, c.mode
	if g.detail != nil {
		agent = g.detail.Agent
	}
	for _, a := range g.agents {
		if a.Name == agent {
			model, mode = cmp.Or(model, a.Model), cmp.Or(mode, a.Mode)
		}
	}
	text := "  agent " + show.Line(agent)
	if mode != "" {
		text += ", " + show.Line(string(mode))
	}
	if model != "" {
		text += ", " + show.Line(model)
	}
	return text
}
