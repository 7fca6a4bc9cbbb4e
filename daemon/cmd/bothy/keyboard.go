package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// keyboard is how a person answers. Nothing but a terminal is one: what comes
// through a pipe was written before the question.
type keyboard interface {
	// forget drops what was typed and not read: it is no answer to a question
	// that came later.
	forget() error
	// line waits for a whole line. Its error is io.EOF when there are no more,
	// and ctx's cause when that is done.
	line(ctx context.Context) (string, error)
	// unseen is line for what must not stand on the screen.
	unseen(ctx context.Context) (string, error)
}

// keyboardOf is the keyboard behind a file; nil when it is not for this process
// to read. The terminal of another session is not, nor is one that another job
// has in front: reading it would stop this process, and nobody would be asked.
func keyboardOf(f *os.File) keyboard {
	front, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	if err != nil || front != unix.Getpgrp() {
		return nil
	}
	return terminal{f}
}

// terminal is the keyboard of a terminal that delivers whole lines.
type terminal struct{ f *os.File }

// maxAnswer is the longest line that is taken for an answer.
const maxAnswer = 1 << 20

func (t terminal) forget() error {
	if err := flushInput(int(t.f.Fd())); err != nil {
		return fmt.Errorf("the terminal's input: %w", err)
	}
	return nil
}

// line reads only when there is something to read: a read that waited could not
// be given up, and would take the line that is typed after the question is gone.
func (t terminal) line(ctx context.Context) (string, error) {
	wake, waker, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("waiting for the terminal: %w", err)
	}
	defer wake.Close()
	stop := context.AfterFunc(ctx, func() { waker.Close() })
	defer func() {
		if stop() {
			waker.Close()
		}
	}()
	var line strings.Builder
	buf := make([]byte, 4<<10)
	for {
		if err := awaitInput(int(t.f.Fd()), int(wake.Fd())); err != nil {
			return "", err
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := t.f.Read(buf)
		line.Write(buf[:n])
		switch {
		case n > 0 && buf[n-1] == '\n':
			return strings.TrimSuffix(line.String(), "\n"), nil
		case n == 0 || errors.Is(err, io.EOF):
			return "", io.EOF
		case err != nil:
			return "", fmt.Errorf("standard input: %w", err)
		case line.Len() > maxAnswer:
			return "", usageError{fmt.Sprintf("a line is longer than %d bytes", maxAnswer)}
		}
	}
}

// unseen has the terminal show nothing but the end of the line.
func (t terminal) unseen(ctx context.Context) (string, error) {
	fd := int(t.f.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return "", fmt.Errorf("the terminal: %w", err)
	}
	quiet := *before
	quiet.Lflag = quiet.Lflag&^unix.ECHO | unix.ECHONL
	if err := unix.IoctlSetTermios(fd, setTermios, &quiet); err != nil {
		return "", fmt.Errorf("the terminal: %w", err)
	}
	line, err := t.line(ctx)
	return line, errors.Join(err, unix.IoctlSetTermios(fd, setTermios, before))
}

// awaitInput waits until one of two descriptors has something to say.
func awaitInput(input, wake int) error {
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(input), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
