package main

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// conversation is the state of the terminal. It is changed by Update alone.
type conversation struct {
	ctx    context.Context
	o      options
	cl     *client.Client
	daemon *start.Daemon
	send   func(tea.Msg) // from outside of Update

	width, height int
	dark          bool
	focused       bool
	sized         bool // the size is the terminal's own
	p             palette
	md            markdown
	in            input
	typed         *history

	run       string // its name; empty before the first prompt
	runID     int64
	model     string
	mode      sdk.Mode
	following bool
	seq       int64 // of the last row that was taken in
	behind    bool  // what was there before is still being read

	line     *timeline.Timeline
	attached map[string]bool // files that were completed behind an @
	shown    map[any]bool    // loops, turns and actions of which a block was printed
	live     live            // what the model writes now
	queue    []queued        // prompts that wait
	open     *question       // what is asked now
	tail     string          // what is said below: a failure, a hint
	lost     bool            // there is no connection
	quits    time.Time       // when Ctrl-C was pressed last
	left     bool            // the person has left
	head     string          // what is said first
	saved    string          // of the draft, what was written last
	drafting bool            // it is written soon
	blocks   []string        // printed, for tests and for what waits to be printed
}

// queued is a prompt that waits behind others.
type queued struct {
	loop     int64
	sequence int // among the prompts of the run
	text     string
}

func newConversation(ctx context.Context, o options, cl *client.Client) *conversation {
	c := &conversation{
		ctx: ctx, o: o, cl: cl, daemon: o.daemon(), width: 80, height: 24, dark: true, focused: true, p: newPalette(), in: newInput(),
		typed: openHistory(o.state, o.project), line: &timeline.Timeline{}, shown: map[any]bool{}, attached: map[string]bool{}, run: o.run, model: o.model, mode: sdk.Mode(o.mode),
	}
	c.saved = readDraft(o.state, o.project)
	c.in.set(c.saved)
	return c
}

// greeted is what the daemon said first.
type greeted struct {
	hello  rpc.Hello
	waits  int // proposals, anywhere
	detail *rpc.RunDetail
	err    error
}

// Init implements tea.Model.
func (c *conversation) Init() tea.Cmd { return tea.RequestBackgroundColor }

// drawn says that the first frame stands there.
type drawn struct{}

// firstFrame is when the first frame stands there for certain. What is printed above
// before that scrolls the whole screen away.
const firstFrame = 30 * time.Millisecond

// hello greets the daemon.
func (c *conversation) hello() tea.Cmd {
	return c.ask(func(ctx context.Context) tea.Msg {
		var g greeted
		if g.hello, g.err = c.cl.Hello(ctx); g.err != nil {
			return g
		}
		if open, err := c.cl.Proposals(ctx, rpc.ProposalsParams{}); err == nil { // else the first lines have less
			g.waits = len(open)
		}
		if c.o.run != "" {
			d, err := c.cl.Run(ctx, rpc.RunRef{Run: c.o.run, Project: c.o.project})
			if err == nil {
				g.detail = &d
			} else if sdk.OutcomeOf(err) != sdk.NotFound {
				g.err = err
			}
		}
		return g
	})
}

// Update implements tea.Model.
func (c *conversation) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		c.width, c.height = m.Width, m.Height
		c.in.area.SetWidth(m.Width)
		c.md = markdown{}
		if c.sized {
			return c, nil
		}
		c.sized = true
		return c, tea.Tick(firstFrame, func(time.Time) tea.Msg { return drawn{} })
	case drawn:
		return c, c.hello()
	case tea.BackgroundColorMsg:
		c.dark = m.IsDark()
		c.md = markdown{}
		return c, nil
	case tea.FocusMsg:
		c.focused = true
		return c, nil
	case tea.BlurMsg:
		c.focused = false
		return c, nil
	case tea.KeyPressMsg:
		return c, tea.Batch(c.key(m), c.draft())
	case tea.PasteMsg:
		if c.open == nil || c.open.typing() {
			c.in.paste(m.Content)
		}
		return c, c.draft()
	case draftDue:
		c.drafting = false
		c.saveDraft()
		return c, nil
	case hungUp:
		return c, tea.Quit
	case greeted:
		return c, c.greet(m)
	case caughtUp:
		return c, c.catchUp()
	case rowCame:
		c.lost = false
		return c, c.row(m.row)
	case previewCame:
		c.lost = false
		return c, c.live.take(c, m.p)
	case connectionLost:
		c.lost = true
		return c, nil
	case feedEnded:
		c.following = false
		c.live.end()
		return c, c.fail(m.err)
	case accepted:
		return c, c.accept(m)
	case asked:
		return c, c.question(m)
	case filesFound:
		return c, c.offerFiles(m)
	case takenBack:
		return c, c.tookBack(m)
	case answered:
		return c, c.took(m)
	case said:
		return c, c.say(m.text)
	case failure:
		return c, c.fail(m.err)
	case tick:
		return c, c.live.tick(c)
	}
	var cmd tea.Cmd
	c.in.area, cmd = c.in.area.Update(msg)
	return c, cmd
}

