package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// leaveWithin is how soon a second Ctrl-C leaves.
const leaveWithin = 2 * time.Second

// key is what a key does.
func (c *conversation) key(m tea.KeyPressMsg) tea.Cmd {
	c.tail = ""
	counts := c.guard.key()
	key := m.Keystroke()
	chord := c.chord
	c.chord = key == "ctrl+x"
	if key != "ctrl+c" {
		c.quits = time.Time{} // twice is one behind the other
	}
	switch {
	case c.sure != nil && counts:
		return c.sureKey(m)
	case c.sure != nil && key != "ctrl+c":
		return c.typedEarly(m)
	case key == "alt+r":
		return c.nextAsking()
	case key == "ctrl+o":
		return c.everything()
	case key == "ctrl+c":
		return c.interrupt()
	case key == "ctrl+z":
		return c.suspend()
	case c.open != nil:
		return c.answerKey(m, counts)
	case c.search != nil:
		return c.searchKey(m)
	case key == "ctrl+g", chord && key == "ctrl+e":
		return c.edit()
	}
	if cmd, is := c.menuKey(key); is {
		return cmd
	}
	if cmd, is := c.viKey(m); is {
		return cmd
	}
	switch {
	case key == "ctrl+d" && c.in.area.Value() == "":
		return c.quit()
	case key == "esc":
		return c.escape()
	case key == "enter":
		return c.enter()
	case key == "up" && c.in.onFirst(), key == "ctrl+p":
		return c.earlier()
	case key == "down" && c.in.onLast(), key == "ctrl+n":
		return c.later()
	case key == "ctrl+r":
		return c.beginSearch()
	case key == "alt+e":
		return c.expand()
	case key == "alt+up" && len(c.queue) > 0:
		return c.takeBack()
	case key == "ctrl+t":
		c.live.unfolds = !c.live.unfolds
		return nil
	case key == "ctrl+l":
		return tea.ClearScreen
	}
	before := c.in.area.Value()
	cmd := c.in.key(m)
	if c.in.area.Value() == before && len(c.menu.items) == 0 {
		return cmd // only the cursor went elsewhere
	}
	return tea.Batch(cmd, c.suggest())
}

// viKey is a key with vi's keys; false leaves it to others.
func (c *conversation) viKey(m tea.KeyPressMsg) (tea.Cmd, bool) {
	v := c.in.vi
	if v == nil {
		return nil, false
	}
	f := c.in.field()
	key := m.Keystroke()
	if !v.normal {
		if key == "esc" {
			c.menu.shut()
			c.in.show(v.leave(f))
		}
		return nil, key == "esc"
	}
	var r rune
	switch typed := []rune(m.Text); {
	case key == "esc":
		r = 27
	case key == "backspace":
		r = 'h'
	case len(typed) == 1:
		r = typed[0]
	default:
		return nil, false
	}
	c.menu.shut()
	g, did := v.key(f, r)
	switch did {
	case viIdle:
		return c.escape(), true
	case viUndo:
		c.in.undo()
		c.in.show(c.in.field().rest())
	case viEarlier:
		return c.earlier(), true
	case viLater:
		return c.later(), true
	default:
		c.in.change(g)
	}
	return nil, true
}

// fromShell reports whether the parent is a shell that has this program as a job: in the
// same session, and in a process group of its own.
func fromShell() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	parents, err := unix.Getsid(os.Getppid())
	if err != nil || parents != session {
		return false
	}
	group, err := unix.Getpgid(os.Getppid())
	return err == nil && group != unix.Getpgrp()
}

// escape ends what works: the person's own command first.
func (c *conversation) escape() tea.Cmd {
	switch {
	case c.own.begun > 0 && c.run != "":
		return c.cancelOwn()
	case c.working():
		return c.abort()
	}
	return nil
}

// earlier and later lead through what was typed before.
func (c *conversation) earlier() tea.Cmd {
	if text, is := c.typed.earlier(c.in.area.Value()); is {
		c.menu.shut()
		c.in.set(text)
	}
	return nil
}

func (c *conversation) later() tea.Cmd {
	if text, is := c.typed.later(); is {
		c.menu.shut()
		c.in.set(text)
	}
	return nil
}

// pasteIn puts a pasted text in. It sends nothing, whatever it has.
func (c *conversation) pasteIn(text string) tea.Cmd {
	c.search = nil
	if !c.in.paste(text) {
		c.tail = c.p.bad.Render(show.Cut(fmt.Sprintf("what was pasted is too long: a prompt has %d bytes at most", mostInput), c.columns()))
		return nil
	}
	if c.open != nil || c.sure != nil {
		return nil
	}
	return c.suggest()
}

// expand puts pasted texts in, to be edited.
func (c *conversation) expand() tea.Cmd {
	c.menu.shut()
	if !c.in.expand() {
		c.tail = c.p.dim.Render(show.Cut("it is too long to be edited here: ctrl-g opens your editor", c.columns()))
	}
	return nil
}

// enter sends what was typed. A backslash at the end begins another line.
func (c *conversation) enter() tea.Cmd {
	shown := c.in.area.Value()
	if strings.HasSuffix(shown, "\\") {
		c.menu.shut()
		c.in.set(strings.TrimSuffix(shown, "\\") + "\n")
		return nil
	}
	text := c.in.text()
	if trimmed := strings.TrimSpace(text); trimmed == "" || trimmed == "!" {
		return nil
	}
	begun := c.typed.begun()
	c.typed.add(text)
	c.in.clear()
	c.in.set(begun)
	c.in.settle()
	c.menu.shut()
	if c.keeps(text, shown) {
		return nil
	}
	return c.does(text, shown)
}

// does does what was entered; shown is how it stood in the input.
func (c *conversation) does(text, shown string) tea.Cmd {
	if cmd, is := c.command(text); is {
		return cmd
	}
	if command, is := ownCommand(text); is {
		return c.post(outgoing{shown: shown, command: command})
	}
	return c.promptAs(text, shown)
}

// interrupt empties the input, else ends what works, and leaves at the second time.
func (c *conversation) interrupt() tea.Cmd {
	c.menu.shut()
	switch {
	case time.Since(c.quits) < leaveWithin:
		return c.quit()
	case c.search != nil:
		c.search = nil
		return nil
	case c.in.area.Value() != "" && (c.open == nil || c.open.typing()): // else it is not seen
		c.in.set("")
	case c.working(), c.own.begun > 0:
		c.quits = time.Now()
		c.tail = c.p.dim.Render("Ctrl-C again leaves; the run goes on without you")
		return c.escape()
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
			return shows{func(c *conversation) tea.Cmd {
				c.live.aborting = false // esc ends it still
				return c.fail(err)
			}}
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
	c.menu.shut()
	c.in.clear()
	c.in.set(m.t.Prompt)
	return nil
}

func (c *conversation) quit() tea.Cmd {
	c.left = true
	return tea.Batch(c.say(c.goesOn()), c.bye())
}
