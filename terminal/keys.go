package main

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// leaveWithin is how soon a second Ctrl-C leaves.
const leaveWithin = 2 * time.Second

// key is what a key does.
func (c *conversation) key(m tea.KeyPressMsg) tea.Cmd {
	c.tail = ""
	switch key := m.Keystroke(); {
	case key == "ctrl+c":
		return c.interrupt()
	case c.open != nil:
		return c.answerKey(m)
	case key == "ctrl+d" && c.in.area.Value() == "":
		return c.quit()
	case key == "esc":
		if c.working() {
			return c.abort()
		}
		return nil
	case key == "enter":
		return c.enter()
	case key == "up" && c.in.onFirst(), key == "ctrl+p":
		if text, is := c.typed.earlier(c.in.area.Value()); is {
			c.in.set(text)
		}
		return nil
	case key == "down" && c.in.onLast(), key == "ctrl+n":
		if text, is := c.typed.later(); is {
			c.in.set(text)
		}
		return nil
	case key == "tab":
		if word, is := c.fileWord(); is {
			return c.completeFile(word)
		}
		return c.completeCommand()
	case key == "alt+up" && len(c.queue) > 0:
		return c.takeBack()
	case key == "ctrl+l":
		return tea.ClearScreen
	}
	var cmd tea.Cmd
	c.in.area, cmd = c.in.area.Update(m)
	return cmd
}

// enter sends what was typed. A backslash at the end begins another line.
func (c *conversation) enter() tea.Cmd {
	if value := c.in.area.Value(); strings.HasSuffix(value, "\\") {
		c.in.set(strings.TrimSuffix(value, "\\") + "\n")
		return nil
	}
	text := c.in.text()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	c.typed.add(text)
	c.in.clear()
	if cmd, is := c.command(text); is {
		return cmd
	}
	return c.prompt(strings.TrimPrefix(text, " "))
}

// interrupt empties the input, else ends what works, and leaves at the second time.
func (c *conversation) interrupt() tea.Cmd {
	switch {
	case time.Since(c.quits) < leaveWithin:
		return c.quit()
	case c.in.area.Value() != "":
		c.in.clear()
	case c.working():
		c.quits = time.Now()
		c.tail = c.p.dim.Render("Ctrl-C again leaves; the run goes on without you")
		return c.abort()
	}
	c.quits = time.Now()
	c.tail = c.p.dim.Render("Ctrl-C again leaves")
	return nil
}

// abort ends what works, and keeps what was said.
func (c *conversation) abort() tea.Cmd {
	if c.live.aborting {
		return nil
	}
	c.live.aborting = true
	run := c.run
	return c.ask(func(ctx context.Context) tea.Msg {
		if _, err := c.cl.Abort(ctx, rpc.RunRef{Run: run, Project: c.o.project}); err != nil {
			return failure{err}
		}
		return nil
	})
}

// takenBack is a prompt that waited.
type takenBack struct{ t rpc.TakenBack }

// takeBack takes the last prompt that waits back, to be edited.
func (c *conversation) takeBack() tea.Cmd {
	ref := rpc.PromptRef{Run: c.run, Project: c.o.project, Prompt: c.queue[len(c.queue)-1].sequence}
	return c.ask(func(ctx context.Context) tea.Msg {
		t, err := c.cl.TakeBack(ctx, ref)
		if err != nil {
			return failure{err}
		}
		return takenBack{t}
	})
}

func (c *conversation) tookBack(m takenBack) tea.Cmd {
	if !m.t.Taken {
		c.tail = c.p.dim.Render("it is worked on already: esc ends it")
		return nil
	}
	c.unqueue(m.t.Loop)
	if text := c.in.text(); strings.TrimSpace(text) != "" {
		c.typed.add(text)
	}
	c.in.clear()
	c.in.set(m.t.Prompt)
	return nil
}

func (c *conversation) quit() tea.Cmd {
	c.left = true
	said := ""
	if c.run != "" {
		said = c.p.dim.Render("bothy chat -r " + show.Line(c.run) + " goes on with this")
	}
	return tea.Sequence(c.say(said), tea.Quit)
}
