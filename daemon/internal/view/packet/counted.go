package packet

import (
	"slices"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// counted keeps how many characters the long texts have that were counted last. A packet of megabytes is asked for its tokens
// several times in a turn, and its lists are counted by their rows: the same string is not read again for that.
type counted struct {
	mu    sync.Mutex
	texts []countedText // the last one at the end
}

type countedText struct {
	text       string
	characters int
}

// Texts of some bytes are worth it, and so many of them are kept: the lists of a packet, and the packets of a few runs.
const (
	longText  = 16 << 10
	mostTexts = 8
)

// of is how many characters a text has.
func (c *counted) of(text string) int {
	if len(text) < longText {
		return view.Characters(text)
	}
	if n, is := c.find(text); is {
		return n
	}
	n := view.Characters(text)
	c.add(text, n)
	return n
}

// find looks for a text from the last one on, which it is as a rule: then no byte of it is compared.
func (c *counted) find(text string) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range slices.Backward(c.texts) {
		if x.text == text {
			return x.characters, true
		}
	}
	return 0, false
}

// add takes note of a text that has so many.
func (c *counted) add(text string, characters int) {
	if len(text) < longText {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.texts) == mostTexts {
		c.texts = slices.Delete(c.texts, 0, 1)
	}
	c.texts = append(c.texts, countedText{text, characters})
}

// whole takes note of a text that has so many, which was put together of messages: nobody asks for theirs again.
func (c *counted) whole(text string, characters int, of []sdk.Message) {
	c.mu.Lock()
	c.texts = slices.DeleteFunc(c.texts, func(x countedText) bool {
		return slices.ContainsFunc(of, func(m sdk.Message) bool { return m.Text == x.text })
	})
	c.mu.Unlock()
	c.add(text, characters)
}
