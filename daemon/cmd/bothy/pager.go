package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// showPage lets man show a page, or where there is none a pager the text of --help.
func (c *console) showPage(ctx context.Context, p manPage) error {
	man := c.program("man")
	if man == "" {
		var text bytes.Buffer
		help := *c
		help.out = &text
		if code := help.run(ctx, append(strings.Fields(p.verb), "--help")); code != exitOK {
			return exitError{code: code}
		}
		return c.page(text.String())
	}
	dir, err := os.MkdirTemp("", "bothy-man-")
	if err != nil {
		return fmt.Errorf("a file for the page: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a folder of temporary files; the system clears what is left
	file := filepath.Join(dir, p.name()+".1")
	if err := os.WriteFile(file, []byte(p.text), 0o600); err != nil {
		return fmt.Errorf("a file for the page: %w", err)
	}
	return c.shown(exec.Command(man, file)) // with a slash in it, a name is a file to every man
}

// page shows a text with $PAGER or less, or prints it.
func (c *console) page(text string) error {
	pager := cmp.Or(c.env("PAGER"), c.program("less"))
	if pager == "" {
		return c.text(text)
	}
	cmd := exec.Command("sh", "-c", pager)
	cmd.Stdin = strings.NewReader(text)
	return c.shown(cmd)
}

// shown runs a program that shows something on the terminal.
func (c *console) shown(cmd *exec.Cmd) error {
	if cmd.Stdin == nil {
		cmd.Stdin = c.in
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.environ, c.out, c.err
	_, restore := c.interrupts() // Ctrl-C is for the pager
	defer restore()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return nil
}

// program is the path of a program that the caller can run; empty when there is none.
func (c *console) program(name string) string {
	for _, dir := range filepath.SplitList(c.env("PATH")) {
		path := filepath.Join(c.path(dir), name)
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}
