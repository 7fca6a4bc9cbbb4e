//go:build linux

package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/gdamore/tcell/v3/vt"
	"golang.org/x/sys/unix"
)

// seat is a person's terminal: a program on a pty, and an emulator that draws its bytes.
type seat struct {
	t    testing.TB
	dir  string // of the project
	home string
	env  []string
	back string // the background that the terminal tells, as OSC 11 does; empty tells none
	pty  *os.File
	cmd  *exec.Cmd

	mu    sync.Mutex
	term  vt.MockTerm
	own   vt.MockTerm // the terminal's own screen, while its alternate one is shown
	cut   []byte      // the begin of a sequence whose end was not read yet
	size  vt.Coord
	wrote []byte        // all that the program wrote
	read  time.Time     // when the last of it came
	drawn chan struct{} // closed and made anew with each piece
	ended chan struct{}
}

// What a terminal answers to OSC 11.
const (
	dark  = "rgb:0000/0000/0000"
	light = "rgb:ffff/ffff/ffff"
)

// newSeat makes a home, a project and a model server, and starts nothing yet.
func newSeat(t testing.TB, columns, rows int) *seat {
	t.Helper()
	prefix := installation(t)
	runtime, err := os.MkdirTemp("/tmp", "bs-") // short: a socket's path ends at 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	home := newHome(t)
	s := &seat{t: t, dir: filepath.Join(home, "shop"), home: home, back: dark, size: vt.Coord{X: vt.Col(columns), Y: vt.Row(rows)}}
	if err := errors.Join(os.MkdirAll(filepath.Join(s.dir, ".git"), 0o700), os.MkdirAll(filepath.Join(home, ".config/bothy"), 0o700)); err != nil {
		t.Fatal(err)
	}
	s.env = []string{
		"HOME=" + home, "XDG_RUNTIME_DIR=" + runtime, "BOTHY_PREFIX=" + prefix, "TERM=xterm-256color", "LANG=C.UTF-8",
		"PATH=" + filepath.Join(prefix, "bin") + ":" + os.Getenv("PATH"), "MODEL_URL=" + modelServer(t),
	}
	s.write(".config/bothy/config.hcl", parrotConfig)
	t.Cleanup(func() {
		if t.Failed() { // the daemon's log is gone in a moment
			log, _ := os.ReadFile(filepath.Join(home, ".local/state/bothy/bothyd.log"))
			t.Logf("the daemon's log ends with:\n%s", log[max(0, len(log)-16<<10):])
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		stop := exec.CommandContext(ctx, filepath.Join(prefix, "bin", "bothy"), "stop", "--now")
		stop.Env = s.env
		_ = stop.Run() // there may be none
		if err := errors.Join(removeAll(runtime), removeAll(home)); err != nil {
			t.Log(err)
		}
	})
	return s
}

// parrotConfig has the model of serve-model.
const parrotConfig = `provider "parrot" {
  plugin   = "openai"
  base_url = env("MODEL_URL")
}
agent "default" {
  model = "parrot/parrot"
}
`

// newHome is a folder whose path is as long in every test, so that lines are broken in the
// same places.
func newHome(t testing.TB) string {
	t.Helper()
	for n := range 1000 {
		home := fmt.Sprintf("/tmp/seat-%03d", n)
		if err := os.Mkdir(home, 0o700); err == nil {
			return home
		} else if !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
	t.Fatal("no name is free: remove /tmp/seat-*")
	return ""
}

// beside is a terminal with a home and a project of its own at the same daemon, whose
// seat has to stay until the tests of this one have ended.
func (s *seat) beside(t testing.TB, name string, columns, rows int) *seat {
	t.Helper()
	b := &seat{t: t, home: filepath.Join(s.home, name), back: dark, size: vt.Coord{X: vt.Col(columns), Y: vt.Row(rows)}}
	b.dir = filepath.Join(b.home, "shop")
	if err := os.MkdirAll(filepath.Join(b.dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.env = append(slices.Clone(s.env), "HOME="+b.home, "XDG_STATE_HOME="+filepath.Join(s.home, ".local/state"), "XDG_CONFIG_HOME="+filepath.Join(s.home, ".config"))
	return b
}

// write writes a file of the home.
func (s *seat) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

// sit starts bothy in the project.
func (s *seat) sit(args ...string) {
	s.t.Helper()
	s.start(exec.Command(s.prefix("bin", "bothy"), args...))
}

// prefix is a path of the installation.
func (s *seat) prefix(parts ...string) string {
	return filepath.Join(append([]string{strings.TrimPrefix(s.env[2], "BOTHY_PREFIX=")}, parts...)...)
}

// start starts a program on the pty.
func (s *seat) start(cmd *exec.Cmd) {
	s.t.Helper()
	s.wrote, s.term = nil, vt.NewMockTerm(vt.MockOptSize(s.size))
	s.drawn, s.ended = make(chan struct{}), make(chan struct{})
	if err := s.term.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd = cmd
	s.cmd.Dir, s.cmd.Env = s.dir, s.env
	var err error
	if s.pty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Cols: uint16(s.size.X), Rows: uint16(s.size.Y)}); err != nil {
		s.t.Fatal(err)
	}
	go s.draw()
	go func() { _, _ = io.Copy(s.pty, s.term) }() // what the emulator answers; it ends with the terminal
	s.t.Cleanup(func() {
		s.hangUp()
		_ = s.term.Stop()
	})
}

// hangUp has the program end as when its window is closed. What does not end is killed, so
// that a test which failed is told.
func (s *seat) hangUp() {
	front, err := unix.IoctlGetInt(int(s.pty.Fd()), unix.TIOCGPGRP) // what a shell waits for
	_ = s.cmd.Process.Signal(syscall.SIGHUP)
	select {
	case <-s.ended:
		return
	case <-time.After(time.Minute):
	}
	s.t.Errorf("it does not end when its window is closed:\n%s", s.screen())
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGKILL} { // a program in Go says where it stands
		if err == nil && front > 1 {
			_ = syscall.Kill(-front, sig)
		}
		_ = s.cmd.Process.Signal(sig)
		select {
		case <-s.ended:
		case <-time.After(10 * time.Second):
		}
	}
	<-s.ended
	s.t.Logf("its last words:\n%s", s.wrote[max(0, len(s.wrote)-64<<10):])
}

// draw gives the emulator what the program writes, until the program has ended.
func (s *seat) draw() {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.pty.Read(buf)
		read := time.Now()
		s.mu.Lock()
		s.read = read
		s.show(buf[:n])
		asked := bytes.Count(s.wrote, []byte(asksBackground))
		s.wrote = append(s.wrote, buf[:n]...)
		if bytes.Count(s.wrote, []byte(asksBackground)) > asked && s.back != "" {
			s.term.SendRaw([]byte("\x1b]11;" + s.back + "\x1b\\")) // the emulator does not answer that
		}
		close(s.drawn)
		s.drawn = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			break
		}
	}
	_ = s.cmd.Wait()
	_ = s.pty.Close()
	close(s.ended)
}

