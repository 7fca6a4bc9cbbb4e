//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pseudoTerminal is a terminal and the hands at its keyboard.
func pseudoTerminal(t *testing.T) (hands, tty *os.File) {
	t.Helper()
	hands, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hands.Close() })
	if err := unix.IoctlSetPointerInt(int(hands.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(hands.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return hands, tty
}

func typeKeys(t *testing.T, hands *os.File, keys string) {
	t.Helper()
	if _, err := io.WriteString(hands, keys); err != nil {
		t.Error(err)
	}
}

// arrived waits until the terminal has a line that can be read.
func arrived(t *testing.T, tty *os.File) {
	t.Helper()
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(tty.Fd()), Events: unix.POLLIN}}, 10_000)
	if err != nil || n != 1 {
		t.Fatalf("the terminal has nothing to read: %d, %v", n, err)
	}
}

// TestTypedBeforeTheQuestion: whole lines and pieces of one that were typed ahead
// answer nothing.
func TestTypedBeforeTheQuestion(t *testing.T) {
	hands, tty := pseudoTerminal(t)
	keys := terminal{tty}
	if !isTerminal(tty) {
		t.Fatal("it is no terminal")
	}
	typeKeys(t, hands, "y\ny\nyes")
	arrived(t, tty)
	if err := keys.forget(); err != nil {
		t.Fatal(err)
	}
	typeKeys(t, hands, "n because\nsecond\n")
	for _, want := range []string{"n because", "second"} {
		if line, err := keys.line(t.Context()); err != nil || line != want {
			t.Errorf("read %q, %v; want %q", line, err, want)
		}
	}
	typeKeys(t, hands, "\x04")
	if line, err := keys.line(t.Context()); !errors.Is(err, io.EOF) || line != "" {
		t.Errorf("Ctrl-D gives %q, %v", line, err)
	}
}

// TestAQuestionThatIsGone leaves the terminal to what is asked next.
func TestAQuestionThatIsGone(t *testing.T) {
	hands, tty := pseudoTerminal(t)
	keys := terminal{tty}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := keys.line(ctx)
		gone <- err
	}()
	cancel(errAnswered)
	select {
	case err := <-gone:
		if !errors.Is(err, errAnswered) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the question still waits for a line")
	}
	typeKeys(t, hands, "next\n")
	if line, err := keys.line(t.Context()); err != nil || line != "next" {
		t.Errorf("read %q, %v", line, err)
	}
	if _, err := keys.line(ctx); !errors.Is(err, errAnswered) {
		t.Errorf("a question that is gone already ended with %v", err)
	}
}

// TestSomebodyElsesTerminal: a terminal that is another session's is no keyboard,
// nor is what is no terminal.
func TestSomebodyElsesTerminal(t *testing.T) {
	_, tty := pseudoTerminal(t)
	if keyboardOf(tty) != nil {
		t.Error("the terminal of another session is read")
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if keyboardOf(null) != nil {
		t.Error("what is no terminal is read")
	}
}
