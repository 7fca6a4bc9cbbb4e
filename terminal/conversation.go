package main

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/start"
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
	frame         frameShown
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
	ahead     ahead  // what was entered on the way to another run
	leaveFeed func() // ends the feed of the run
	model     string
	mode      sdk.Mode
	following bool
	seq       int64 // of the last row that was taken in
	behind    bool  // what was there before is still being read

	typing

	tree     *timeline.Tree // the run and its children
	line     *timeline.Timeline
	shown    map[any]bool    // loops, their ends, replies and actions of which a block was printed
	live     live            // what the model writes now
	queue    []queued        // prompts that wait
	open     *question       // what is asked now
	gives    func() tea.Msg  // the answer that was given last; nil before the first
	leftOpen map[string]bool // the proposals that the person left open: no row asks them again
	tail     string          // what is said below: a failure, a hint
	lost     bool            // there is no connection
	quits    time.Time       // when Ctrl-C was pressed last
	left     bool            // the person has left
	head     string          // what is said first
}

func newConversation(ctx context.Context, o options, cl *client.Client) *conversation {
	c := &conversation{
		ctx: ctx, o: o, cl: cl, daemon: o.daemon(), width: 80, height: 24, focused: true, p: newPalette(), in: newInput(),
		typed: openHistory(o.state, o.project), tree: &timeline.Tree{}, line: &timeline.Timeline{}, shown: map[any]bool{}, run: o.run, model: o.model, mode: sdk.Mode(o.mode),
	}
	c.guard.now = time.Now
	c.drafted = openDraft(o.state, o.project)
	c.in.set(c.drafted.saved)
	c.in.settle()
	c.readSettings()
	return c
}

// narrow is how many columns things are drawn for at least. In a window that has no more they
// are broken once more.
const narrow = 20

// columns are how wide things are drawn: the last column is left alone, since terminals
// differ in what they do behind it.
func (c *conversation) columns() int { return max(c.width-1, narrow) }

// What a call of the socket may answer with.
type (
	said    struct{ text string }
	failure struct{ err error }
)

// fail says what went wrong.
func (c *conversation) fail(err error) tea.Cmd {
	return c.say(wrapped(c.p.bad.Render("! ")+harmless(err.Error()), c.columns()-2, "  "))
}

// working reports whether a prompt is worked on.
func (c *conversation) working() bool { return c.live.loop != nil }

// leave is the end of the conversation.
func (c *conversation) leave() {
	c.left = true
	_ = awaited(c.gives) // it counts, or the question waits still
	c.lastSent()
	c.saveDraft()
	c.drafted.leave()
	c.rests()()
}