// show gives the emulator a piece. It knows no alternate screen: another emulator is that.
func (s *seat) show(piece []byte) {
	const to, home = "\x1b[?1049h", "\x1b[?1049l"
	text := string(s.cut) + string(piece)
	s.cut = nil
	for n := min(len(text), len(to)-1); n > 0; n-- {
		if strings.HasPrefix(to, text[len(text)-n:]) {
			text, s.cut = text[:len(text)-n], []byte(text[len(text)-n:])
			break
		}
	}
	for {
		at := strings.Index(text, to[:len(to)-1])
		if at < 0 {
			_, _ = s.term.Write([]byte(text))
			return
		}
		_, _ = s.term.Write([]byte(text[:at]))
		switch leads := text[at : at+len(to)]; {
		case leads == to && s.own == nil:
			s.own, s.term = s.term, vt.NewMockTerm(vt.MockOptSize(s.size))
			if err := s.term.Start(); err != nil {
				s.t.Error(err)
			}
			go func(term vt.MockTerm) { _, _ = io.Copy(s.pty, term) }(s.term)
		case leads == home && s.own != nil:
			_ = s.term.Stop()
			s.term, s.own = s.own, nil
		}
		text = text[at+len(to):]
	}
}

// asksBackground asks a terminal for its background.
const asksBackground = "\x1b]11;?"

// keys types, behind what the terminal answers: no sequence of one stands within the other.
func (s *seat) keys(text string) {
	s.mu.Lock()
	term := s.term
	s.mu.Unlock()
	term.SendRaw([]byte(text))
}

