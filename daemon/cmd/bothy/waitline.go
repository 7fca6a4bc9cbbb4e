package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk/client/show"
)

// terminalOf is what a writer of lines writes to: programs that are run, and who asks for
// the width, want the terminal itself.
func terminalOf(w io.Writer) io.Writer {
	if line, is := w.(*waitLine); is {
		return line.to
	}
	return w
}

// silentFor is how long nothing comes before the terminal says what is being done.
const silentFor = 2 * time.Second

// waitLine writes to a terminal, and while nothing is written says in one line what is
// being done and for how long. The line goes before anything else is written, and comes
// only where the cursor is at the begin of a line: behind a question's keys it never does.
type waitLine struct {
	to    io.Writer
	paint show.Paint
	width int
	now   func() time.Time

	mu    sync.Mutex
	does  string    // empty: nothing is said
	since time.Time // that is being done
	wrote time.Time // that something was last written
	open  bool      // the cursor stands behind text
	shown bool      // the line stands there
}

// Write implements io.Writer.
func (w *waitLine) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.clear(); err != nil {
		return 0, err
	}
	if len(text) > 0 {
		w.wrote, w.open = w.now(), text[len(text)-1] != '\n'
	}
	return w.to.Write(text)
}

// clear takes the line away. The caller holds mu.
func (w *waitLine) clear() error {
	if !w.shown {
		return nil
	}
	w.shown = false
	_, err := io.WriteString(w.to, "\r\x1b[K")
	return err
}

// pause takes the line away and lets it stay away until the function that it returns is
// called: another program writes to the terminal.
func (w *waitLine) pause() func() {
	w.mu.Lock()
	_ = w.clear() // as in tick
	w.open = true
	w.mu.Unlock()
	return func() {
		w.mu.Lock()
		w.open = false
		w.mu.Unlock()
	}
}

// work says what is being done from now on.
func (w *waitLine) work(what string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if what != w.does {
		w.does, w.since = what, w.now()
	}
}

// tick shows the line, or how long it is now, where it may stand.
func (w *waitLine) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if w.does == "" || w.open || now.Sub(w.wrote) < silentFor {
		return
	}
	text := show.Cut(fmt.Sprintf("… %s, %s", w.does, show.Brief(now.Sub(w.since).Truncate(time.Second))), w.width-1)
	_ = w.clear() // a terminal that is gone is told of by what is written next
	w.shown = true
	_, _ = io.WriteString(w.to, w.paint(show.Dim, text))
}

// watch ticks until the function that it returns is called, which takes the line away.
func (w *waitLine) watch() func() {
	ticker := time.NewTicker(time.Second)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				w.tick()
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-ended
		w.mu.Lock()
		defer w.mu.Unlock()
		_ = w.clear() // as in tick
	}
}

// tellWaits says what is being done while nothing else is written to the terminal, until
// the function that it returns is called. Where lines cannot be drawn again it says
// nothing.
func (c *console) tellWaits() (*waitLine, func()) {
	if !c.errTTY || !c.redraws() {
		return nil, func() {}
	}
	to := c.err
	w := &waitLine{to: to, paint: c.painter(), width: c.errWidth(), now: time.Now, wrote: time.Now()}
	stop := w.watch()
	c.err = w
	return w, func() {
		stop()
		c.err = to
	}
}
