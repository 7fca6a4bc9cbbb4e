package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	tea "charm.land/bubbletea/v2"
)

// settings are what the person set in the terminal, kept in a JSON file below its state
// folder. Members that this version does not know stay in it.
type settings struct {
	file    string // empty keeps nothing
	all     map[string]json.RawMessage
	mistake error // the file is damaged: it stays as it is, for the person to mend
}

// readSettings reads them. Of a file that is damaged there are none.
func readSettings(state string) settings {
	s := settings{all: map[string]json.RawMessage{}}
	if state == "" {
		return s
	}
	s.file = filepath.Join(state, "settings.json")
	text, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	if err == nil {
		err = json.Unmarshal(text, &s.all)
	}
	if err == nil && s.all == nil {
		err = errors.New("null is no object")
	}
	if err != nil {
		s.all = map[string]json.RawMessage{}
		s.mistake = fmt.Errorf("the settings in %s are not in force: %w", home(s.file), err)
	}
	return s
}

// text is a member that is a text; empty when there is none.
func (s settings) text(name string) (text string) {
	_ = json.Unmarshal(s.all[name], &text) // what is no text is none
	return text
}

// set sets a member, and writes the file.
func (s settings) set(name, text string) error {
	if s.mistake != nil {
		return fmt.Errorf("the setting is not kept: %w", s.mistake)
	}
	value, err := json.Marshal(text)
	if err != nil {
		return err
	}
	s.all[name] = value
	if s.file == "" {
		return nil
	}
	all, err := json.MarshalIndent(s.all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return fmt.Errorf("the setting is not kept: %w", err)
	}
	if err := os.WriteFile(s.file+".new", append(all, '\n'), 0o600); err != nil {
		return fmt.Errorf("the setting is not kept: %w", err)
	}
	if err := os.Rename(s.file+".new", s.file); err != nil {
		return fmt.Errorf("the setting is not kept: %w", err)
	}
	return nil
}

// setKeys chooses the keys with which one edits, and keeps that.
func (c *conversation) setKeys(name string) tea.Cmd {
	switch name {
	case "":
		name = "emacs"
		if c.in.vi != nil {
			name = "vi"
		}
		return c.say("  keys " + name)
	case "vi", "emacs":
	default:
		return c.fail(fmt.Errorf("the keys are emacs or vi"))
	}
	c.in.useVi(name == "vi")
	if err := c.set.set("keys", name); err != nil {
		return c.fail(err)
	}
	return c.say(c.p.dim.Render("  the keys are those of " + name + "; /help lists them"))
}

// readSettings puts in force what the person set before.
func (c *conversation) readSettings() {
	c.set = readSettings(c.o.state)
	c.in.useVi(c.set.text("keys") == "vi")
}