// Messages of calls.
type (
	accepted struct {
		text string
		a    rpc.Accepted
	}
	said    struct{ text string }
	failure struct{ err error }
)

// greet says where one is, and begins with the run that was named.
func (c *conversation) greet(g greeted) tea.Cmd {
	if g.err != nil {
		return tea.Sequence(c.fail(g.err), tea.Quit)
	}
	head := c.p.bold.Render("bothy "+version()) + c.p.dim.Render("  "+show.Line(home(c.o.project)))
	if c.model != "" {
		head += c.p.dim.Render("  " + show.Line(c.model))
	}
	hint := c.p.dim.Render("/help shows commands and keys; Ctrl-D leaves")
	if g.waits > 0 {
		hint = c.p.ask.Render(counted(g.waits, "question waits", "questions wait")+" for an answer: `bothy proposals`") + c.p.dim.Render("  ") + hint
	}
	if g.detail == nil {
		return c.say(head + "\n" + hint)
	}
	c.run, c.runID, c.model, c.behind, c.head = g.detail.Run, g.detail.ID, g.detail.Model, true, head+"\n"+hint
	c.follow(g.hello.Seq)
	return nil
}

// follow begins to follow the run.
func (c *conversation) follow(seen int64) {
	if c.following {
		return
	}
	c.following = true
	run := c.runID
	go c.feed(c.ctx, run, c.seq, seen)
}

// prompt sends what was typed.
func (c *conversation) prompt(text string) tea.Cmd {
	p := rpc.Prompt{Project: c.o.project, Prompt: text, Run: c.run, Agent: c.o.agent, Model: c.o.model, Attend: true, Mode: c.mode, Yolo: c.o.yolo && c.runID == 0, Attachments: c.attachments(text)}
	return c.ask(func(ctx context.Context) tea.Msg {
		a, err := c.daemon.Prompt(ctx, c.cl, false, p)
		if err != nil {
			return failure{err}
		}
		return accepted{text, a}
	})
}

// accept takes note of a prompt that the daemon has.
func (c *conversation) accept(m accepted) tea.Cmd {
	c.run, c.runID, c.model = m.a.Run, m.a.ID, m.a.Model
	if m.a.Ahead > 0 {
		c.queue = append(c.queue, queued{m.a.Loop, m.a.Sequence, m.text})
	}
	c.follow(0)
	return nil
}

// row takes in a row of the journal and prints what it finished.
func (c *conversation) row(row sdk.JournalRow) tea.Cmd {
	c.seq = row.Seq
	change := c.line.Take(row)
	if c.behind {
		return nil
	}
	return tea.Sequence(c.news(row, change)...)
}

// news are the blocks that a row finished, and what begins with it.
func (c *conversation) news(row sdk.JournalRow, change timeline.Change) (cmds []tea.Cmd) {
	if l := change.Loop; takenLoop(l) { // it stands in the input again, or nowhere
		c.unqueue(l.ID)
		return nil
	}
	if l := change.Loop; l != nil && !l.Began.IsZero() && !c.shown[l] {
		c.shown[l] = true
		c.unqueue(l.ID)
		cmds = append(cmds, c.say(c.promptBlock(l)), c.live.begin(c, l))
	}
	if change.Reply && change.Turn != nil {
		c.live.reply(change.Turn)
		if text := strings.TrimSpace(change.Turn.Text); text != "" {
			cmds = append(cmds, c.say(c.textBlock(text)))
		}
	}
	if a := change.Action; a != nil && a.State.Ended() && !c.shown[a] {
		c.shown[a] = true
		cmds = append(cmds, c.say(c.actionBlock(a)))
	}
	if note := noteText(row); note != "" {
		cmds = append(cmds, c.say(c.p.dim.Render("  "+show.Line(note))))
	}
	if l := change.Loop; l != nil {
		cmds = append(cmds, c.look(l))
		if l.End != nil {
			if c.live.loop == l {
				c.live.end()
			}
			cmds = append(cmds, c.say(c.endBlock(l)), c.notify("done"))
		}
	}
	return cmds
}

