package main

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
)

const (
	// foldedAt is how many lines or bytes a pasted text has that is shown folded.
	foldedLines = 12
	foldedBytes = 2000
	// mostInput is how much a prompt may have, in bytes.
	mostInput = 1 << 20
)

// input is where the person writes: several lines, with pasted texts that stand there as
// a mark and are put in when it is sent.
type input struct {
	area   textarea.Model
	pasted map[string]string // by the mark
}

func newInput() input {
	a := textarea.New()
	a.Placeholder = "What shall be done?"
	a.SetPromptFunc(2, func(at textarea.PromptInfo) string {
		if at.LineNumber == 0 {
			return "> "
		}
		return "  "
	})
	a.ShowLineNumbers, a.DynamicHeight, a.MinHeight, a.MaxHeight = false, true, 1, 12
	a.CharLimit = mostInput
	a.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("shift+enter", "alt+enter", "ctrl+j"))
	a.KeyMap.LinePrevious = key.NewBinding(key.WithKeys("up"))
	a.KeyMap.LineNext = key.NewBinding(key.WithKeys("down"))
	plain := a.Styles()
	plain.Focused.CursorLine, plain.Blurred.CursorLine = plain.Focused.Text, plain.Blurred.Text
	a.SetStyles(plain)
	a.SetVirtualCursor(false)
	a.Focus()
	return input{area: a, pasted: map[string]string{}}
}

// paste puts a pasted text in, a long one as a mark.
func (in *input) paste(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Count(text, "\n") + 1
	if lines < foldedLines && len(text) < foldedBytes {
		in.area.InsertString(text)
		return
	}
	mark := fmt.Sprintf("[pasted %d: %d lines]", len(in.pasted)+1, lines)
	in.pasted[mark] = text
	in.area.InsertString(mark)
}

// text is what would be sent: with the pasted texts in the place of their marks.
func (in *input) text() string {
	text := in.area.Value()
	for mark, pasted := range in.pasted {
		text = strings.ReplaceAll(text, mark, pasted)
	}
	return text
}

// set puts another text in.
func (in *input) set(text string) {
	in.area.SetValue(text)
	in.area.MoveToEnd()
}

// clear empties it.
func (in *input) clear() {
	in.area.Reset()
	in.pasted = map[string]string{}
}

// onFirst and onLast report whether the cursor stands on the first or the last line, from
// which a further step leads through what was typed before.
func (in *input) onFirst() bool {
	return in.area.Line() == 0 && in.area.LineInfo().RowOffset == 0
}

func (in *input) onLast() bool {
	return in.area.Line() == in.area.LineCount()-1 && in.area.LineInfo().RowOffset >= in.area.LineInfo().Height-1
}
