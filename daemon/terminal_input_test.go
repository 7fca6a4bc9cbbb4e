//go:build linux

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// skill makes a skill of the person's own.
func (s *seat) skill(name, description string) {
	s.write(".config/bothy/skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: "+description+"\n---\n\nSay the word "+name+".\n")
}

// row is the line of the screen that has a text.
func (s *seat) row(text string) string {
	for _, line := range strings.Split(s.screen(), "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// gonefrom waits until the screen has a text no more.
func (s *seat) gonefrom(text string) {
	s.t.Helper()
	s.waits(func(screen string) string {
		if strings.Contains(screen, text) {
			return "a screen without " + text
		}
		return ""
	})
}

// TestConversationMenu: a menu stands below what can be completed, ranked, changing with
// each key; it is led through, taken from, run and closed.
func TestConversationMenu(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.skill("greet", "greets whoever is there")
	s.skill("status", "tells how the shop does")
	s.sit()
	s.until("> What")
	s.keys("/")
	s.until("→ /agent", "the agent of the next prompts")
	s.keys("gre")
	s.until("→ /greet", "greets whoever is there")
	s.keys("\x15/sta")
	s.until("→ /status", "/skill status", "tells how the shop does")
	s.keys("\x1b[B\t")
	s.until("> /skill status")
	s.keys("\x15/mod")
	s.until("→ /mode ", "/model ")
	s.keys("\x1b[B")
	s.until("→ /model ")
	s.keys("\t")
	s.until("> /model", "→ parrot/parrot")
	s.keys("par")
	s.until("→ parrot/parrot")
	s.keys("\r")
	s.until("the next prompt goes to parrot/parrot", "> What")
	s.keys("/agent def")
	s.until("→ default")
	s.keys("\r")
	s.until("the next prompt is for agent default")
	s.keys("/mode ")
	s.until("→ interactive", "workspace")
	s.keys("\x1b[A\r")
	s.until("the next prompt has mode workspace")
	s.keys("hello\r")
	s.until("you said: hello")
	s.rests()
	s.keys("/resume def")
	s.until("→ default-1  hello")
	s.keys("\r")
	s.until("this is run default-1")
	s.keys("/sho")
	s.until("→ /show")
	s.keys("\x1b")
	s.gonefrom("→ /show")
	s.keys("\x15/stat")
	s.until("→ /status")
	s.keys("\r")
	s.until("used", "/usage tells more")
}

// TestConversationUnknown: a command that is none is not sent, and the one that was meant is
// named; a blank before it sends it as it is.
func TestConversationUnknown(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.skill("status", "tells how the shop does")
	s.sit()
	s.until("> What")
	s.keys("/modle parrot\r")
	s.until("there is no /modle: did you mean /model?", "> /modle parrot")
	s.keys("\x15/nothinglikeit\r")
	s.until("no command and no skill /nothinglikeit", "> /nothinglikeit")
	s.keys("\x01 \r")
	s.until("you said:  /nothinglikeit", "> What")
	s.rests()
	s.keys("/skill status now\r")
	s.until("The person used the skill status by typing: /status now")
}

// TestConversationFiles: files are named by completing or by typing, whole or by lines; what
// cannot go is said, and the prompt stands in the input again.
func TestConversationFiles(t *testing.T) {
	s := newSeat(t, 160, 40) // so wide that no reason is broken
	s.write("shop/main.go", "line 1\nline 2\nline 3\nline 4\n")
	s.write("shop/my notes.txt", "the notes")
	s.write("shop/.env", "KEY=1\n")
	s.write("shop/pic.bin", "a\x00b\xff")
	s.write("shop/big.txt", strings.Repeat("0123456789abcde\n", 20<<10))
	s.sit()
	s.until("> What")
	s.keys("see @main.go:2-3 and @main.go:4, mail me@home or @nobody\r")
	screen := s.until("you said: see", "line 2", "line 3", "line 4", "> What")
	if strings.Contains(screen, "line 1\n") {
		t.Errorf("a line goes that was not named:\n%s", screen)
	}
	s.rests()
	s.keys("see @myn")
	s.until("→ @my notes.txt")
	s.keys("\r")
	s.until(`> see @"my notes.txt"`)
	s.keys("\r")
	s.until("the notes", "> What")
	s.rests()
	for word, why := range map[string]string{
		"@.env": "may hold secrets", "@pic.bin": "is no text", "@big.txt": "more than a prompt takes", "@main.go:9": "has 4 lines",
		"@gone.go:1": "has no file gone.go", "@main.go:3-2": "make no sense",
	} {
		s.keys("look at " + word + " now\r")
		s.until(why, "> look at "+word+" now")
		s.keys("\x05\x15")
		s.until("> What")
	}
	if strings.Contains(s.screen(), "you said: look") {
		t.Errorf("it was sent:\n%s", s.screen())
	}
}

// TestConversationOwnCommand: a command behind an exclamation mark makes the run, is shown as
// the person's, is read by the model, and is ended by esc.
func TestConversationOwnCommand(t *testing.T) {
	s := newSeat(t, 80, 30)
	s.sit()
	s.until("> What")
	s.keys("!")
	s.until("! !")
	s.keys("echo the shop is $((40+2))\r")
	s.until("! echo the shop", "the shop is 42", "> What")
	s.keys("what was that\r")
	s.until("you said: what was that")
	s.rests()
	s.keys("!echo begun; sleep 600\r")
	s.until("begun", "esc ends it")
	s.keys("\x1b")
	s.until("✗")
	s.rests()
	s.keys("and now\r")
	s.until("you said: and now")
	s.rests()
	if !strings.Contains(s.screen(), "chat-1") && !strings.Contains(s.screen(), "! echo the shop") {
		t.Errorf("the command is gone:\n%s", s.screen())
	}
	s.end()
	s.sit("-c")
	s.until("! echo the shop", "the shop is 42", "you said: and now")
}

// TestConversationSearch: what was typed is searched backwards while one types, also what
// another terminal typed at the same time.
func TestConversationSearch(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.sit()
	s.until("> What")
	for _, text := range []string{"the first apple", "a pear", "the second apple"} {
		s.keys(text + "\r")
		s.until("you said: " + text)
		s.rests()
	}
	s.keys("\x1b[200~two\nlines of plum\x1b[201~\r")
	s.until("lines of plum")
	s.rests()
	s.keys("begun\x12app")
	s.until("search: app", "the second apple")
	s.keys("\x12")
	s.until("  the first apple")
	s.keys("\x12")
	s.until("search, no more: app", "  the first apple")
	s.keys("\x1b")
	s.until("> begun")
	s.keys("\x12plum")
	s.until("search: plum", "  two", "  lines of plum")
	s.keys("\r")
	s.until("> two\n  lines of plum")
	s.keys("\x15\x7f\x15\x12pear\x12\x7f\x7f\x7f\x7fpear\r\r")
	s.until("> two\n  lines of plum")
}

// TestConversationEditor: a long prompt is written in an editor with arguments, which has the
// terminal itself; one that fails leaves the input as it was.
func TestConversationEditor(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write("edit", "#!/bin/sh\n[ \"$1\" = --wait ] && [ -t 0 ] && [ -t 1 ] || exit 1\ngrep -q fail \"$2\" && exit 3\nprintf 'and more\\n' >> \"$2\"\nstat -c %a \"$2\" > \"$HOME/mode\"\n")
	if err := os.Chmod(filepath.Join(s.home, "edit"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "VISUAL=sh "+filepath.Join(s.home, "edit")+" --wait", "EDITOR=false")
	s.sit()
	s.until("> What")
	s.keys("some\n\x07")
	s.until("> some\n  and more")
	s.keys("\x15fail\x18\x05")
	s.until("the editor failed", "> some\n  fail")
	if mode, err := os.ReadFile(filepath.Join(s.home, "mode")); err != nil || string(mode) != "600\n" {
		t.Errorf("the file has mode %q, %v", mode, err)
	}
	if left, err := filepath.Glob(filepath.Join(s.home, ".local/state/bothy/terminal/prompt-*")); err != nil || len(left) != 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}

// TestConversationVi: the keys of vi are a setting that is kept.
func TestConversationVi(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.sit()
	s.until("> What")
	s.keys("/keys vi\r")
	s.until("the keys are those of vi")
	s.keys("one two three\x1b")
	s.until("N one two three")
	s.keys("bbdwA four\x1b")
	s.until("N one three four")
	s.keys("u0")
	s.keys("k")
	s.until("N /keys vi")
	s.keys("j")
	s.until("three")
	s.keys("ddi")
	s.until("> What")
	s.keys("slow\r")
	s.until("tick tick")
	s.keys("x\x1b")
	s.until("N x")
	s.keys("\x1b")
	s.until("aborted by a person")
	s.end()
	s.sit("-c")
	s.until("x")
	s.keys("\x1b") // alone: with a character it would be alt
	s.until("N x")
	s.keys("ddihello\x1b")
	s.until("N hello")
	s.keys("ddi/keys emacs\r")
	s.until("the keys are those of emacs")
	s.end()
	s.write(".local/state/bothy/terminal/settings.json", "{")
	s.sit("-c")
	s.until("! the settings in ~/.local", "unexpected end of JSON")
}

// TestConversationPastes: a mark goes as a whole, is text once it is edited, and is put in
// to be edited; a paste sends nothing, and answers nothing.
func TestConversationPastes(t *testing.T) {
	s := newSeat(t, 80, 40)
	s.env = append(s.env, "BOTHY_POLICY_MODE=interactive")
	s.sit()
	s.until("> What")
	long := "\x1b[200~" + strings.Repeat("a line\n", 14) + "the last\x1b[201~"
	s.keys("see " + long)
	s.until("> see [pasted 1: 15 lines]")
	s.keys("\x7f")
	s.gonefrom("[pasted")
	s.keys(long + "\x1b[D\x7fX")
	s.until("[pasted 2: 15 lineX]")
	s.keys("\x05\x15" + long)
	s.until("> [pasted 3: 15 lines]")
	s.keys("\x1be")
	s.until("  a line\n  the last")
	s.keys("\x1f")
	s.until("> [pasted 3: 15 lines]")
	s.keys("\r")
	s.until("you said: a line", "the last")
	s.rests()
	s.keys("call write_file {\"path\":\"a.txt\",\"content\":\"x\"}\r")
	s.until("y once")
	s.keys("\x1b[200~y\ny\n\x1b[201~")
	s.until("> y\n  y", "y once")
	s.keys("d")
	s.until("can touch", "y once")
	s.keys("n")
	s.until("✗ write_file")
}

// TestConversationEditingKeys: the keys of editing do what people expect of them.
func TestConversationEditingKeys(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.sit()
	s.until("> What")
	for _, tt := range []struct{ keys, want string }{
		{"one two three\x17X", "one two X"},   // ctrl-w
		{"one two\x01X", "Xone two"},          // ctrl-a
		{"one two\x01\x05X", "one twoX"},      // ctrl-e
		{"one two\x1b[HX", "Xone two"},        // home
		{"one two\x1b[H\x1b[FX", "one twoX"},  // end
		{"one two\x1bbX", "one Xtwo"},         // alt-b
		{"one two\x01\x1bfX", "oneX two"},     // alt-f
		{"one two\x1b[1;5DX", "one Xtwo"},     // ctrl-left
		{"one two\x01\x1b[1;5CX", "oneX two"}, // ctrl-right
		{"one two\x1bb\x15X", "Xtwo"},         // ctrl-u
		{"one two\x1bb\x0bX", "one X"},        // ctrl-k
		{"one two\x17\x01\x19X", "twoXone"},   // ctrl-w, ctrl-y
		{"one two\x17\x17\x19X", "one twoX"},  // two cuts are one
		{"one two\x01\x1bdX", "X two"},        // alt-d
		{"one two\x17\x1f", "one two"},        // ctrl-_
		{"one two\x17\x1bz", "one two"},       // alt-z
		{"one\x1b\rtwo", "one\n  two"},        // alt-enter
		{"one\ntwo", "one\n  two"},            // ctrl-j
		{"one\x1b[13;2utwo", "one\n  two"},    // shift-enter
		{"one\\\rtwo", "one\n  two"},          // backslash, enter
	} {
		s.keys(tt.keys)
		s.until("> " + tt.want)
		s.keys("\x03")
		s.until("> What")
	}
}

// TestConversationSendsInOrder: what is sent in one breath goes into one run, in its order.
func TestConversationSendsInOrder(t *testing.T) {
	s := newSeat(t, 80, 40)
	s.sit()
	s.until("> What")
	s.keys("first\r!echo second\rthird\r/skill nosuch x\rfourth\r")
	screen := s.until("1 > first", "! echo second", "│ second", "2 > third", "no skill /nosuch", "3 > fourth", "you said: fourth")
	if strings.Index(screen, "you said: first") > strings.Index(screen, "2 > third") {
		t.Errorf("the order is another:\n%s", screen)
	}
	s.until("> /skill nosuch x")
	s.keys("\x1a")
	s.until("no shell is there")
	s.keys("\x05\x15")
	s.until("> What")
	s.keys("\x04")
	s.gone()
	if screen := s.screen(); !strings.Contains(screen, "-r chat-1") {
		t.Errorf("it leaves with\n%s", screen)
	}
}