// takenLoop reports whether a prompt was taken back before any work on it.
func takenLoop(l *timeline.Loop) bool { return l != nil && l.End != nil && l.End.Stop == sdk.StopTaken }

// catchUp shows the last of what was there before.
func (c *conversation) catchUp() tea.Cmd {
	if !c.behind {
		return nil
	}
	c.behind = false
	var cmds []tea.Cmd
	blocks := []string{c.head}
	loops := c.line.Loops
	if n := len(loops) - lastShown; n > 0 {
		blocks = append(blocks, (c.p.dim.Render(counted(n, "earlier prompt", "earlier prompts") + " of " + show.Line(c.run) + ": /show shows all")))
		for _, l := range loops[:n] {
			c.shown[l] = true
		}
		loops = loops[n:]
	}
	for _, l := range slices.DeleteFunc(slices.Clone(loops), takenLoop) {
		more, cmd := c.past(l)
		blocks, cmds = append(blocks, more...), append(cmds, cmd)
	}
	return tea.Sequence(append([]tea.Cmd{c.say(strings.Join(blocks, "\n"))}, cmds...)...) // in one piece: it is drawn at once
}

// lastShown is how many prompts are shown when one comes back.
const lastShown = 3

// past are the blocks of a loop as far as it has come, and what goes on with it.
func (c *conversation) past(l *timeline.Loop) (blocks []string, cmd tea.Cmd) {
	if l.Began.IsZero() {
		c.queue = append(c.queue, queued{l.ID, l.Sequence, l.Prompt})
		return nil, nil
	}
	c.shown[l] = true
	blocks = append(blocks, c.promptBlock(l))
	for _, t := range l.Turns {
		if text := strings.TrimSpace(t.Text); text != "" {
			blocks = append(blocks, c.textBlock(text))
		}
		for _, a := range t.Actions {
			if a.State.Ended() {
				c.shown[a] = true
				blocks = append(blocks, c.actionBlock(a))
			}
		}
	}
	if l.End != nil {
		return append(blocks, c.endBlock(l)), nil
	}
	return blocks, tea.Sequence(c.live.begin(c, l), c.look(l))
}

// unqueue takes a prompt out of those that wait.
func (c *conversation) unqueue(loop int64) {
	for i, q := range c.queue {
		if q.loop == loop {
			c.queue = append(c.queue[:i:i], c.queue[i+1:]...)
			return
		}
	}
}

// columns are how wide things are drawn: the last column is left alone, since terminals
// differ in what they do behind it.
func (c *conversation) columns() int { return max(c.width-1, 20) }

// say prints a block above.
func (c *conversation) say(block string) tea.Cmd {
	if block == "" {
		return nil
	}
	c.blocks = append(c.blocks, block)
	return tea.Println(block)
}

// fail says what went wrong.
func (c *conversation) fail(err error) tea.Cmd {
	return c.say(c.p.bad.Render("! ") + harmless(err.Error()))
}

// working reports whether a prompt is worked on.
func (c *conversation) working() bool { return c.live.loop != nil }

// leave is the end of the conversation.
func (c *conversation) leave() {
	c.left = true
	c.saveDraft()
}

type (
	// draftDue has what was begun to be typed written down.
	draftDue struct{}
	// hungUp says that the terminal is gone.
	hungUp struct{}
)

// draftAfter is how soon what is typed is written down.
const draftAfter = 300 * time.Millisecond

// draft has what is being typed written down soon: it is there again after the terminal
// was closed, or killed.
func (c *conversation) draft() tea.Cmd {
	if c.drafting || c.in.text() == c.saved {
		return nil
	}
	c.drafting = true
	return tea.Tick(draftAfter, func(time.Time) tea.Msg { return draftDue{} })
}

func (c *conversation) saveDraft() {
	text := c.in.text()
	if c.open != nil && c.open.typing() {
		text = c.open.draft
	}
	if text != c.saved {
		saveDraft(c.o.state, c.o.project, text)
		c.saved = text
	}
}