// screen is what stands there, without the blanks at the ends of lines.
func (s *seat) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for y := vt.Row(0); y < s.size.Y; y++ {
		var b strings.Builder
		for x := vt.Col(0); x < s.size.X; x++ {
			cell := s.term.GetCell(vt.Coord{X: x, Y: y})
			switch {
			case cell.C == "" && x > 0 && s.term.GetCell(vt.Coord{X: x - 1, Y: y}).W > 1:
			case cell.C == "":
				b.WriteByte(' ')
			default:
				b.WriteString(cell.C)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// until waits until the screen has all of some texts, and returns it.
func (s *seat) until(texts ...string) string {
	s.t.Helper()
	return s.waits(func(screen string) (missing string) {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		return missing
	})
}

// waits waits until nothing is missing on the screen, and returns it.
func (s *seat) waits(missing func(screen string) string) string {
	s.t.Helper()
	limit := time.After(time.Minute)
	for {
		s.mu.Lock()
		drawn := s.drawn
		s.mu.Unlock()
		screen := s.screen()
		lacks := missing(screen)
		if lacks == "" {
			return screen
		}
		select {
		case <-drawn:
		case <-s.ended:
			s.t.Fatalf("it has ended without %q:\n%s", lacks, s.screen())
		case <-limit:
			s.t.Fatalf("%q never came:\n%s", lacks, s.screen())
		}
	}
}

// rests waits until nothing works.
func (s *seat) rests() {
	s.t.Helper()
	s.gonefrom("esc ends it")
}

// gone waits until the program has ended.
func (s *seat) gone() {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		s.t.Fatalf("it does not end:\n%s", s.screen())
	}
}

// TestConversation: one talks, sees an answer drawn, edits, goes through what was typed,
// pastes several lines as one prompt, and leaves.
func TestConversation(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.sit()
	s.until("bothy ", "~/shop", "/help shows", "> What")
	s.keys("join **strong** and `code`\r")
	screen := s.until("> join", "strong and", "finished (1 turn")
	if strings.Contains(screen, "**strong**  ") || strings.Contains(screen, "\\x1b") {
		t.Errorf("the answer is not drawn:\n%s", screen)
	}
	s.until("> What")
	s.keys("hellp\x1b[D\x1b[D\x1b[3~\x1b[C\x1b[D") // left, left, delete, right, left
	s.until("> help")
	s.keys("\x05\x15\x1b[A") // end, delete the line, up
	s.until("> join **strong**")
	s.keys("\x1b[B\x1b[200~one\r\ntwo\r\nthree\x1b[201~")
	s.until("> one\n  two\n  three")
	s.keys("\r")
	s.until("you said: one", "three")
	s.rests()
	if n := strings.Count(s.screen(), "you said"); n != 1 {
		t.Errorf("a paste became %d prompts:\n%s", n, s.screen())
	}
	s.keys("/help\r")
	s.until("commands", "/diff [PART]", "q leaves")
	s.keys("q")
	s.until("> What")
	s.keys("\x04")
	s.gone()
	if screen := s.screen(); !strings.Contains(screen, "bothy -r chat-1") {
		t.Errorf("it leaves with\n%s", screen)
	}
}

// TestConversationWorks: what works is seen, ended by esc, and what was typed meanwhile
// waits in sight.
func TestConversationWorks(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.sit()
	s.until("> What")
	s.keys("slow\r")
	s.until("tick tick", "writing", "esc ends it")
	s.keys("and then this\r")
	s.until("waits: and then this")
	s.keys("\x1b")
	s.until("aborted by a person", "you said: and then this")
	s.keys("half a thou")
	s.until("> half a thou")
	s.keys("\x03")
	s.until("> What")
	s.keys("draft to keep")
	s.until("draft to keep")
	s.keys("\x03\x03\x03")
	s.gone()
}

// TestConversationAsks: a question has five lines at most, what would run first; typed
// ahead keys answer nothing; an answer is heard.
func TestConversationAsks(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.env = append(s.env, "BOTHY_POLICY_MODE=interactive")
	s.sit()
	s.until("> What")
	s.keys("call write_file {\"path\":\"a.txt\",\"content\":\"x\"}\r")
	question := s.until("? write_file", "y once", "esc leave it open")
	if n := strings.Count(question[strings.Index(question, "? write_file"):], "\n") + 1; n > 5 {
		t.Errorf("the question has %d lines:\n%s", n, question)
	}
	s.keys("y")
	s.until("✓ write_file", "the tool said")
	if text, err := os.ReadFile(filepath.Join(s.dir, "a.txt")); err != nil || string(text) != "x" {
		t.Errorf("the file has %q, %v", text, err)
	}
	s.keys("call delete_path {\"path\":\"a.txt\"}\r")
	s.until("y once")
	s.keys("r")
	s.until("Why not?")
	s.keys("keep it\r")
	s.until("✗ delete_path", "keep it")
	if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); err != nil {
		t.Errorf("what was refused was done: %v", err)
	}
}

// TestConversationEdits: what a person makes of a call is what runs, under a question of its
// own where it has to be asked about, and the call that was proposed never runs.
func TestConversationEdits(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.env = append(s.env, "BOTHY_POLICY_MODE=interactive")
	s.sit()
	s.until("> What")
	s.keys("call write_file {\"path\":\"a.txt\",\"content\":\"x\"}\r")
	s.until("? write_file a.txt", "e edit")
	s.keys("e")
	s.until("What shall run?", "\"path\": \"a.txt\"")
	s.keys("\x15{\r") // the last line is another, and no object is left
	s.until("must be a JSON object")
	s.keys("\x1b")
	s.until("e edit", "? write_file a.txt")
	s.keys("e")
	s.until("What shall run?")
	s.keys("\x15\x7f\x15\x7f\x15\x7f\x15\x7f{\"path\":\"b.txt\",\"content\":\"y\"}\r")
	s.until("? write_file b.txt", "y once")
	s.keys("y")
	s.until("✓ write_file b.txt", "the tool said")
	if text, err := os.ReadFile(filepath.Join(s.dir, "b.txt")); err != nil || string(text) != "y" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); err == nil {
		t.Error("what was proposed first was done as well")
	}
}

