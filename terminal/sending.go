package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// outgoing is what was sent and is not with the daemon yet. One goes after the other, so
// that they stay in their order, and the first of them makes the run.
type outgoing struct {
	shown   string // as it stood in the input, with marks
	prompt  rpc.Prompt
	command string // of the person's own; the prompt is none then
}

// What became of the first of what went out.
type (
	// delivered has the answer: accepted, ownBegins or refused.
	delivered struct {
		entered int // the run that was entered then
		answer  tea.Msg
	}
	// accepted is a prompt that the daemon has.
	accepted struct {
		text string
		a    rpc.Accepted
		said []string // of the daemon meanwhile: that it was started again, that it was given a key
	}
	// refused says that it could not be sent.
	refused struct{ err error }
)

// prompt sends what was typed.
func (c *conversation) prompt(text string) tea.Cmd { return c.promptAs(text, text) }

// promptAs sends a prompt; shown is how it stood in the input.
func (c *conversation) promptAs(text, shown string) tea.Cmd {
	return c.post(outgoing{shown: shown, prompt: rpc.Prompt{
		Key: c.drafted.keyOf(text), Project: c.o.project, Prompt: text, Agent: c.o.agent, Model: c.o.model, Attend: true, Mode: c.mode,
	}})
}

// post sends something behind what goes out already.
func (c *conversation) post(o outgoing) tea.Cmd {
	c.outbox = append(c.outbox, o)
	if !c.headed || len(c.outbox) > 1 {
		return nil
	}
	return c.transmit()
}

// transmit gives the daemon the first of what goes out, if there is something.
func (c *conversation) transmit() tea.Cmd {
	c.sends, c.drafted.under = nil, keyed{}
	if len(c.outbox) == 0 {
		return nil
	}
	o, entered := c.outbox[0], c.entered
	if o.command != "" {
		send := c.ownRun(o.command)
		return func() tea.Msg { return delivered{entered, send(c.ctx)} }
	}
	c.drafted.under = keyed{o.prompt.Key, sumOf(o.prompt.Prompt)}
	c.drafted.save(c.draftText()) // before the daemon has it
	send := c.sendPrompt(o)
	sends := sync.OnceValue(func() tea.Msg { return send(c.ctx) })
	c.sends = sends
	return func() tea.Msg { return delivered{entered, sends()} }
}

// leaveWaits is how long who leaves waits for what is under way.
const leaveWaits = 2 * time.Second

// awaited waits for a call that is under way when the person leaves; nil is none. It answers nil
// where that takes too long.
func awaited(call func() tea.Msg) tea.Msg {
	if call == nil {
		return nil
	}
	answer := make(chan tea.Msg, 1)
	go func() { answer <- call() }()
	select {
	case m := <-answer:
		return m
	case <-time.After(leaveWaits):
		return nil
	}
}

// lastSent waits for the prompt that is under way when the person leaves: what the daemon has
// is no draft.
func (c *conversation) lastSent() {
	if _, has := awaited(c.sends).(accepted); has {
		c.outbox, c.drafted.under = c.outbox[1:], keyed{}
	}
}

// sendPrompt is the sending of a prompt, behind the looks at what it names.
func (c *conversation) sendPrompt(o outgoing) func(context.Context) tea.Msg {
	p := o.prompt
	p.Run, p.Yolo = c.run, c.o.yolo && (c.runID == 0 || c.runID == c.own.run)
	if c.o.noMemory {
		p.NoMemory = new(true)
	}
	return func(ctx context.Context) tea.Msg {
		if err := c.unknown(ctx, p.Prompt); err != nil {
			return refused{err}
		}
		var err error
		if p.Attachments, err = c.attachments(ctx, sentTabs(o.shown)); err != nil {
			return refused{err}
		}
		var said []string
		d := *c.daemon
		d.Say = func(text string) { said = append(said, text) }
		a, err := d.Prompt(ctx, c.cl, false, p)
		if err != nil {
			return refused{err}
		}
		return accepted{p.Prompt, a, said}
	}
}

