package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/client/show"
)

// TestWaitLine: one line says what is done while nothing comes. It goes before all that is
// written, and never stands behind text.
func TestWaitLine(t *testing.T) {
	var to strings.Builder
	now := time.Unix(100, 0)
	w := &waitLine{to: &to, paint: func(_ show.Style, text string) string { return text }, width: 32, now: func() time.Time { return now }, wrote: now}
	steps := []struct {
		does  string // said to be done
		write string
		later time.Duration
		want  string // written to the terminal by then
	}{
		{later: time.Minute, want: ""},
		{does: "waiting for the model", want: "… waiting for the model, 0s"},
		{later: 3 * time.Second, want: "\r\x1b[K… waiting for the model, 3s"},
		{write: "I will ", want: "\r\x1b[KI will "},
		{later: time.Minute, want: ""},
		{write: "look.\n", want: "look.\n"},
		{later: time.Second, want: ""},
		{does: "turn_1/bash/a_very_long_name works", later: time.Second, want: "… turn_1/bash/a_very_long_name…"},
		{does: "turn_1/bash/a_very_long_name works", later: time.Minute, want: "\r\x1b[K… turn_1/bash/a_very_long_name…"},
		{write: "? ", later: time.Minute, want: "\r\x1b[K? "},
	}
	for i, s := range steps {
		to.Reset()
		if s.does != "" {
			w.work(s.does)
		}
		if s.write != "" {
			fmt.Fprint(w, s.write)
		}
		now = now.Add(s.later)
		w.tick()
		if to.String() != s.want {
			t.Errorf("step %d wrote %q, want %q", i, to.String(), s.want)
		}
	}
	to.Reset()
	fmt.Fprint(w, "\n")
	now = now.Add(time.Minute)
	w.tick()
	stop := w.watch()
	stop()
	if got := to.String(); !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("the line stays at the end: %q", got)
	}
	resume := w.pause()
	to.Reset()
	now = now.Add(time.Hour)
	w.tick()
	if to.String() != "" {
		t.Errorf("it draws %q while another program has the terminal", to.String())
	}
	if resume(); terminalOf(w) != &to || terminalOf(&to) != &to {
		t.Error("the terminal behind the line is another")
	}
	if w.tick(); to.String() == "" {
		t.Error("nothing is said any more behind a pause")
	}
	var none *waitLine
	none.work("nothing is said without a terminal")
}
