package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"golang.org/x/term"
)

// output is the terminal that the program writes to. What is printed above and the frame
// below it reach it in one piece, so that no text stands twice, or is missing, for one
// frame: the frame that has the text no more is held, and what Bubble Tea puts in above it
// lets both go. So the frame is never taller than it will be, and what is put in pushes no
// more out of the screen than it has to. A nil output holds nothing.
//
// It tells when the terminal was sent to its alternate screen, and back to its own: what is
// printed above in between would be written onto the other one, and lost.
type output struct {
	file  *os.File
	send  func(tea.Msg)
	mu    sync.Mutex
	held  bytes.Buffer
	holds bool // what is written is held
	marks int  // how many marks are to come before who prints is told
}

// frameHeld says that the frame is held which was drawn last.
type frameHeld struct{}

// frameMark is written for what prints (tea.Raw), and goes no further than Write. Each time
// that Bubble Tea draws, it writes first what was given to it raw, and then the frame, where
// that differs from the one before. So a first mark says that the newest frame is drawn next,
// and a second one, given behind the first, that it was drawn, also where nothing differed.
const frameMark = "\x1b_bothy frame\x1b\\"

// hold holds what is written from now on, until what is put in above the frame. It is called
// by Update, before the frame is drawn that has what is printed no more. An Update behind that
// one has frameMark written.
func (o *output) hold() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.holds, o.marks = true, 2
}

// stands reports whether no frame is held.
func (o *output) stands() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.held.Len() == 0
}

// release lets what was held go at once.
func (o *output) release() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.holds = false
	_ = o.flush() // a terminal that is gone is noticed by the next frame
}

// flush writes what is held, all of it as one frame for a terminal that waits for the end
// of one.
func (o *output) flush() error {
	switch { // Update may wait for this very write
	case bytes.Contains(o.held.Bytes(), alternate):
		defer func() { go o.send(screenStands{}) }()
	case bytes.Contains(o.held.Bytes(), itsOwn):
		defer func() { go o.send(screenLeft{}) }()
	}
	if bytes.Contains(o.held.Bytes(), frameBegins) {
		all := bytes.ReplaceAll(bytes.ReplaceAll(o.held.Bytes(), frameBegins, nil), frameEnds, nil)
		o.held.Reset()
		_, err := o.file.Write(slices.Concat(frameBegins, all, frameEnds))
		return err
	}
	_, err := o.held.WriteTo(o.file)
	return err
}

// What stands before and behind a frame where the terminal waits for its end.
var frameBegins, frameEnds = []byte("\x1b[?2026h"), []byte("\x1b[?2026l")

// Read, Close and Fd make a terminal of it for Bubble Tea. A File must not be embedded: its
// WriteString would go past Write.
func (o *output) Read(b []byte) (int, error) { return o.file.Read(b) }
func (o *output) Close() error               { return o.file.Close() }
func (o *output) Fd() uintptr                { return o.file.Fd() }

// Write implements io.Writer. Bubble Tea calls it once for a frame, once for what is printed
// above, and once for all that was given to it raw.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if in := insertion.FindSubmatch(b); in != nil && len(in[2]) == number(in[4]) {
		if width, height, err := term.GetSize(int(o.Fd())); err == nil {
			lines, up := number(in[4]), number(in[3])
			o.held.WriteString(inserted(string(b[len(in[0]):]), up-lines+1, number(in[1]), width, height))
			o.holds = false
			return len(b), o.flush()
		}
	}
	before, behind, isMark := bytes.Cut(b, []byte(frameMark))
	o.held.Write(before)
	o.held.Write(behind)
	if isMark {
		o.marked()
	}
	return len(b), o.pass()
}

// marked takes a mark, and has a second one written behind the first.
func (o *output) marked() {
	o.marks--
	switch o.marks { // Update may wait for this very write
	case 1:
		go o.send(tea.Raw(frameMark)())
	case 0:
		go o.send(frameHeld{})
	}
}

// note writes what is no frame, and belongs to none.
func (o *output) note(text string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held.WriteString(text)
	_ = o.pass() // as above
}

// pass writes what is to be written, unless it is held.
func (o *output) pass() error {
	if o.holds {
		return nil
	}
	return o.flush()
}

// insertion is how Bubble Tea begins what it prints above: down to the last line of its
// frame (1), as many line breaks as there are lines (2), up to its first line (3), and as
// many lines put in (4).
var insertion = regexp.MustCompile(`^\r(\x1b\[\d*B)?(\n+)(\x1b\[\d*A)(\x1b\[\d*L)`)

// number is the parameter of a sequence: 1 where it has none, 0 without a sequence.
func number(sequence []byte) int {
	if len(sequence) == 0 {
		return 0
	}
	n, err := strconv.Atoi(string(sequence[2 : len(sequence)-1]))
	if err != nil {
		return 1
	}
	return n
}

// inserted puts lines above a frame of a height, from down lines above its last one.
// Bubble Tea puts them in at once, which breaks what is taller than the room above the
// frame: the frame itself is scrolled away. So they are put in by as many as there is
// room for.
func inserted(lines string, frame, down, width, height int) string {
	room := max(height-frame, 1)
	var all, piece strings.Builder
	rows := 0
	put := func() {
		if rows == 0 {
			return
		}
		all.WriteByte('\r')
		if down > 0 {
			fmt.Fprintf(&all, "\x1b[%dB", down)
		}
		all.WriteString(strings.Repeat("\n", rows))
		if up := rows + frame - 1; up > 0 {
			fmt.Fprintf(&all, "\x1b[%dA", up)
		}
		fmt.Fprintf(&all, "\x1b[%dL", rows)
		all.WriteString(piece.String())
		piece.Reset()
		rows, down = 0, frame-1
	}
	for line := range strings.SplitAfterSeq(lines, "\r\n") {
		if line == "" {
			continue
		}
		n := max(1, (lipgloss.Width(line)+width-1)/max(width, 1))
		if rows+n > room {
			put()
		}
		piece.WriteString(line)
		rows += n
	}
	put()
	return all.String()
}
