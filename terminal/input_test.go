package main

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// newTestInput is an input that has a width.
func newTestInput() input {
	in := newInput()
	in.area.SetWidth(60)
	return in
}

// TestPaste: a short text goes in as it is, its tabs as signs, and a long one as a mark:
// both are the text again when it is sent.
func TestPaste(t *testing.T) {
	in := newTestInput()
	in.paste("a\r\nb")
	long := strings.Repeat("line\n", 40) + "[pasted 2: 1 lines]"
	in.paste(long)
	in.paste("\ttab")
	in.paste("⇥")
	if got := in.area.Value(); got != "a\nb[pasted 1: 41 lines]⇥tab[pasted 2: 1 characters]" {
		t.Errorf("the input shows %q", got)
	}
	if got := in.text(); got != "a\nb"+long+"\ttab⇥" {
		t.Errorf("what is sent is %q", got)
	}
	if in.expand() {
		t.Error("the sign of a tab was put in as one")
	}
	if got := in.area.Value(); got != "a\nb"+long+"⇥tab[pasted 2: 1 characters]" {
		t.Errorf("put in it shows %q", got)
	}
	in.clear()
	in.forget("[pasted 1: 41 lines] [pasted 2: 1 characters]")
	if in.text() != "" || len(in.pasted) != 0 {
		t.Errorf("it is not empty: %q, %v", in.text(), in.pasted)
	}
}

// TestPasteTooLong: what is too long to be sent is not taken, with what stands there counted.
func TestPasteTooLong(t *testing.T) {
	c := alone(t, 80, 24)
	c.Update(tea.PasteMsg{Content: strings.Repeat("x", mostInput-10)})
	before := c.in.text()
	for _, text := range []string{strings.Repeat("y", mostInput+1), "eleven byte"} {
		c.Update(tea.PasteMsg{Content: text})
		if c.in.text() != before || !strings.Contains(c.tail, "too long") {
			t.Errorf("%d bytes more are taken, and it says %q", len(text), c.tail)
		}
	}
	c.Update(tea.PasteMsg{Content: "ten bytes!"})
	if c.in.text() != before+"ten bytes!" {
		t.Error("what has room is not taken")
	}
}

// TestMarks: a mark goes as a whole, unless it was edited.
func TestMarks(t *testing.T) {
	in := newTestInput()
	backspace := tea.KeyPressMsg{Code: tea.KeyBackspace}
	in.insert("see ")
	in.paste(strings.Repeat("line\n", 40))
	in.key(backspace)
	if got := in.area.Value(); got != "see " {
		t.Errorf("behind the mark it leaves %q", got)
	}
	in.undo()
	in.key(tea.KeyPressMsg{Code: tea.KeyLeft})
	in.key(backspace)
	if got := in.text(); got != "see [pasted 1: 41 line]" {
		t.Errorf("an edited mark is %q", got)
	}
}

// TestLongInput: many lines can be typed, set and gone through; the cursor is where a field
// says.
func TestLongInput(t *testing.T) {
	in := newTestInput()
	text := strings.Repeat("ä line that is longer than what fits into the width of this input\n", 100) + "end"
	in.set(text)
	if in.area.Value() != text {
		t.Error("it shows another text")
	}
	for _, at := range []int{0, 5, 69, 70, 1234, len([]rune(text))} {
		in.show(field{[]rune(text), at})
		if got := in.field(); got.at != at {
			t.Errorf("the cursor stands at %d, not at %d", got.at, at)
		}
	}
	in.set(strings.Repeat("\n", mostRows))
	if got := in.text(); got != strings.Repeat("\n", mostRows) {
		t.Errorf("of many lines %d are left", strings.Count(got, "\n"))
	}
}
