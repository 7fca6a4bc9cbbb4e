package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// own are the commands that the person runs themselves.
type own struct {
	run     int64              // that was made for a command, and not for a prompt
	begun   int                // calls that were made and are not answered
	working []*timeline.Action // of which rows came, and which have not ended
}

type (
	// ownBegins says that there is a run in which the person's command can be called.
	ownBegins struct {
		command string
		made    *rpc.Started // nil: it was there
	}
	// ownEnded says that a command was answered. Its rows tell what came of it.
	ownEnded struct{ err error }
)

// ownCommand is the command that a text is, which begins with an exclamation mark.
func ownCommand(text string) (string, bool) {
	command, is := strings.CutPrefix(text, "!")
	command = strings.TrimSpace(command)
	return command, is && command != ""
}

// ownRun makes a run for a command where there is none yet.
func (c *conversation) ownRun(command string) func(context.Context) tea.Msg {
	if c.run != "" {
		return func(context.Context) tea.Msg { return ownBegins{command: command} }
	}
	p := rpc.StartRun{Project: c.o.project, Agent: c.o.agent, Model: c.o.model}
	return func(ctx context.Context) tea.Msg {
		made, err := start.Again(ctx, c.daemon, c.cl, func() (rpc.Started, error) { return c.cl.StartRun(ctx, p) })
		if err != nil {
			return refused{err}
		}
		return ownBegins{command, &made}
	}
}

// beginOwn calls bash with the person's command. The model of the run reads it.
func (c *conversation) beginOwn(m ownBegins) tea.Cmd {
	if m.made != nil {
		c.run, c.runID, c.model = m.made.Run, m.made.ID, m.made.Model
		c.own.run = c.runID
	}
	c.follow()
	c.own.begun++
	arguments, err := json.Marshal(map[string]string{"command": m.command})
	if err != nil {
		return c.fail(err)
	}
	call := rpc.ToolCall{Project: c.o.project, Tool: "bash", Arguments: arguments, Run: c.run, Join: true}
	return tea.Batch(c.sent(), c.ask(func(ctx context.Context) tea.Msg {
		_, err := start.Again(ctx, c.daemon, c.cl, func() (rpc.ToolDone, error) { return c.cl.CallTool(ctx, call) })
		return ownEnded{err}
	}))
}

// endOwn takes note of a command's end.
func (c *conversation) endOwn(m ownEnded) tea.Cmd {
	c.own.begun--
	if m.err != nil {
		return c.fail(m.err)
	}
	return nil
}

// note follows the person's calls by their rows.
func (o *own) note(a *timeline.Action) {
	if a == nil || !a.Person {
		return
	}
	at := slices.Index(o.working, a)
	switch {
	case a.State.Ended() && at >= 0:
		o.working = slices.Delete(o.working, at, at+1)
	case !a.State.Ended() && at < 0:
		o.working = append(o.working, a)
	}
}

// cancelOwn ends the command that the person began last.
func (c *conversation) cancelOwn() tea.Cmd {
	p := rpc.ToolCancel{Run: c.run, Project: c.o.project}
	if n := len(c.own.working); n > 0 {
		p.Action = c.own.working[n-1].Path
	}
	return c.ask(func(ctx context.Context) tea.Msg {
		if _, err := c.cl.CancelCall(ctx, p); err != nil {
			return failure{err}
		}
		return nil
	})
}

// command is what a call of the person ran.
func command(a *timeline.Action) string {
	var in struct{ Command string }
	if json.Unmarshal(a.Arguments, &in) != nil || in.Command == "" {
		return show.Arguments(a.Arguments)
	}
	return in.Command
}

// ownBlock is a command of the person with what came of it.
func (c *conversation) ownBlock(a *timeline.Action) string {
	text := wrapped(c.p.ask.Render("! ")+harmless(command(a)), c.columns(), "  ")
	return "\n" + text + "\n" + c.p.draw(show.Result(&a.Action, show.View{Width: c.columns(), Head: show.ResultHead, Tail: show.ResultTail}))
}

// lines are the commands at work with the end of their output.
func (o *own) lines(c *conversation) (out []string) {
	for _, a := range o.working {
		out = append(out, show.Cut("! "+show.Line(command(a)), c.columns()-14)+c.p.dim.Render("  esc ends it"))
		out = append(out, c.lastPrinted(a)...)
	}
	return out
}

// pastOwn are the commands of the person that were run before a loop began its turns, and
// are not shown yet; nil is after all loops.
func (c *conversation) pastOwn(l *timeline.Loop) (blocks []string) {
	for _, t := range c.line.Calls {
		if l != nil && (len(l.Turns) == 0 || t.Number > l.Turns[0].Number) {
			break
		}
		for _, a := range t.Actions {
			if a.Person && a.State.Ended() && !c.shown[a] {
				c.shown[a] = true
				blocks = append(blocks, c.ownBlock(a))
			}
		}
	}
	return blocks
}
