package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestFrameMark: who prints is told when the frame is drawn that stands behind the Update that
// holds, however slowly frames are drawn, and also where that looks like the one before.
func TestFrameMark(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for _, differs := range []bool{true, false} {
		h := &holder{told: make(chan tea.Msg), differs: differs}
		h.out = &output{file: file, send: func(msg tea.Msg) { h.told <- msg }}
		h.program = tea.NewProgram(h, tea.WithOutput(h), tea.WithInput(nil), tea.WithFPS(60), tea.WithWindowSize(20, 5))
		if _, err := h.program.Run(); err != nil {
			t.Fatal(err)
		}
		if h.frame != 4 || len(h.missing) > 0 {
			t.Errorf("the frames differ %v: there are %d, and told is without %q", differs, h.frame, h.missing)
		}
	}
	if got, err := os.ReadFile(file.Name()); err != nil || !strings.Contains(string(got), "444444444") || strings.Contains(string(got), frameMark) {
		t.Errorf("the terminal got %q, %v", got, err)
	}
}

// holder is a program that holds four frames, and the terminal it writes to, which looks
// whether a frame was drawn at the very moment in which that is told.
type holder struct {
	program *tea.Program
	out     *output
	told    chan tea.Msg
	differs bool
	frame   int
	drawn   string // all that was
	missing []string
}

// Write implements io.Writer. Frames are drawn behind it.
func (h *holder) Write(b []byte) (int, error) {
	n, err := h.out.Write(b)
	h.drawn += string(b)
	if strings.Contains(string(b), frameMark) {
		msg := <-h.told
		if _, is := msg.(frameHeld); is && !strings.Contains(h.drawn, h.text()) {
			h.missing = append(h.missing, h.text())
		}
		go h.program.Send(msg)
	}
	return n, err
}

// Init implements tea.Model.
func (h *holder) Init() tea.Cmd { return h.hold() }

// Update implements tea.Model.
func (h *holder) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, is := msg.(frameHeld); !is {
		return h, nil
	}
	h.out.release()
	if h.frame == 4 {
		return h, tea.Quit
	}
	return h, h.hold()
}

// hold holds the next frame.
func (h *holder) hold() tea.Cmd {
	h.frame++
	h.out.hold()
	return tea.Raw(frameMark)
}

// text is a frame of which all is drawn anew, unless it is always the same one.
func (h *holder) text() string {
	if !h.differs {
		return "same"
	}
	return strings.Repeat(fmt.Sprint(h.frame), 9)
}

// View implements tea.Model.
func (h *holder) View() tea.View { return tea.NewView(h.text()) }

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
