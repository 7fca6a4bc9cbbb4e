package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// maxInput is the longest prompt or argument that is read from standard input:
// what one message to the daemon can hold, with room to spare.
const maxInput = 3 << 20

func (c *console) readInput() (string, error) {
	text, err := io.ReadAll(io.LimitReader(bufio.NewReader(c.in), maxInput+1))
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	if len(text) > maxInput {
		return "", usageError{fmt.Sprintf("standard input is longer than %d bytes: put it into a file of the project and name that in the prompt", maxInput)}
	}
	return string(text), nil
}

// silence is how long a pipe may say nothing: CI and supervisors leave ones open that
// nobody writes to or closes.
const silence = 3 * time.Second

// piped returns what was piped in beside a prompt: what a pipe or a file holds until
// its end. A terminal, /dev/null, a file that somebody else has begun to read, and a
// pipe that stays silent add nothing.
func (c *console) piped() (string, error) {
	if c.inTTY || !c.holdsInput() {
		return "", nil
	}
	text, err := c.readInput()
	if err != nil {
		return "", err
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return "", usageError{fmt.Sprintf("standard input is no text: its byte %d is 0; put it into a file of the project and name that in the prompt, or leave it out with </dev/null", i+1)}
	}
	if !utf8.ValidString(text) {
		return "", usageError{"standard input is not valid UTF-8: convert it (iconv -f LATIN1 -t UTF-8), or leave it out with </dev/null"}
	}
	return strings.TrimRight(text, "\r\n\t "), nil
}

// holdsInput reports whether there is something to read, or will be.
func (c *console) holdsInput() bool {
	f, ok := c.in.(*os.File)
	if !ok {
		return true
	}
	info, err := f.Stat()
	switch {
	case err != nil: // it is closed
		return false
	case info.Mode().IsRegular(): // a loop of a shell reads the lines of its file from it
		at, err := f.Seek(0, io.SeekCurrent)
		return err == nil && at == 0
	case info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0:
		return false
	}
	if c.speaks(f) {
		return true
	}
	c.say("bothy: standard input is a pipe in which nothing came for %v: going on without it; with - as a word of the prompt it is waited for, </dev/null says that there is none", c.silence)
	return false
}

// speaks waits until a pipe has something, or its end, and reports whether it did
// before it was silent for too long.
func (c *console) speaks(f *os.File) bool {
	for end := time.Now().Add(c.silence); ; {
		wait := max(0, time.Until(end))
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}, int(wait.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return n > 0 || err != nil // an error is for the read to tell
		}
	}
}

// block marks a text that is no part of what a person wrote, by a fence that does not
// occur in it.
func block(what, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return what + ":\n" + fence + "\n" + text + "\n" + fence
}

// prompt joins the words and what stands on standard input: all of it where the words
// are missing or one is "-", and else a block of its own behind them. along is how many bytes that block has, which are no
// words of the person.
func (c *console) prompt(words []string) (prompt string, along int, err error) {
	rest := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "-" })
	var parts []string
	if len(rest) > 0 {
		parts = append(parts, strings.Join(rest, " "))
	}
	var text string
	switch {
	case len(words) == 0 && c.inTTY:
		return "", 0, usageError{`say what to do: bothy run "..."; or pipe it in`}
	case len(rest) < len(words) || len(words) == 0:
		if text, err = c.readInput(); err == nil {
			text = typed(text)
		}
	default:
		if text, err = c.piped(); text != "" {
			text = block("Standard input", text)
			along = len(text)
		}
	}
	if err != nil {
		return "", 0, err
	}
	if text != "" {
		parts = append(parts, text)
	}
	if prompt = strings.Join(parts, "\n\n"); strings.TrimSpace(prompt) == "" {
		return "", 0, usageError{"the prompt is empty: say what to do"}
	}
	return prompt, along, nil
}

// typed is text without the space around it, but for one before a slash: it says
// that what follows is text and no skill.
func typed(text string) string {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "/") && !strings.HasPrefix(text, "/") {
		return " " + trimmed
	}
	return trimmed
}
