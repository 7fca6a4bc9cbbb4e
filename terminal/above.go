package main

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
)

// above is what is printed above, where the terminal keeps it: block by block, in the
// order in which they were said. What is said while a screen stands over the conversation
// waits until that is gone, since it would be written onto the screen.
type above struct {
	waits    []string // blocks that are not printed yet
	printing bool     // some are under way to the terminal
	due      int      // how many of them are under way
	ends     bool     // the program ends when all are printed
	headed   bool     // the first block was said: until then nothing is printed and nothing goes out
	away     bool     // the terminal is given, or about to be given, to a shell or an editor
}

type (
	// printDue says that the frame is to be drawn that stands below what is printed.
	printDue struct{}
	// printed says that what was under way stands there.
	printed struct{}
)

// say prints a block above.
func (c *conversation) say(block string) tea.Cmd {
	if block == "" {
		return nil
	}
	if c.width <= narrow {
		block = strings.Join(c.fitted([]string{block}), "\n")
	}
	c.waits = append(c.waits, block)
	return c.print()
}

// print prints what waits, unless something is under way already or cannot be printed now.
// It is printed above the frame that is drawn behind this Update.
func (c *conversation) print() tea.Cmd {
	if !c.headed || c.printing || c.away || c.screen != nil || len(c.waits) == 0 {
		return nil
	}
	c.printing, c.due = true, 0
	c.out.hold()
	return func() tea.Msg { return printDue{} }
}

// printBehind prints when the frame is drawn, with all that was said before: nothing of it
// stands in that frame any more.
func (c *conversation) printBehind() tea.Cmd {
	c.due = len(c.waits)
	return tea.Raw(frameMark)
}

// printNow prints what the frame has no more.
func (c *conversation) printNow() tea.Cmd {
	if c.due == 0 {
		return nil
	}
	text := strings.Join(c.waits[:c.due], "\n")
	c.waits, c.due = c.waits[c.due:], 0
	return tea.Sequence(tea.Println(text), func() tea.Msg { return printed{} })
}

// printedAll goes on behind what was printed.
func (c *conversation) printedAll() tea.Cmd {
	c.printing = false
	c.out.release()
	if c.next != nil {
		return c.over(c.next)
	}
	if len(c.waits) > 0 {
		return c.print()
	}
	if c.ends {
		return tea.Quit
	}
	return nil
}

// bye ends the program behind what is still to be printed.
func (c *conversation) bye() tea.Cmd {
	c.ends, c.headed = true, true
	if c.printing || c.screen == nil && len(c.waits) > 0 {
		return c.print()
	}
	return tea.Quit
}

// suspend gives the terminal back until the program is continued, which takes a shell.
func (c *conversation) suspend() tea.Cmd {
	if !fromShell() {
		c.tail = c.p.dim.Render(show.Cut("no shell is there to come back from", c.columns()))
		return nil
	}
	c.giveAway()
	return tea.Suspend
}

// giveAway lets go what is held, and holds nothing until the terminal comes back: what Bubble
// Tea writes to give its modes up must reach the terminal.
func (c *conversation) giveAway() {
	c.away = true
	c.out.release()
}

// cameBack goes on with what was said meanwhile.
func (c *conversation) cameBack() tea.Cmd {
	c.away = false
	return c.print()
}