// TestConversationAsksAnew: a question that another client changes is asked as it is now, and
// that is what an answer lets run.
func TestConversationAsksAnew(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.env = append(s.env, "BOTHY_POLICY_MODE=interactive")
	s.sit()
	s.until("> What")
	s.keys("call write_file {\"path\":\"a.txt\",\"content\":\"x\"}\r")
	s.until("? write_file a.txt", "y once")
	var waits []struct{ ID, Hash string }
	if out := s.bothy("proposals", "--json"); json.Unmarshal([]byte(out), &waits) != nil || len(waits) != 1 {
		t.Fatalf("there wait %s", out)
	}
	s.bothy("proposals", "edit", waits[0].ID, "--hash", waits[0].Hash, "--arguments", `{"path":"b.txt","content":"y"}`)
	s.until("somebody else changed what is asked", "? write_file b.txt", "y once")
	s.keys("y")
	s.until("✓ write_file b.txt", "the tool said")
	if text, err := os.ReadFile(filepath.Join(s.dir, "b.txt")); err != nil || string(text) != "y" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); err == nil {
		t.Error("what was proposed first was done as well")
	}
}

// TestConversationAnswersAgain: an answer that a daemon was given and did not take before it was
// killed is given to the next one, with what is to be told to the model.
func TestConversationAnswersAgain(t *testing.T) {
	for keys, became := range map[string][]string{"y": {"✓ write_file a.txt", "the tool said"}, "rkeep it so\r": {"✗ write_file a.txt", "keep it so"}} {
		t.Run(keys[:1], func(t *testing.T) {
			s := newSeat(t, 80, 24)
			s.env = append(s.env, "BOTHY_POLICY_MODE=interactive")
			s.sit()
			s.until("> What")
			s.keys("call write_file {\"path\":\"a.txt\",\"content\":\"x\"}\r")
			s.until("? write_file a.txt", "y once")
			daemon := s.daemon()
			if err := syscall.Kill(daemon, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			s.keys(keys)
			s.until("answering")
			if err := syscall.Kill(daemon, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			s.until(became...)
		})
	}
}

// TestConversationComesBack: who comes back sees the last prompts and the answer that is
// being written, also after the daemon was killed.
func TestConversationComesBack(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.sit()
	s.until("> What")
	for _, word := range []string{"one", "two", "three", "four"} {
		s.keys("the word " + word + "\r")
		s.until("you said: the word " + word)
	}
	s.keys("half typed")
	s.until("> half typed")
	s.end()
	s.sit("-c")
	screen := s.until("1 earlier prompt of chat-1", "you said: the word four", "> half typed")
	if strings.Contains(screen, "the word one") {
		t.Errorf("more than the last prompts are shown:\n%s", screen)
	}
	s.keys("\x05\x15stall\r")
	s.until("tick")
	s.killDaemon()
	s.until("you said it twice: stall")
	s.end()
	s.sit("-r", "chat-1")
	s.until("you said it twice: stall")
}

// TestConversationLeftAtOnce: a prompt is sent once where the person leaves before it was
// taken, and does not stand in the input the next time.
func TestConversationLeftAtOnce(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.sit()
	s.until("/help shows", "> What")
	s.keys("the word one\r\x04")
	s.gone()
	s.sit("-c")
	screen := s.until("you said: the word one", "> What")
	if n := strings.Count(screen, "> the word"); n != 1 {
		t.Errorf("the prompt stands there %d times:\n%s", n, screen)
	}
}

// end hangs up: the person closes the window.
func (s *seat) end() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		s.t.Fatal(err)
	}
	s.gone()
}

