package main

import (
	"regexp"
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
)

// metaTerminal is by which an editor says that it shows what a command of an agent prints in a
// terminal that runs nothing. It is no part of the protocol, which has terminals that the
// editor runs commands in: agents and editors agreed on these members of _meta.
const (
	metaTerminal = "terminal_output"
	metaInfo     = "terminal_info"
	metaExit     = "terminal_exit"
)

// screen is what the editor was told of the terminal of a call.
type screen struct {
	begun bool   // it knows of it
	wrote bool   // something was printed
	held  string // the beginning of a sequence whose end has not come
}

// hasScreen reports whether the editor shows a call as a terminal: that of a command.
func (t *teller) hasScreen(c *call) bool {
	return t.s.b.terminals.Load() && t.s.b.tool(c.action.Tool).Command != ""
}

// terminal is the terminal of a call, as a part of what it shows.
func terminal(c *call) acp.ToolCallContent {
	return acp.ToolCallContent{Terminal: &acp.ToolCallContentTerminal{Type: "terminal", TerminalId: c.action.Path}}
}

// screenInfo tells the editor of the terminal of a call, when it begins.
func (t *teller) screenInfo(c *call) map[string]any {
	if !c.screen.begun {
		return nil
	}
	return map[string]any{metaInfo: map[string]any{"terminal_id": c.action.Path, "cwd": t.s.project}}
}

// print shows more of what a command prints.
func (t *teller) print(c *call, text string) {
	text, c.screen.held = steady(c.screen.held + text)
	if text == "" {
		return
	}
	c.screen.wrote = true
	t.screenUpdate(c, map[string]any{metaTerminal: map[string]any{"terminal_id": c.action.Path, "data": text}})
}

// exit ends the terminal of a call. What was not shown as it came is shown now.
func (t *teller) exit(c *call) {
	a := c.action
	if c.screen.held = ""; !c.screen.wrote && a.Body != a.Error {
		t.print(c, middleCut(a.Body, mostOutput))
	}
	end := map[string]any{"terminal_id": a.Path}
	if code, is := a.Outcome.ExitCode(); is {
		end["exit_code"] = code
	} else if a.State == sdk.StateResolved {
		end["exit_code"] = 0
	}
	t.screenUpdate(c, map[string]any{metaExit: end})
}

func (t *teller) screenUpdate(c *call, meta map[string]any) {
	t.update(acp.SessionUpdate{ToolCallUpdate: &acp.SessionToolCallUpdate{ToolCallId: acp.ToolCallId(c.action.Path), Meta: meta}})
}

var (
	// colour is a sequence that changes how text looks, and nothing else.
	colour = regexp.MustCompile(`\x1b\[[0-9;:]*m`)
	// begun is the beginning of one at the end of a text.
	begun = regexp.MustCompile(`\x1b(\[[0-9;:]{0,64})?$`)
)

// steady is a piece of what a program prints that a terminal may have: colours, and what moves within a
// line. All else that steers a terminal, such as its title or the clipboard, appears as what it is. The
// beginning of a sequence at the end of the piece is held, for the next one.
func steady(text string) (shown, held string) {
	if at := begun.FindStringIndex(text); at != nil {
		text, held = text[:at[0]], text[at[0]:]
	}
	var b strings.Builder
	at := 0
	for _, m := range colour.FindAllStringIndex(text, -1) {
		plainly(&b, text[at:m[0]])
		b.WriteString(text[m[0]:m[1]])
		at = m[1]
	}
	plainly(&b, text[at:])
	return b.String(), held
}

// plainly writes a text without sequences.
func plainly(b *strings.Builder, text string) {
	for text != "" {
		n := strings.IndexAny(text, "\n\r\t")
		if n < 0 {
			n = len(text)
		}
		b.WriteString(show.Line(text[:n]))
		if n < len(text) {
			b.WriteByte(text[n])
			n++
		}
		text = text[n:]
	}
}
