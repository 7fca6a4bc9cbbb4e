package main

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/lock"
)

// draftDue has what was begun to be typed written down.
type draftDue struct{}

// draftAfter is how soon what is typed is written down.
const draftAfter = 300 * time.Millisecond

// draft is the file of what was begun to be typed in a terminal. Terminals that are open at
// once have one each, under a lock, and one that begins takes over what a terminal left
// that is gone.
type draft struct {
	file   string // empty keeps nothing
	saved  string // what was written last
	under  keyed  // what is under way
	left   keyed  // what was under way in the terminal that is gone
	due    bool   // it is written soon
	unlock func()
}

// keyed is a prompt that may be with the daemon, though its answer was not heard: the same
// one under its key is not given twice.
type keyed struct{ key, sum string }

// String is what stands behind a draft.
func (k keyed) String() string {
	if k.key == "" {
		return ""
	}
	return draftUnder + k.key + " " + k.sum
}

// sumOf tells prompts apart.
func sumOf(prompt string) string {
	sum := sha256.Sum256([]byte(prompt))
	return hex.EncodeToString(sum[:])
}

// keyOf is the key under which a prompt is sent. The first one of a terminal may be the one
// that the terminal before was sending; behind it, and where the input was emptied, the same
// words are meant as another prompt.
func (d *draft) keyOf(prompt string) string {
	left := d.left
	if d.left = (keyed{}); left.sum == sumOf(prompt) {
		return left.key
	}
	return rand.Text()
}

const (
	draftLock = ".lock"
	draftNew  = ".new"
	// draftUnder stands behind what was typed, and before the key and the sum of what is under
	// way.
	draftUnder = "\x00"
	// mostDraft is how long a draft may be that is read: prompts that were not sent are in it.
	mostDraft = 4 * mostInput
)

// openDraft makes a terminal's draft of a project, with what the last one left that is gone.
func openDraft(state, project string) (d draft) {
	if state == "" || os.MkdirAll(state, 0o700) != nil {
		return d
	}
	base := filepath.Join(state, "draft-"+projectName(project))
	for n := range 100 { // a process that is gone, or in another container, may have had the same number
		name := fmt.Sprintf("%s-%d.%d", base, os.Getpid(), n)
		unlock, err := lock.File(name + draftLock)
		if err != nil {
			continue
		}
		if _, err := os.Lstat(name); err == nil {
			unlock()
			continue
		}
		d.file, d.unlock = name, unlock
		d.takeOver(base)
		break
	}
	return d
}

// takeOver takes what was begun in a terminal that is gone: the last one, where there are
// more. What else they left is removed.
func (d *draft) takeOver(base string) {
	files, _ := os.ReadDir(filepath.Dir(base)) // else nothing is taken over
	last, began := "", time.Time{}
	for _, f := range files {
		file := strings.TrimSuffix(filepath.Join(filepath.Dir(base), f.Name()), draftLock)
		if !strings.HasPrefix(file, base) || file == d.file || strings.HasSuffix(file, draftNew) {
			continue
		}
		unlock, err := lock.File(file + draftLock)
		if err != nil {
			continue // its terminal is there
		}
		defer unlock()
		defer func() {
			_ = os.Remove(file + draftNew) // a file that stays is no harm
			_ = os.Remove(file + draftLock)
		}()
		if info, err := os.Stat(file); err == nil && info.Size() <= mostDraft && info.ModTime().After(began) {
			last, began = file, info.ModTime()
		}
	}
	if last == "" || os.Rename(last, d.file) != nil {
		return
	}
	all, _ := os.ReadFile(d.file) // else it begins with nothing
	d.saved, d.left = cutKeyed(string(all))
}

// cutKeyed sets apart a draft and what was under way. A text that was pasted may have the byte
// between them, too.
func cutKeyed(all string) (text string, k keyed) {
	at := strings.LastIndex(all, draftUnder)
	if at < 0 {
		return all, k
	}
	key, sum, _ := strings.Cut(all[at+len(draftUnder):], " ")
	if key == "" || len(sum) != hex.EncodedLen(sha256.Size) {
		return all, k
	}
	return all[:at], keyed{key, sum}
}

// save keeps what was begun to be typed; nothing is the end of a draft. What cannot be
// written is lost with the terminal, and nothing else.
func (d *draft) save(text string) {
	d.saved = text
	switch {
	case d.file == "":
	case text == "":
		_ = os.Remove(d.file)
	case os.WriteFile(d.file+draftNew, []byte(text+cmp.Or(d.under, d.left).String()), 0o600) == nil:
		_ = os.Rename(d.file+draftNew, d.file)
	}
}

// leave gives the draft to the next terminal.
func (d *draft) leave() {
	if d.file != "" {
		_ = os.Remove(d.file + draftLock) // as above
		d.unlock()
		d.file = ""
	}
}

// draft has what is being typed written down soon: it is there again after the terminal
// was closed, or killed.
func (c *conversation) draft() tea.Cmd {
	text := c.draftText()
	if text == "" {
		c.drafted.left = keyed{}
	}
	if c.drafted.due || text == c.drafted.saved {
		return nil
	}
	c.drafted.due = true
	return tea.Tick(draftAfter, func(time.Time) tea.Msg { return draftDue{} })
}

func (c *conversation) saveDraft() {
	if text := c.draftText(); text != c.drafted.saved {
		c.drafted.save(text)
	}
}

// draftText is what would be lost with the terminal: what the daemon does not have yet,
// what was begun before an older prompt was looked at, and what stands in the input, or
// stood there before a reason.
func (c *conversation) draftText() string {
	var parts []string
	for _, o := range c.outbox {
		parts = append(parts, o.shown)
	}
	for _, e := range c.ahead.kept {
		parts = append(parts, e.shown)
	}
	now, h := c.in.area.Value(), c.typed
	if c.open != nil && c.open.typing() {
		now = c.open.draft
	}
	if h.at < len(h.typed) {
		parts = append(parts, h.draft)
		if c.in.unfold(now) == h.typed[h.at] {
			now = "" // it is in the history
		}
	}
	parts = slices.DeleteFunc(append(parts, now), func(part string) bool { return part == "" })
	return c.in.unfold(strings.Join(parts, "\n"))
}
