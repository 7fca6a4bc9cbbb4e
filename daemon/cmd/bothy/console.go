package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// console is all that a verb knows of its surroundings; tests give their own.
type console struct {
	in       io.Reader
	out, err io.Writer
	environ  []string
	dir      string // the working directory, after -C
	exe      string // bothy's own path, links resolved
	// interrupts delivers Ctrl-C until the function it returns is called.
	interrupts func() (<-chan os.Signal, func())

	keys keyboard // nil where nobody can be asked

	silence time.Duration // how long a pipe may say nothing before it is left alone

	inTTY, outTTY, errTTY bool
	color                 bool
	plain                 bool // no line of the terminal is drawn again
	json                  bool
	role                  rpc.Role // that the verb needs

	at   string // the project that the verb is about, as far as it was asked for
	told bool   // of what is wrong in the configuration
}

func (c *console) env(name string) string {
	for i := len(c.environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(c.environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// wantsColor holds the rules: a terminal that knows escapes, no --no-color,
// and NO_COLOR unset or empty (no-color.org).
func (c *console) wantsColor(off bool) bool {
	return !off && c.errTTY && c.env("NO_COLOR") == "" && c.env("TERM") != "dumb"
}

type style string

const (
	dim        style = "2"
	bold       style = "1"
	red        style = "31"
	green      style = "32"
	inverse    style = "7"
	plainStyle style = ""
)

// paint is for text that was escaped before.
func (c *console) paint(s style, text string) string {
	if !c.color || text == "" || s == plainStyle {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// painted is what a style of a drawing looks like.
var painted = map[show.Style]style{show.Dim: dim, show.Bold: bold, show.Name: bold, show.Good: green, show.Bad: red, show.Ask: bold, show.Code: dim, show.Odd: inverse}

// painter paints styles with the terminal's colours.
func (c *console) painter() show.Paint {
	return func(s show.Style, text string) string { return c.paint(painted[s], text) }
}

// draw is lines as the terminal gets them.
func (c *console) draw(lines []show.Spans) string {
	return show.Draw(lines, c.painter())
}

// printLines prints a drawing that a person asked for. Its colours are left out where
// standard output is no terminal.
func (c *console) printLines(lines []show.Spans) error {
	plain := *c
	plain.color = c.color && c.outTTY
	_, err := io.WriteString(c.out, plain.draw(lines))
	return err
}

// exact is a text of which an answer depends, on one line.
func (c *console) exact(text string) string {
	return show.Exact(text, show.Plain).Draw(c.painter())
}

// say prints a line of progress or advice to standard error.
func (c *console) say(format string, args ...any) {
	fmt.Fprintf(c.err, format+"\n", args...)
}

// complain prints an error the way every verb does.
func (c *console) complain(err error) {
	c.say("bothy: %s", show.Text(err.Error()))
}

// text prints what a person asked for. A terminal gets it escaped; a file or a
// pipe gets the bytes as they are.
func (c *console) text(text string) error {
	if c.outTTY {
		text = show.Text(text)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(c.out, text)
	return err
}

// lines prints lines, each escaped and on one line.
func (c *console) lines(all ...string) error {
	for _, l := range all {
		if _, err := fmt.Fprintln(c.out, show.Line(l)); err != nil {
			return err
		}
	}
	return nil
}

func (c *console) printJSON(v any) error { return writeJSON(c.out, v, "  ") }

// writeJSON prints v as JSON that a terminal takes for text: what would steer
// it stands there as \u, which means the same to whoever reads the JSON.
func writeJSON(w io.Writer, v any, indent string) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	_, err := io.WriteString(w, show.JSON(text.String()))
	return err
}

// confirm asks a person on the terminal; without a word the answer is no.
func (c *console) confirm(question string) (bool, error) {
	fmt.Fprintf(c.err, "%s [y/N] ", question)
	line, err := bufio.NewReader(c.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("standard input: %w", err)
	}
	word := strings.ToLower(strings.TrimSpace(line))
	return word == "y" || word == "yes", nil
}

// pause waits, and reports whether ctx has not ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// untilPressed is ctx until Ctrl-C: what is under way is given up then. Call
// release at its end.
func (c *console) untilPressed(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	pressed, restore := c.interrupts()
	go func() {
		select {
		case <-pressed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { restore(); cancel() }
}
