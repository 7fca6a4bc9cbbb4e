package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
)

// edited lets a person change what a proposal would run: its command line, or
// else its arguments as JSON. It is nil when they left it as it was.
func (a asker) edited(ctx context.Context, p sdk.Proposal) (json.RawMessage, error) {
	text, command, err := show.Editable(p)
	if err != nil {
		return nil, err
	}
	after, err := a.change(ctx, text, command)
	if err != nil || after == text || strings.TrimSpace(after) == "" {
		return nil, err
	}
	arguments, err := show.Edited(p, after)
	if err != nil {
		return nil, usageError{err.Error()}
	}
	return arguments, nil
}

// change gives a text to the person's editor, or takes a line instead of it.
func (a asker) change(ctx context.Context, text string, command bool) (string, error) {
	if editor := cmp.Or(a.c.env("VISUAL"), a.c.env("EDITOR")); editor != "" {
		return a.c.inEditor(editor, text, command)
	}
	if command {
		a.c.say("  There is no $EDITOR. Type the whole command as it is to be; nothing goes back.")
	} else {
		a.c.say("  There is no $EDITOR. Type all the arguments on one line, as JSON; nothing goes back.")
	}
	return a.prompt(ctx, "  > ")
}

// inEditor lets an editor change a text in a file that only its user can read.
// Editors end a file with a line break; a text that had none gets none.
func (c *console) inEditor(editor, text string, command bool) (string, error) {
	dir, err := os.MkdirTemp("", "bothy-edit-")
	if err != nil {
		return "", fmt.Errorf("a file to edit: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a folder of temporary files; the system clears what is left
	file := filepath.Join(dir, "arguments.json")
	if command {
		file = filepath.Join(dir, "command.sh")
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("a file to edit: %w", err)
	}
	cmd := exec.Command("sh", "-c", editor+` "$1"`, "sh", file)
	cmd.Dir, cmd.Env = c.dir, c.environ
	to := terminalOf(c.err)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.in, to, to
	if line, is := c.err.(*waitLine); is {
		defer line.pause()()
	}
	if err := cmd.Run(); err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			return text, fmt.Errorf("the editor ended with %s: nothing is changed", ended)
		}
		return "", fmt.Errorf("%s: %w", editor, err)
	}
	after, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("what was edited: %w", err)
	}
	if !strings.HasSuffix(text, "\n") {
		after = bytes.TrimSuffix(after, []byte("\n"))
	}
	return string(after), nil
}
