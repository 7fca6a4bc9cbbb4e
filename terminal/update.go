package main

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/bothyd/bothy/sdk/client/show"
)

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

// update takes in a message; Update has what is asked looked after.
func (c *conversation) update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case fromRun:
		if m.entered != c.entered {
			return c, c.late(m.msg)
		}
		return c.update(m.msg)
	case led:
		return c, tea.Batch(c.arrive(m.msg), c.draft())
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
	case waitsFor:
		return c, c.say(wrapped(c.p.dim.Render("  "+show.Line(m.text)), c.columns()-2, "  "))
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
		c.lost, c.live.aborting = true, false // the next daemon may go on with what this one was to end
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
	case answerRefused:
		return c, c.askAnew(m)
	case said:
		return c, c.say(m.text)
	case printDue:
		return c, c.printBehind()
	case frameHeld:
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
