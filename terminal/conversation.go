package main

import (
	"cmp"
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
	out    *output
	above

	width, height int
	back          background
	focused       bool
	sized         bool // the size is the terminal's own
	framed        bool // the first frame stands there
	waited        bool // the background was waited for
	begun         bool // the daemon is greeted
	p             palette
	md            markdown
	stage
	guard   guard  // which keys answer
	sure    *sure  // a command that waits for a yes
	others  beside // what other runs of the project do
	in      input
	typed   *history
	drafted draft

	run       string // its name; empty before the first prompt
	runID     int64
	entered   int    // how often a run was entered: what another number asked for comes late
	leaveFeed func() // ends the feed of the run
	model     string
	mode      sdk.Mode
	following bool
	seq       int64 // of the last row that was taken in
	behind    bool  // what was there before is still being read

	typing

	line     *timeline.Timeline
	shown    map[any]bool // loops, their ends, turns and actions of which a block was printed
	live     live         // what the model writes now
	queue    []queued     // prompts that wait
	open     *question    // what is asked now
	leftOpen string       // the proposal that the person left open: no row asks it again
	tail     string       // what is said below: a failure, a hint
	lost     bool         // there is no connection
	quits    time.Time    // when Ctrl-C was pressed last
	left     bool         // the person has left
	head     string       // what is said first
}

// queued is a prompt that waits behind others.
type queued struct {
	loop     int64
	sequence int // among the prompts of the run
	text     string
}

func newConversation(ctx context.Context, o options, cl *client.Client) *conversation {
	c := &conversation{
		ctx: ctx, o: o, cl: cl, daemon: o.daemon(), width: 80, height: 24, focused: true, p: newPalette(), in: newInput(),
		typed: openHistory(o.state, o.project), line: &timeline.Timeline{}, shown: map[any]bool{}, run: o.run, model: o.model, mode: sdk.Mode(o.mode),
	}
	c.guard.now = time.Now
	c.drafted = openDraft(o.state, o.project)
	c.in.set(c.drafted.saved)
	c.in.settle()
	c.readSettings()
	return c
}