// deliver goes on behind the first of what went out. Of a run that was left meanwhile
// nothing is taken note of: what happens there is told when the person comes back.
func (c *conversation) deliver(m delivered) tea.Cmd {
	here := m.entered == c.entered
	switch answer := m.answer.(type) {
	case refused:
		return c.refuse(answer.err)
	case ownBegins:
		if !here {
			return c.refuse(errors.New("the command was not begun: its run was left"))
		}
		return c.beginOwn(answer)
	case accepted:
		if here {
			return tea.Batch(c.accept(answer), c.sent())
		}
	}
	return c.sent()
}

// accept takes note of a prompt that the daemon has.
func (c *conversation) accept(m accepted) tea.Cmd {
	c.run, c.runID, c.model = m.a.Run, m.a.ID, m.a.Model
	if m.a.Ahead > 0 {
		c.enqueue(queued{m.a.Loop, m.a.Sequence, m.text})
	}
	c.follow()
	c.watchOthers()
	return c.sayOf(m.said)
}

// sayOf prints what was said of the daemon.
func (c *conversation) sayOf(said []string) tea.Cmd {
	if len(said) == 0 {
		return nil
	}
	return c.say(c.p.dim.Render(wrapped("  "+harmless(strings.Join(said, "\n")), c.columns()-2, "  ")))
}

// unsent puts what was not sent yet back into the input, where a run is left.
func (c *conversation) unsent() {
	under := 0 // way
	if c.headed {
		under = 1
	}
	if len(c.outbox) <= under {
		return
	}
	var back []string
	for _, o := range c.outbox[under:] {
		back = append(back, o.shown)
	}
	c.outbox = c.outbox[:under]
	c.putBack(strings.Join(back, "\n"))
}

// putBack puts a text into the input, before what stands there.
func (c *conversation) putBack(text string) {
	if now := c.in.area.Value(); now != "" {
		text += "\n" + now
	}
	c.menu.shut()
	c.in.change(fieldOf(text))
}

// sent is the end of the first of what went out: the next goes.
func (c *conversation) sent() tea.Cmd {
	if len(c.outbox) == 0 {
		return nil
	}
	c.in.forget(c.outbox[0].shown)
	c.outbox = c.outbox[1:]
	return c.transmit()
}

// refuse says why something could not be sent, and puts it back into the input, before
// what was typed since.
func (c *conversation) refuse(err error) tea.Cmd {
	c.putBack(c.outbox[0].shown)
	c.outbox = c.outbox[1:]
	return tea.Sequence(c.fail(err), c.transmit())
}

// unknown is an error for a prompt that looks like a command, and names neither one nor a
// skill.
func (c *conversation) unknown(ctx context.Context, text string) error {
	name, is := strings.CutPrefix(text, "/")
	if at := strings.IndexFunc(name, unicode.IsSpace); at >= 0 {
		name = name[:at]
	}
	if !is || name == "" || isCommand(name) || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return nil // a path, for one
	}
	found, err := start.Again(ctx, c.daemon, c.cl, func() (rpc.Skills, error) {
		return c.cl.Skills(ctx, rpc.SkillQuery{Project: c.o.project})
	})
	if err != nil {
		return err
	}
	var names []string
	for _, s := range found.Skills {
		if s.Name == name {
			return nil
		}
		names = append(names, s.Name)
	}
	for _, s := range commands {
		names = append(names, s.name)
	}
	if meant := nearest(name, names); meant != "" {
		return sdk.Errorf(sdk.NotFound, "there is no /%s: did you mean /%s? With a blank before it the text goes as it is", name, meant)
	}
	return sdk.Errorf(sdk.NotFound, "there is no command and no skill /%s: /help shows the commands. With a blank before it the text goes as it is", name)
}
