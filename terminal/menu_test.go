package main

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// typeInto types a text, a key for each character.
func typeInto(c *conversation, text string) {
	for _, r := range text {
		c.key(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// TestMenuOfFiles: an answer for an older word is dropped, and tab takes what comes for it.
func TestMenuOfFiles(t *testing.T) {
	c := newConversation(t.Context(), options{project: "/p"}, nil)
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
	c := newConversation(t.Context(), options{project: "/p"}, nil)
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
