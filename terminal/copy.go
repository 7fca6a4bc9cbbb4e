package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/timeline"
)

// copyText puts the last answer, or a code block of it, into the clipboard of the
// terminal.
func (c *conversation) copyText(which string) tea.Cmd {
	answer := ""
	for _, l := range slices.Backward(c.line.Loops) {
		if answer = l.Answer(); answer != "" {
			break
		}
	}
	if answer == "" {
		return c.say(c.p.dim.Render("  there is no answer yet"))
	}
	what, text := "the last answer", answer
	if which != "" {
		blocks := codeBlocks(answer)
		n, err := strconv.Atoi(which)
		if err != nil || n < 1 || n > len(blocks) {
			return c.fail(fmt.Errorf("%s is no code block of the last answer: it has %s; /copy alone takes all of it", which, show.Plural(len(blocks), "code block")))
		}
		what, text = fmt.Sprintf("code block %d of the last answer", n), blocks[n-1]
	}
	size := fmt.Sprintf(", %s, %s", show.Plural(strings.Count(strings.TrimRight(text, "\n"), "\n")+1, "line"), show.Plural(utf8.RuneCountInString(text), "character"))
	c.out.note(ansi.SetSystemClipboard(text))
	return c.say(c.p.dim.Render("  copied " + what + size + ", if the terminal lets programs copy"))
}

// codeBlocks are the texts between fences.
func codeBlocks(text string) (blocks []string) {
	fence, block := "", ""
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " ")
		mark := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		if mark == "" {
			mark = bare[:len(bare)-len(strings.TrimLeft(bare, "~"))]
		}
		switch {
		case fence == "" && len(mark) >= 3:
			fence, block = mark, ""
		case fence != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(bare) == mark:
			blocks, fence = append(blocks, block), ""
		case fence != "":
			block += line
		}
	}
	if fence != "" { // a text that was cut off
		blocks = append(blocks, block)
	}
	return blocks
}

// export writes the conversation into a file as Markdown.
func (c *conversation) export(file string) tea.Cmd {
	if c.runID == 0 {
		return c.noRun()
	}
	if file == "" {
		file = c.run + ".md"
	}
	if rest, is := strings.CutPrefix(file, "~/"); is {
		if dir, err := os.UserHomeDir(); err == nil {
			file = filepath.Join(dir, rest)
		}
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.o.project, file)
	}
	text := markdownOf(c.run, c.line)
	return c.ask(func(ctx context.Context) tea.Msg {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case errors.Is(err, fs.ErrExist):
			return failure{fmt.Errorf("%s is there already: /export FILE takes another name: %w", file, err)}
		case err != nil:
			return failure{err}
		}
		_, err = f.WriteString(text)
		if err := errors.Join(err, f.Close()); err != nil {
			return failure{err}
		}
		return said{c.p.dim.Render("  written to " + show.Line(home(file)))}
	})
}

// markdownOf is a run as Markdown: prompts, texts of the model, calls with their results.
// Texts of others are harmless in it, for people print files.
func markdownOf(run string, line *timeline.Timeline) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", show.Line(run))
	for _, l := range line.Loops {
		fmt.Fprintf(&b, "\n## Prompt %d\n\n%s\n", l.Sequence, show.Text(strings.TrimSpace(l.Prompt)))
		for _, t := range l.Turns {
			if text := strings.TrimSpace(t.Text); text != "" {
				fmt.Fprintf(&b, "\n%s\n", show.Text(text))
			}
			for _, a := range t.Actions {
				if a.IsError() {
					fmt.Fprintf(&b, "\n%s\n", codeBlock(a.Body))
					continue
				}
				args := string(a.Arguments)
				fmt.Fprintf(&b, "\nCall of `%s`: %s\n\n%s\n", show.Line(a.Tool), show.Line(show.Ending(&a.Action)), codeBlock(args))
				if a.Body != "" && a.Body != a.Error {
					fmt.Fprintf(&b, "\n%s\n", codeBlock(a.Body))
				}
			}
		}
		if l.End != nil {
			fmt.Fprintf(&b, "\n*%s*\n", show.End(l, "", "").String())
		}
	}
	return b.String()
}

// codeBlock is a text in a code block that nothing in it can end.
func codeBlock(text string) string {
	text = strings.TrimRight(show.Output(text), "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}
