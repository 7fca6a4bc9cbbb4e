package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/rpc"
)

// typeInto types a text, a key for each character.
func typeInto(c *conversation, text string) {
	for _, r := range text {
		c.key(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// TestMenuOfFiles: an answer for an older word is dropped, and tab takes what comes for it.
func TestMenuOfFiles(t *testing.T) {
	c := alone(t, 80, 24)
	typeInto(c, "see @m")
	older := c.menu.asked
	typeInto(c, "a")
	if c.askFiles(older) != nil {
		t.Error("files are asked for an older word")
	}
	c.offerFiles(filesFound{asked: older, files: []string{"moon.go"}})
	if len(c.menu.items) != 0 {
		t.Errorf("an answer for an older word is offered: %v", c.menu.items)
	}
	c.offerFiles(filesFound{asked: c.menu.asked, files: []string{"main.go", "mail.go"}})
	if len(c.menu.items) != 2 {
		t.Fatalf("offered are %v", c.menu.items)
	}
	c.key(tea.KeyPressMsg{Code: tea.KeyDown})
	c.key(tea.KeyPressMsg{Code: tea.KeyTab})
	if got := c.in.area.Value(); got != "see @mail.go " || len(c.menu.items) != 0 {
		t.Errorf("the input is %q, with %v", got, c.menu.items)
	}
	typeInto(c, "@x")
	c.key(tea.KeyPressMsg{Code: tea.KeyTab}) // before anything came
	c.offerFiles(filesFound{asked: c.menu.asked, files: []string{"x y.go"}})
	if got := c.in.area.Value(); got != `see @mail.go @"x y.go" ` {
		t.Errorf("the input is %q", got)
	}
}

// TestMenuOfCommands: what a daemon has comes beside the commands, what was chosen stays
// chosen, and esc closes the menu for this word.
func TestMenuOfCommands(t *testing.T) {
	c := alone(t, 80, 24)
	typeInto(c, "/")
	c.key(tea.KeyPressMsg{Code: tea.KeyDown})
	chosen := c.menu.items[c.menu.at].name
	c.offer(offered{"", []item{{"aaa", "a skill", true}}})
	if got := c.menu.items[c.menu.at].name; got != chosen {
		t.Errorf("%s is chosen, and was %s", got, chosen)
	}
	typeInto(c, "aaa")
	if got := c.menu.items; len(got) != 1 || got[0].about != "a skill" {
		t.Errorf("offered are %v", got)
	}
	c.key(tea.KeyPressMsg{Code: tea.KeyEscape})
	typeInto(c, "a")
	c.key(tea.KeyPressMsg{Code: tea.KeyBackspace})
	if len(c.menu.items) != 0 {
		t.Errorf("it stands there again: %v", c.menu.items)
	}
	c.in.set("")
	typeInto(c, "x")
	c.in.set("")
	typeInto(c, "/edo")
	c.key(tea.KeyPressMsg{Code: tea.KeyEnter})
	if got := c.in.area.Value(); got != "/redo" {
		t.Errorf("what has the text somewhere is not looked at first: %q", got)
	}
	c.in.set("")
	typeInto(c, "/aaa")
	c.earlier()
	if len(c.menu.items) != 0 && c.in.area.Value() != "/aaa" {
		t.Error("a menu stands below what was typed before")
	}
}

// TestMenuIsStale: a menu ends with the text that it was for, and files that come for that
// text are put into no other.
func TestMenuIsStale(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(c *conversation)
		want string
	}{
		{"what is refused comes back", func(c *conversation) {
			c.outbox = []outgoing{{shown: "my long earlier prompt"}}
			c.deliver(delivered{c.entered, refused{errors.New("no")}})
		}, "my long earlier prompt\nsee @ma"},
		{"what waited comes back", func(c *conversation) { c.tookBack(takenBack{rpc.TakenBack{Taken: true, Prompt: "waited"}}) }, "waited"},
		{"a pasted text is put in", func(c *conversation) {
			c.in.pasted["see"] = "one\ntwo"
			press(c, "alt+e")
		}, "one\ntwo @ma"},
		{"an editor", func(c *conversation) {
			file := filepath.Join(c.o.state, "edited")
			if err := os.WriteFile(file, []byte("edited"), 0o600); err != nil {
				panic(err)
			}
			c.wasEdited(edited{file, nil})
		}, "edited"},
		{"a reason", func(c *conversation) {
			questioned(c)
			press(c, "r", "x")
		}, "x"},
	} {
		for _, late := range []bool{false, true} {
			c := alone(t, 80, 24)
			typeInto(c, "see @ma")
			found := filesFound{c.menu.asked, []string{"main.go"}, nil}
			if late {
				c.key(pressed("tab")) // before anything came
				found.asked = c.menu.asked
			} else {
				c.offerFiles(found)
			}
			tt.do(c)
			if late {
				c.offerFiles(found)
			} else if c.open == nil {
				c.key(pressed("tab"))
			}
			if got := c.in.text(); got != tt.want {
				t.Errorf("%s, files late %v: the input is %q", tt.name, late, got)
			}
			if c.open == nil && len(c.menu.items) > 0 {
				t.Errorf("%s, files late %v: the menu stands there still", tt.name, late)
			}
		}
	}
}
