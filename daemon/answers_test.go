//go:build linux

package daemon

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

func init() { scriptCommands["answers"] = answers }

// answers runs bothy in a terminal of its own, where a person types a line each
// time that a question stands there. A whole "y" line is typed before the first
// one, too: it must answer nothing. What the terminal showed is in the file
// answered. An argument <FILE is what the file holds.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: answers LINE/LINE... ARGUMENT...")
	}
	for i, arg := range args {
		if name, is := strings.CutPrefix(arg, "<"); is {
			args[i] = strings.TrimSpace(ts.ReadFile(name))
		}
	}
	hands, tty, err := pseudoTerminal()
	ts.Check(err)
	defer hands.Close()
	cmd := exec.Command(ts.Getenv("BOTHY_PREFIX")+"/bin/bothy", args[1:]...)
	cmd.Dir, cmd.Env = ts.Getenv("PROJECT"), scriptEnviron(ts)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	_, err = io.WriteString(hands, "y\n")
	ts.Check(err)
	err = cmd.Start()
	ts.Check(err)
	ts.Check(tty.Close())
	var seen shown
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&seen, hands) // ends with EIO when the terminal is let go
	}()
	for i, line := range strings.Split(args[0], "/") {
		for deadline := time.Now().Add(30 * time.Second); questions(seen.String()) <= i; <-time.After(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				_ = cmd.Process.Kill()
				ts.Fatalf("question %d never came:\n%s", i+1, seen.String())
			}
		}
		_, err := io.WriteString(hands, line+"\n")
		ts.Check(err)
	}
	err = cmd.Wait()
	<-read
	ts.Logf("%s", seen.String())
	ts.Check(os.WriteFile(ts.Getenv("WORK")+"/answered", []byte(seen.String()), 0o600))
	if (err != nil) != neg {
		ts.Fatalf("bothy %v ended with %v", args[1:], err)
	}
}

// questions are how often a terminal showed the end of one.
func questions(shown string) int {
	return strings.Count(shown, "help] ") + strings.Count(shown, "goes back] ") + strings.Count(shown, "  > ")
}

// scriptEnviron is what bothy needs of a script's environment.
func scriptEnviron(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "BOTHY_PREFIX", "PATH", "NO_COLOR", "MODEL_URL", "BOTHY_POLICY_MODE", "BOTHY_POLICY_ALLOW_DANGEROUS"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return append(env, "TERM=xterm")
}

func pseudoTerminal() (hands, tty *os.File, err error) {
	if hands, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	n, err := 0, unix.IoctlSetPointerInt(int(hands.Fd()), unix.TIOCSPTLCK, 0)
	if err == nil {
		n, err = unix.IoctlGetInt(int(hands.Fd()), unix.TIOCGPTN)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	return hands, tty, err
}

// shown is what a terminal showed so far.
type shown struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
