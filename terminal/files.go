package main

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// filesShown is how many files a completion offers.
const filesShown = 8

// filesFound are the files that fit what stands behind an @.
type filesFound struct {
	word  string
	files []string
	found int
}

// fileWord is the word of the line before the cursor that begins with @, without it.
func (c *conversation) fileWord() (string, bool) {
	lines := strings.Split(c.in.area.Value(), "\n")
	line := []rune(lines[min(c.in.area.Line(), len(lines)-1)])
	before := string(line[:min(c.in.area.Column(), len(line))])
	word := before[strings.LastIndexAny(before, " \t")+1:]
	return strings.CutPrefix(word, "@")
}

// completeFile asks the daemon for the files that fit.
func (c *conversation) completeFile(word string) tea.Cmd {
	return c.ask(func(ctx context.Context) tea.Msg {
		found, err := c.cl.Files(ctx, rpc.FilesParams{Project: c.o.project, Query: word, Limit: filesShown})
		if err != nil {
			return failure{err}
		}
		return filesFound{word, found.Files, found.Found}
	})
}

// offerFiles puts the file in that fits best, and names the others.
func (c *conversation) offerFiles(m filesFound) tea.Cmd {
	word, is := c.fileWord()
	if !is || word != m.word {
		return nil // something else was typed meanwhile
	}
	if len(m.files) == 0 {
		c.tail = c.p.dim.Render("no file of the project fits @" + show.Line(word))
		return nil
	}
	best := m.files[0]
	for range []rune(word) {
		c.in.area, _ = c.in.area.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	c.in.area.InsertString(best + " ")
	c.attached[best] = true
	if m.found > 1 {
		var others []string
		for _, f := range m.files[1:] {
			others = append(others, show.Line(f))
		}
		c.tail = c.p.dim.Render(show.Cut("also: "+strings.Join(others, "  "), c.columns()))
	}
	return nil
}

// attachments are the files that were completed and still stand in a prompt.
func (c *conversation) attachments(text string) (all []sdk.Attachment) {
	for _, word := range strings.Fields(text) {
		if path, is := strings.CutPrefix(word, "@"); is && c.attached[path] {
			all = append(all, sdk.Attachment{Path: path})
		}
	}
	return all
}