// killDaemon kills the daemon at once.
func (s *seat) killDaemon() {
	s.t.Helper()
	if err := syscall.Kill(s.daemon(), syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
}

// daemon is the process of the daemon.
func (s *seat) daemon() int {
	s.t.Helper()
	status := exec.Command(filepath.Join(strings.TrimPrefix(s.env[2], "BOTHY_PREFIX="), "bin", "bothy"), "status", "--json")
	status.Env, status.Dir = s.env, s.dir
	out, err := status.Output()
	var told struct{ PID int }
	if err != nil || json.Unmarshal(out, &told) != nil || told.PID < 2 {
		s.t.Fatalf("%v: %s", err, out)
	}
	return told.PID
}

// TestConversationOutlivesAStop: a daemon that was stopped stays stopped until the next
// prompt, which is answered once.
func TestConversationOutlivesAStop(t *testing.T) {
	s := newSeat(t, 60, 20)
	s.sit()
	s.until("> What")
	s.keys("before\r")
	s.until("you said: before")
	s.bothy("stop")
	s.until("bothyd was stopped")
	s.keys("after\r")
	s.until("you said: after")
	s.rests()
	screen := s.screen()
	if strings.Count(screen, "you said: before") != 1 || strings.Count(screen, "you said: after") != 1 {
		t.Errorf("something is told twice:\n%s", screen)
	}
}

// TestConversationAttaches: a file that is completed behind an @ goes with the prompt, and
// a prompt that waits is taken back.
func TestConversationAttaches(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write("shop/src/notes.txt", "the text of the notes")
	s.sit()
	s.until("> What")
	s.keys("look at @nots\t")
	s.until("> look at @src/notes.txt")
	s.keys("please\r")
	s.until("you said: look at @src/notes.txt please", "the text of the notes")
	s.rests()
	s.keys("slow\r")
	s.until("tick")
	s.keys("waits for long\r")
	s.until("waits: waits for long")
	s.keys("\x1b[1;3A")
	s.until("> waits for long")
	if strings.Contains(s.screen(), "waits: waits") {
		t.Errorf("it still waits:\n%s", s.screen())
	}
	s.keys("\x05\x15\x1b")
	s.until("aborted by a person")
}

// TestConversationRemembers: an answer leaves the rule that was shown, and the next such
// call is not asked about.
func TestConversationRemembers(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.env = append(s.env, "BOTHY_POLICY_MODE=interactive")
	s.sit()
	s.until("> What")
	s.keys("call write_file {\"path\":\"a.txt\",\"content\":\"x\"}\r")
	s.until("y once")
	s.keys("a")
	s.until("From now on", "1 always allow", "2 always allow")
	s.keys("2")
	s.until("✓ write_file", "remembered as rule")
	s.rests()
	s.keys("call write_file {\"path\":\"b.txt\",\"content\":\"x\"}\r")
	s.until("✓ write_file b.txt")
}
