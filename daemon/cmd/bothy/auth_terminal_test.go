//go:build linux

package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sdk/rpc"
)

// awaitEcho waits until a terminal shows what is typed, or does not.
func awaitEcho(t *testing.T, tty *os.File, on bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		state, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		if (state.Lflag&unix.ECHO != 0) == on {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the terminal never shows what is typed: %v", !on)
		}
	}
}

// atTerminal asks for a key in a terminal.
func atTerminal(t *testing.T) (b *bench, hands, tty *os.File, exit chan int) {
	t.Helper()
	b = withDaemon(t, nil)
	b.daemon.keys.list = askedFor()
	hands, tty = pseudoTerminal(t)
	b.c.in, b.c.inTTY, b.c.keys = tty, true, terminal{tty}
	awaitEcho(t, tty, true)
	exit = make(chan int, 1)
	go func() { exit <- b.run("auth", "login", "openai") }()
	awaitEcho(t, tty, false)
	return b, hands, tty, exit
}

// TestAKeyIsNotShown: what is typed at the question is not on the terminal.
func TestAKeyIsNotShown(t *testing.T) {
	b, hands, tty, exit := atTerminal(t)
	typeKeys(t, hands, "sk-typed\n")
	if code := <-exit; code != exitOK || !strings.HasPrefix(b.err.String(), "OPENAI_API_KEY (it is not shown): ") {
		t.Fatalf("exit %d: %s", code, b.err.String())
	}
	if want := []rpc.KeyLogin{{Of: "OPENAI_API_KEY", Key: "sk-typed"}}; !slices.Equal(b.daemon.keys.logins, want) {
		t.Errorf("given %+v", b.daemon.keys.logins)
	}
	awaitEcho(t, tty, true)
	typeKeys(t, hands, "shown\n")
	buf := make([]byte, 4096)
	n, err := hands.Read(buf)
	if text := string(buf[:n]); err != nil || strings.Contains(text, "typed") || !strings.Contains(text, "shown") {
		t.Errorf("the terminal shows %q, %v", text, err)
	}
}

// TestCtrlCAtTheKey: nothing is given, and the terminal is as it was.
func TestCtrlCAtTheKey(t *testing.T) {
	b, hands, tty, exit := atTerminal(t)
	b.signals <- os.Interrupt
	if code := <-exit; code != exitAborted || len(b.daemon.keys.logins) != 0 {
		t.Errorf("exit %d, given %+v", code, b.daemon.keys.logins)
	}
	awaitEcho(t, tty, true)
	typeKeys(t, hands, "\n") // ends the read that waits
}
