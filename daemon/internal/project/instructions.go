// Package project knows what a project directory tells Bothy about itself.
package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// InstructionsFile is the file at a project's root whose text joins the system
// prompt (https://agents.md).
const InstructionsFile = "AGENTS.md"

// MaxInstructions is how much of it is taken, in bytes.
const MaxInstructions = 64 << 10

// Instructions reads the instructions of the project at root. A project
// without them answers "" and no error. The file is opened without leaving the
// project, so a link out of it is an error; so is anything but a regular file.
// What exceeds MaxInstructions is left out, and the text says so.
func Instructions(root string) (string, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return "", fmt.Errorf("open the project %s: %w", root, err)
	}
	defer dir.Close()
	// Not blocking: a named pipe of that name must not hold up a turn.
	f, err := dir.OpenFile(InstructionsFile, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("open %s of %s: %w", InstructionsFile, root, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("look at %s of %s: %w", InstructionsFile, root, err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s of %s is no regular file, so it is not read", InstructionsFile, root)
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxInstructions+1))
	if err != nil {
		return "", fmt.Errorf("read %s of %s: %w", InstructionsFile, root, err)
	}
	return clean(b), nil
}

// clean makes text of what was read: no byte order mark, valid UTF-8, line
// ends as on Unix, cut at the limit.
func clean(b []byte) string {
	cut := len(b) > MaxInstructions
	if cut {
		b = b[:MaxInstructions]
	}
	text := strings.ToValidUTF8(strings.TrimPrefix(string(b), "\uFEFF"), "")
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if cut {
		text += fmt.Sprintf("\n\n[%s is longer than %d KiB; the rest was left out here and can be read as a file.]", InstructionsFile, MaxInstructions>>10)
	}
	return text
}