// greeted is what the daemon said first.
type greeted struct {
	hello  rpc.Hello
	waits  int // proposals, anywhere
	agents []rpc.Agent
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

// backgroundLate says that the terminal does not tell its background, or later.
type backgroundLate struct{}

// backgroundWait is how long a terminal is waited for that does not tell its background.
const backgroundWait = 100 * time.Millisecond

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

// update takes in a message; Update has what is asked looked after.
func (c *conversation) update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case fromRun:
		if m.entered != c.entered {
			return c, c.late(m.msg)
		}
		return c.update(m.msg)
	case printed:
		return c, c.printedAll()
	case screenStands:
		return c, c.screenCame()
	case screenLeft:
		c.stands = false
		return c, c.printedAll()
	case tea.WindowSizeMsg:
		cmd := c.resize(m.Width, m.Height)
		if c.sized {
			return c, cmd
		}
		c.sized = true
		return c, tea.Tick(firstFrame, func(time.Time) tea.Msg { return drawn{} })
	case drawn:
		c.framed = true
		return c, tea.Batch(c.begin(), tea.Tick(backgroundWait, func(time.Time) tea.Msg { return backgroundLate{} }))
	case backgroundLate:
		c.waited = true
		return c, c.begin()
	case tea.BackgroundColorMsg:
		c.back = light
		if m.IsDark() {
			c.back = dark
		}
		c.md = markdown{}
		return c, c.begin()
	case tea.FocusMsg:
		c.focused = true
		return c, nil
	case tea.BlurMsg:
		c.focused = false
		return c, nil
	case tea.KeyPressMsg:
		if c.screen != nil {
			return c, c.screenKey(m)
		}
		return c, tea.Batch(c.key(m), c.draft())
	case tea.PasteMsg:
		if c.screen != nil {
			return c, c.screen.paste(m.Content)
		}
		c.guard.key()
		return c, tea.Batch(c.pasteIn(m.Content), c.draft())
	case draftDue:
		c.drafted.due = false
		c.saveDraft()
		return c, nil
	case hungUp:
		return c, tea.Quit
	case shows:
		return c, m.do(c)
	case besideCame:
		return c, c.tookBeside(m)
	case greeted:
		return c, c.greet(m)
	case pastCame:
		return c, c.past(m.rows)
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
	case delivered:
		return c, tea.Batch(c.deliver(m), c.draft())
	case ownEnded:
		return c, c.endOwn(m)
	case edited:
		return c, tea.Batch(c.cameBack(), c.wasEdited(m), c.draft())
	case tea.ResumeMsg:
		return c, c.cameBack()
	case offered:
		c.offer(m)
		return c, nil
	case filesDue:
		return c, c.askFiles(m.asked)
	case asked:
		return c, c.question(m)
	case filesFound:
		return c, c.offerFiles(m)
	case takenBack:
		return c, tea.Batch(c.tookBack(m), c.draft())
	case answered:
		return c, c.took(m)
	case said:
		return c, c.say(m.text)
	case printDue:
		return c, c.printBehind()
	case frameHeld:
		return c, c.printNow()
	case frameLate:
		if m.prints != c.prints {
			return c, nil
		}
		return c, c.printNow()
	case failure:
		return c, c.fail(m.err)
	case tick:
		return c, c.live.tick(c)
	case contextRead:
		c.live.context = m.use
		return c, nil
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
		return tea.Batch(c.fail(g.err), c.bye())
	}
	head := wrapped(c.p.bold.Render("bothy "+version())+c.p.dim.Render("  "+show.Line(home(c.o.project))+c.with(g)), c.columns(), "  ")
	hint := c.p.dim.Render("/help shows commands and keys; Ctrl-D leaves")
	if g.waits > 0 {
		hint = c.p.ask.Render(counted(g.waits, "question waits", "questions wait")+" for an answer: `bothy proposals`") + c.p.dim.Render("  ") + hint
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

// accept takes note of a prompt that the daemon has.
func (c *conversation) accept(m accepted) tea.Cmd {
	c.run, c.runID, c.model = m.a.Run, m.a.ID, m.a.Model
	if m.a.Ahead > 0 {
		c.enqueue(queued{m.a.Loop, m.a.Sequence, m.text})
	}
	c.follow()
	c.watchOthers()
	return nil
}

// row takes in a row of the journal and prints what it finished.
func (c *conversation) row(row sdk.JournalRow) tea.Cmd {
	c.seq = row.Seq
	if row.Kind == sdk.KindRunRenamed {
		c.renamed(row)
	}
	change := c.line.Take(row)
	c.live.calls.take(row, change.Action)
	c.own.note(change.Action)
	if c.behind {
		return nil
	}
	return tea.Sequence(c.news(row, change)...)
}

// past takes in rows that were there when the run was entered. Those that came between
// its beginning and that are news.
func (c *conversation) past(rows []sdk.JournalRow) tea.Cmd {
	var cmds []tea.Cmd
	for _, row := range rows {
		cmds = append(cmds, c.row(row))
	}
	return tea.Sequence(cmds...)
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
		cmds = append(cmds, c.say(c.promptBlock(l)), c.live.begin(l))
	}
	if change.Reply && change.Turn != nil {
		cmds = append(cmds, c.live.reply(c, change.Turn))
	}
	if row.Kind == sdk.KindTurnClosed {
		cmds = append(cmds, c.readContext())
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
		if l.End != nil && !c.shown[l.End] { // rows of what is undone later come behind it
			c.shown[l.End] = true
			if c.live.loop == l {
				c.live.end()
			}
			if row.Kind == sdk.KindLoopEnded { // rows of it come later, too: what was taken back
				cmds = append(cmds, c.say(c.endBlock(l)), c.notify("done"))
			}
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
	c.queue = slices.DeleteFunc(c.queue, func(q queued) bool { return !c.waiting(q.loop) })
	var cmds []tea.Cmd
	blocks := []string{c.head}
	loops := c.line.Loops
	if n := len(loops) - lastShown; n > 0 {
		blocks = append(blocks, (c.p.dim.Render(counted(n, "earlier prompt", "earlier prompts") + " of " + show.Line(c.run) + ": /show shows all")))
		for _, l := range loops[:n] { // a row of them may come again
			c.shown[l], c.shown[l.End] = true, true
			for _, a := range l.Actions() {
				c.shown[a] = a.State.Ended()
			}
		}
		loops = loops[n:]
	}
	for i, l := range slices.DeleteFunc(slices.Clone(loops), takenLoop) {
		if between := c.pastOwn(l); i > 0 || len(loops) == len(c.line.Loops) {
			blocks = append(blocks, between...)
		}
		more, cmd := c.pastLoop(l)
		blocks, cmds = append(blocks, more...), append(cmds, cmd)
	}
	blocks = append(blocks, c.pastOwn(nil)...)
	return tea.Sequence(append([]tea.Cmd{c.begins(strings.Join(blocks, "\n"))}, cmds...)...) // in one piece: it is drawn at once
}

// lastShown is how many prompts are shown when one comes back.
const lastShown = 3

// pastLoop are the blocks of a loop as far as it has come, and what goes on with it.
func (c *conversation) pastLoop(l *timeline.Loop) (blocks []string, cmd tea.Cmd) {
	if l.Began.IsZero() {
		c.enqueue(queued{l.ID, l.Sequence, l.Prompt})
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
		c.shown[l.End] = true
		return append(blocks, c.endBlock(l)), nil
	}
	return blocks, tea.Sequence(c.live.begin(l), c.look(l))
}

// enqueue has a prompt stand with those that wait. The answer to it may come behind the rows
// that tell what became of it.
func (c *conversation) enqueue(q queued) {
	if c.waiting(q.loop) && !slices.ContainsFunc(c.queue, func(other queued) bool { return other.loop == q.loop }) {
		c.queue = append(c.queue, q)
	}
}

// waiting reports whether no row told yet that a prompt was begun, or has ended.
func (c *conversation) waiting(loop int64) bool {
	return !slices.ContainsFunc(c.line.Loops, func(l *timeline.Loop) bool {
		return l.ID == loop && !l.Began.IsZero()
	})
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

// fail says what went wrong.
func (c *conversation) fail(err error) tea.Cmd {
	return c.say(wrapped(c.p.bad.Render("! ")+harmless(err.Error()), c.columns()-2, "  "))
}

// working reports whether a prompt is worked on.
func (c *conversation) working() bool { return c.live.loop != nil }

// leave is the end of the conversation.
func (c *conversation) leave() {
	c.left = true
	c.saveDraft()
	c.drafted.leave()
}
