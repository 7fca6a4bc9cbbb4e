//go:build linux

package daemon

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// day is a person's terminal with a shell in it, from the morning to the evening.
type day struct {
	*seat
	lines int // that the shell was given
	gates map[string]chan struct{}
}

// newDay makes a home and a project with a failing test, and starts the shell there.
func newDay(t *testing.T) *day {
	t.Helper()
	d := &day{seat: newSeat(t, 100, 70), gates: map[string]chan struct{}{"thinks": make(chan struct{}), "writes": make(chan struct{})}}
	url, end := (&parrot{plays: d.plays()}).serve("one", "two")
	t.Cleanup(end)
	d.env = append(d.env, "MODEL_URL="+url, `PS1=[\#] `, "MANPAGER=head -20")
	if err := os.Remove(filepath.Join(d.home, ".config/bothy/config.hcl")); err != nil {
		t.Fatal(err)
	}
	for name, text := range dayFiles {
		d.write(name, text)
	}
	if text, err := exec.Command("git", "-C", d.dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	d.start(exec.Command("bash", "--norc", "--noprofile", "-i"))
	d.until("[1]")
	return d
}

// step is a part of the day. Without it there is no rest of the day.
func (d *day) step(name string, do func()) {
	day, is := d.t.(*testing.T)
	if !is {
		d.t.Fatal("a day is no benchmark")
	}
	if !day.Run(name, func(t *testing.T) {
		d.t = t
		defer func() { d.t = day }()
		do()
	}) {
		day.FailNow()
	}
}

// shell gives the shell a line, on a screen without anything else, and returns what that
// came to.
func (d *day) shell(line string, wants ...string) string {
	d.t.Helper()
	d.lines++
	d.keys("\x0c" + line + "\r")
	return d.shown(fmt.Sprintf("[%d] %s", d.lines, first(line, 20)), append(wants, fmt.Sprintf("\n[%d]", d.lines+1))...)
}

// opens has the shell open a conversation.
func (d *day) opens(line string, wants ...string) string {
	d.t.Helper()
	d.lines++
	d.keys("\x0c" + line + "\r")
	return d.shown(fmt.Sprintf("[%d] ", d.lines), append(wants, "> What")...)
}

// leaves leaves the conversation.
func (d *day) leaves() string {
	d.t.Helper()
	d.keys("\x04")
	return d.until(fmt.Sprintf("\n[%d]", d.lines+1))
}

// says sends a prompt, waits until the work on it has ended, and returns what it came to.
func (d *day) says(prompt string, wants ...string) string {
	d.t.Helper()
	d.keys(prompt + "\r")
	return d.ended(prompt, wants...)
}

// ended is what a prompt came to.
func (d *day) ended(prompt string, wants ...string) string {
	d.t.Helper()
	return d.shown(" > "+first(prompt, 40), append(wants, "finished (", "> What")...)
}

// shown waits until all of some texts stand behind the last place of a mark, and nothing
// works unless that is one of them, and returns what stands there.
func (d *day) shown(mark string, wants ...string) (rest string) {
	d.t.Helper()
	d.waits(func(screen string) string {
		at := strings.LastIndex(screen, mark)
		if at < 0 {
			return mark
		}
		rest = screen[at:]
		for _, want := range wants {
			if !strings.Contains(rest, want) {
				return want
			}
		}
		if works := "esc ends it"; strings.Contains(rest, works) && !slices.Contains(wants, works) {
			return "rest"
		}
		return ""
	})
	return rest
}

// first are the first characters of a text.
func first(text string, most int) string { return text[:min(len(text), most)] }

// asked waits for a question, and checks how many lines it has.
func (d *day) asked(wants ...string) string {
	d.t.Helper()
	screen := d.until(append(wants, "y once", "esc leave it open")...)
	question := screen[strings.LastIndex("\n"+screen, "\n? "):]
	question = question[:strings.Index(question, "esc leave it open")]
	if n := strings.Count(question, "\n") + 1; n > 5 {
		d.t.Errorf("the question has %d lines:\n%s", n, screen)
	}
	return question
}

// lacks checks that a text has none of some others.
func (d *day) lacks(text string, others ...string) {
	d.t.Helper()
	for _, other := range others {
		if strings.Contains(text, other) {
			d.t.Errorf("there is %q:\n%s", other, text)
		}
	}
}

// file is what a file of the project holds; nothing when there is none.
func (d *day) file(name string) string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatal(err)
	}
	return string(text)
}

// holds checks that a file of the project holds a text.
func (d *day) holds(name, text string) {
	d.t.Helper()
	if got := d.file(name); !strings.Contains(got, text) {
		d.t.Errorf("%s does not hold %q:\n%s", name, text, got)
	}
}

// pasted is a text as a terminal gives it that was pasted.
func pasted(text string) string { return "\x1b[200~" + text + "\x1b[201~" }
