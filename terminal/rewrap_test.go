package main

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestRewraps knows terminals by what they tell, also within one another.
func TestRewraps(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "7600"}, true},
		{map[string]string{"TERM": "xterm-kitty"}, true},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, true},
		{map[string]string{"TERM": "tmux-256color"}, true},
		{map[string]string{"TERM": "screen-256color", "TERM_PROGRAM": "tmux"}, true},
		{map[string]string{"TERM": "screen-256color", "VTE_VERSION": "7600"}, false},
		{map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "7600", "XTERM_VERSION": "XTerm(390)"}, false},
		{map[string]string{"TERM": "xterm-256color"}, false},
		{map[string]string{"TERM": "linux"}, false},
	} {
		if got := rewraps(func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%v: %v", tt.env, got)
		}
	}
}

// TestRewrapped counts the rows above the cursor that come to be when the window becomes
// narrower.
func TestRewrapped(t *testing.T) {
	f := frameShown{lines: []string{"0123456789", "01234     ", "\x1b[2m01234567\x1b[0m", "> 0123456"}, cursor: tea.NewCursor(9, 3)}
	for width, want := range map[int]int{10: 0, 9: 2, 8: 2, 5: 3, 4: 6, 0: 0} {
		if got := f.rewrapped(width); got != want {
			t.Errorf("%d columns: %d rows, want %d", width, got, want)
		}
	}
	if f.cursor = nil; f.rewrapped(4) != 0 {
		t.Error("rows are counted to a cursor that is not there")
	}
}
