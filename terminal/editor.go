package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/bothyd/bothy/sdk/client/show"
)

// edited is the end of an editor.
type edited struct {
	file string
	err  error
}

// edit opens the person's editor with what stands in the input, pasted texts put in.
func (c *conversation) edit() tea.Cmd {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if strings.TrimSpace(editor) == "" {
		c.tail = c.p.bad.Render(show.Cut("there is no editor: set VISUAL or EDITOR", c.columns()))
		return nil
	}
	file, err := c.editedFile()
	if err != nil {
		return c.fail(fmt.Errorf("the prompt cannot be edited: %w", err))
	}
	// As git does it: the editor may have arguments, and be more than one word of a shell.
	cmd := exec.Command("sh", "-c", editor+` "$@"`, editor, file)
	cmd.Stdout = os.Stdout // what Bubble Tea writes and reads is no file, and would be a pipe to the editor
	if term.IsTerminal(int(os.Stdin.Fd())) {
		cmd.Stdin = os.Stdin
	}
	c.giveAway()
	return tea.ExecProcess(cmd, func(err error) tea.Msg { return edited{file, err} })
}

// editedFile is a file for the person alone, with what stands in the input.
func (c *conversation) editedFile() (name string, err error) {
	if c.o.state != "" {
		if err := os.MkdirAll(c.o.state, 0o700); err != nil {
			return "", err
		}
	}
	f, err := os.CreateTemp(c.o.state, "prompt-*.md")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(c.in.text())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return f.Name(), err
}

// wasEdited puts what the editor left into the input. Where that cannot be, the prompt is as
// it was, and the file stays unless it has nothing else.
func (c *conversation) wasEdited(m edited) tea.Cmd {
	text, err := readEdited(m.file)
	if m.err != nil {
		err = fmt.Errorf("the editor failed: %w", m.err)
	}
	if err != nil && text != c.in.text() {
		return c.fail(fmt.Errorf("the prompt is as it was, and what was edited is in %s: %w", home(m.file), err))
	}
	_ = os.Remove(m.file) // it is gone already, or stays in the person's own folder
	if err != nil {
		return c.fail(fmt.Errorf("the prompt is as it was: %w", err))
	}
	now := strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if !fits(now) {
		now = c.in.fold(now)
	}
	c.menu.shut()
	c.in.set(now)
	return nil
}

// readEdited is what an editor left.
func readEdited(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if info.Size() > mostInput {
		return "", fmt.Errorf("it has %d bytes, and a prompt at most %d", info.Size(), mostInput)
	}
	text, err := os.ReadFile(file)
	return string(text), err
}
