package main

import (
	"strings"
	"testing"
)

// TestInserted: what is taller than the room above the frame is put in by as many lines as
// there is room for.
func TestInserted(t *testing.T) {
	for _, tt := range []struct {
		name                string
		lines               string
		frame, down, height int
		want                string
	}{
		{"fits", "a\r\nb\r\n", 2, 1, 10, "\r\x1b[1B\n\n\x1b[3A\x1b[2La\r\nb\r\n"},
		{"is cut", "a\r\nb\r\nc\r\n", 2, 0, 4, "\r\n\n\x1b[3A\x1b[2La\r\nb\r\n\r\x1b[1B\n\x1b[2A\x1b[1Lc\r\n"},
		{"a frame as tall as the screen", "a\r\nb\r\n", 4, 1, 4, "\r\x1b[1B\n\x1b[4A\x1b[1La\r\n\r\x1b[3B\n\x1b[4A\x1b[1Lb\r\n"},
		{"wide", strings.Repeat("x", 15) + "\r\n", 1, 0, 10, "\r\n\n\x1b[2A\x1b[2L" + strings.Repeat("x", 15) + "\r\n"},
	} {
		if got := inserted(tt.lines, tt.frame, tt.down, 10, tt.height); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
