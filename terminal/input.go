package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
)

const (
	// A pasted text of so many lines or bytes is shown folded.
	foldedLines = 12
	foldedBytes = 2000
	// mostInput is how much a prompt may have, in bytes.
	mostInput = 1 << 20
	// mostRows and mostUndo bound what can be edited here, and how often it is undone.
	mostRows = 5000
	mostUndo = 200
)

// input is where the person writes: several lines, with pasted texts that stand there as
// a mark and are put in when it is sent.
type input struct {
	area   textarea.Model
	pasted map[string]string // by the mark
	marks  int               // made so far
	mark   *string           // before the first line

	undone  []field // what to go back to, the last change last
	typing  bool    // the last change was a typed character
	killed  []rune  // what was cut last, for ctrl-y
	killing bool    // the last key cut: the next one adds to it
	vi      *vi     // nil: the keys of emacs
}

func newInput() input {
	a := textarea.New()
	a.Placeholder = "What shall be done?"
	mark := "> "
	a.SetPromptFunc(2, func(at textarea.PromptInfo) string {
		if at.LineNumber == 0 {
			return mark
		}
		return "  "
	})
	a.ShowLineNumbers, a.DynamicHeight, a.MinHeight, a.MaxHeight = false, true, 1, 12
	a.CharLimit, a.MaxContentHeight = mostInput, 2*mostRows
	a.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("shift+enter", "alt+enter", "ctrl+j"))
	a.KeyMap.LinePrevious = key.NewBinding(key.WithKeys("up"))
	a.KeyMap.LineNext = key.NewBinding(key.WithKeys("down"))
	plain := a.Styles()
	plain.Focused.CursorLine, plain.Blurred.CursorLine = plain.Focused.Text, plain.Blurred.Text
	plain.Cursor.Color = nil // the terminal's own
	a.SetStyles(plain)
	a.SetVirtualCursor(false)
	a.Focus()
	return input{area: a, pasted: map[string]string{}, mark: &mark}
}

// key edits with a key, as the widget has it, beside what it has not: undoing, what was
// cut, and marks that go as a whole.
func (in *input) key(m tea.KeyPressMsg) (cmd tea.Cmd) {
	before, name := in.field(), m.Keystroke()
	switch {
	case slices.Contains([]string{"ctrl+_", "ctrl+/", "ctrl+shift+-", "alt+z"}, name):
		in.undo()
		return nil
	case name == "ctrl+y":
		in.area.InsertString(string(in.killed))
	case slices.Contains([]string{"backspace", "ctrl+h", "alt+backspace", "ctrl+w"}, name) && in.dropMark(before):
	default:
		in.area, cmd = in.area.Update(m)
	}
	in.note(before, name, m.Text)
	return cmd
}

// note remembers what a key changed.
func (in *input) note(before field, name, typed string) {
	after := in.field()
	kills := slices.Contains([]string{"ctrl+w", "alt+backspace", "ctrl+u", "ctrl+k", "alt+d", "ctrl+backspace", "alt+delete", "ctrl+delete"}, name)
	if slices.Equal(before.text, after.text) {
		in.typing, in.killing = false, false
		return
	}
	if n := len(before.text) - len(after.text); kills && n > 0 {
		cut := before.text[after.at : after.at+n]
		switch {
		case !in.killing:
			in.killed = slices.Clone(cut)
		case after.at < before.at:
			in.killed = slices.Concat(cut, in.killed)
		default:
			in.killed = slices.Concat(in.killed, cut)
		}
	}
	in.killing = kills
	types := len([]rune(typed)) == 1 && typed != " "
	if !types || !in.typing {
		in.keep(before)
	}
	in.typing = types
}

// keep remembers a field to go back to.
func (in *input) keep(f field) {
	in.undone = append(in.undone[max(0, len(in.undone)-mostUndo+1):], f)
}

// undo takes the last change back. What was typed in one go is one change, up to a blank.
func (in *input) undo() {
	in.typing, in.killing = false, false
	if n := len(in.undone); n > 0 {
		in.show(in.undone[n-1])
		in.undone = in.undone[:n-1]
	}
}

// field is what stands there, with the cursor.
func (in *input) field() field {
	lines := strings.Split(in.area.Value(), "\n")
	at := in.area.Column()
	for _, line := range lines[:min(in.area.Line(), len(lines))] {
		at += len([]rune(line)) + 1
	}
	f := field{text: []rune(in.area.Value())}
	f.at = f.within(at)
	return f
}

// show puts a field there. It is no change to go back from.
func (in *input) show(f field) {
	in.area.SetValue(string(f.text))
	row, column := f.row()
	for in.area.Line() > row {
		in.area.CursorUp()
	}
	in.area.SetCursorColumn(column)
	in.area, _ = in.area.Update(nil) // it scrolls to the cursor
}

// change puts a field there, from which undo leads back.
func (in *input) change(f field) {
	if before := in.field(); !slices.Equal(before.text, f.text) {
		in.keep(before)
	}
	in.typing, in.killing = false, false
	if in.normal() {
		f = f.rest()
	}
	in.show(f)
}

// insert puts a text before the cursor.
func (in *input) insert(text string) {
	f := in.field()
	in.change(f.put(f.at, []rune(text)))
}

// paste puts a pasted text in, a long one as a mark. It reports whether there is room for
// it: what is too long to be sent is not taken.
func (in *input) paste(text string) bool {
	if len(in.text())+len(text) > mostInput {
		return false
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if strings.Count(text, "\n")+1 >= foldedLines || len(text) >= foldedBytes || !fits(text) {
		text = in.fold(text)
	}
	in.insert(shownTabs(text))
	return true
}

// tabMark stands for a tab in the input: the widget would make blanks of one.
const tabMark = "⇥"

// fits reports whether a text can be edited here.
func fits(text string) bool {
	return len(text) <= mostInput && !strings.Contains(text, tabMark) && strings.Count(text, "\n") < mostRows && strings.IndexFunc(text, unseen) < 0
}

// unseen reports whether a character would steer the terminal instead of being seen.
func unseen(r rune) bool { return !unicode.IsGraphic(r) && show.Text(string(r)) != string(r) }

// shownTabs and sentTabs are a text as it stands in the input, and as it is sent.
func shownTabs(text string) string { return strings.ReplaceAll(text, "\t", tabMark) }
func sentTabs(text string) string  { return strings.ReplaceAll(text, tabMark, "\t") }

// fold is a mark that stands for a text.
func (in *input) fold(text string) string {
	in.marks++
	lines := strings.Count(text, "\n") + 1
	mark := fmt.Sprintf("[pasted %d: %d lines]", in.marks, lines)
	if lines == 1 {
		mark = fmt.Sprintf("[pasted %d: %d characters]", in.marks, len([]rune(text)))
	}
	in.pasted[mark] = text
	return mark
}

// dropMark removes the mark that ends at the cursor. One that was edited is text.
func (in *input) dropMark(f field) bool {
	before := string(f.text[:f.at])
	for mark := range in.pasted {
		if strings.HasSuffix(before, mark) {
			f, _ = f.cut(f.at-len([]rune(mark)), f.at)
			in.show(f)
			return true
		}
	}
	return false
}

// expand puts the pasted texts in, to be edited; those that cannot be are left, which it
// reports.
func (in *input) expand() bool {
	text, whole := in.area.Value(), true
	for mark, pasted := range in.pasted {
		switch {
		case !strings.Contains(text, mark):
		case fits(pasted):
			text = strings.ReplaceAll(text, mark, shownTabs(pasted))
		default:
			whole = false
		}
	}
	in.change(fieldOf(text))
	return whole
}

// text is what would be sent: with the pasted texts in the place of their marks.
func (in *input) text() string { return in.unfold(in.area.Value()) }

// unfold puts pasted texts in the place of their marks. Marks in them are text.
func (in *input) unfold(text string) string {
	pairs := []string{tabMark, "\t"}
	for mark, pasted := range in.pasted {
		pairs = append(pairs, mark, pasted)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// set puts another text in; one that cannot be edited here as a mark.
func (in *input) set(text string) {
	if !fits(sentTabs(text)) {
		text = in.fold(text)
	}
	in.change(fieldOf(shownTabs(text)))
}

// forget lets the pasted texts go whose marks were sent, unless they stand here again.
func (in *input) forget(shown string) {
	for mark := range in.pasted {
		if strings.Contains(shown, mark) && !strings.Contains(in.area.Value(), mark) {
			delete(in.pasted, mark)
		}
	}
}

// useVi has the keys be those of vi, or not.
func (in *input) useVi(use bool) {
	if in.vi = nil; use {
		in.vi = &vi{}
	}
}

// normal reports whether keys are vi's commands now.
func (in *input) normal() bool { return in.vi != nil && in.vi.normal }

// clear empties it, and what it was cannot be undone any more.
func (in *input) clear() {
	in.area.Reset()
	in.settle()
	if in.vi != nil {
		in.vi.insert()
	}
}

// settle makes what stands there the beginning, behind which undo does not go.
func (in *input) settle() { in.undone, in.typing, in.killing = nil, false, false }

// onFirst and onLast report whether the cursor stands on the first or the last line, from
// which a further step leads through what was typed before.
func (in *input) onFirst() bool {
	return in.area.Line() == 0 && in.area.LineInfo().RowOffset == 0
}

func (in *input) onLast() bool {
	return in.area.Line() == in.area.LineCount()-1 && in.area.LineInfo().RowOffset >= in.area.LineInfo().Height-1
}
