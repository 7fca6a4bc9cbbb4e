package daemon

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk"
)

// chatting is a site whose people write to a bot.
type chatting struct {
	*site
	telegram *telegramtest.Server
}

// newChatting starts a daemon with a bot, for Ada (7), who answers, and Bob (8), with a model that repeats what it is told.
func newChatting(t *testing.T) *chatting {
	t.Helper()
	c := &chatting{telegram: telegramtest.New(t)}
	c.site = newSite(t, fmt.Sprintf(`
plugin "bash" {
  enabled = false
}
provider "parrot" {
  plugin   = "openai"
  base_url = %q
}
agent "spoken" {
  model = "parrot/parrot"
  tools = ["*"]
}
policy {
  mode = "interactive"
}
plugin "telegram" {
  grants = ["channel", "answers"]
  token  = %q
  api    = %q
}
person "telegram/7" {
  name    = "Ada"
  agent   = "spoken"
  answers = true
}
person "telegram/8" {
  agent = "spoken"
}
`, modelServer(t), telegramtest.Token, c.telegram.URL))
	c.up()
	return c
}

// until waits for what the server will have.
func (c *chatting) until(what string, is func() bool) {
	c.t.Helper()
	late := time.After(patience)
	for {
		changed := c.telegram.Changed()
		if is() {
			return
		}
		select {
		case <-changed:
		case <-late:
			c.t.Fatalf("never: %s; it shows %+v\n%s", what, c.telegram.Posts(7), c.evidence())
		}
	}
}

// shows waits for a message of the bot whose text has something, and returns it.
func (c *chatting) shows(chat int64, text string) (post telegramtest.Post) {
	c.t.Helper()
	c.until(text, func() bool {
		posts := c.telegram.Posts(chat)
		i := slices.IndexFunc(posts, func(p telegramtest.Post) bool { return strings.Contains(p.Text, text) })
		if i >= 0 {
			post = posts[i]
		}
		return i >= 0
	})
	return post
}

// folder reads a file of the folders that runs have of their own.
func (c *chatting) folder(name string) string {
	all, err := filepath.Glob(filepath.Join(filepath.Dir(c.store), "runs", "*", "workspace", name))
	if err != nil || len(all) != 1 {
		return fmt.Sprintf("%d files: %v", len(all), err)
	}
	text, err := os.ReadFile(all[0])
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestTelegramKilled kills the daemon or the plugin while people write. Each message is taken once, and each answer is
// there whole and once. BOTHY_CHAT_KILLS says how often (20), BOTHY_SEED repeats a series.
func TestTelegramKilled(t *testing.T) {
	t.Parallel()
	c, random := newChatting(t), seeded(t)
	said := 0
	for kill := range number(t, "BOTHY_CHAT_KILLS", 20) {
		for range 2 {
			c.telegram.Says(int64(7+said%2), fmt.Sprintf("message %d.", said))
			said++
		}
		c.watches(random)
		if kill%3 == 2 {
			c.killPlugin("telegram")
			continue
		}
		c.kill()
		c.up()
	}
	c.until("every answer", func() bool {
		shown := 0
		for _, chat := range []int64{7, 8} {
			for _, p := range c.telegram.Posts(chat) {
				if strings.HasPrefix(p.Text, "you said: ") {
					shown++
				}
			}
		}
		return shown >= said && c.telegram.Waiting() == 0
	})
	for i := range said {
		n := 0
		for _, p := range c.telegram.Posts(int64(7 + i%2)) {
			if p.Text == fmt.Sprintf("you said: message %d.", i) {
				n++
			} else if p.Text != "…" && !strings.HasPrefix(p.Text, "you said: message ") {
				t.Errorf("somebody was told %q", p.Text)
			}
		}
		if n != 1 {
			t.Errorf("message %d is answered %d times", i, n)
		}
	}
	queued := 0
	for _, row := range c.journal() {
		if row.Kind == sdk.KindLoopQueued {
			queued++
		}
	}
	if queued != said {
		t.Errorf("%d messages were taken %d times", said, queued)
	}
	c.whole()
}

// watches waits until the bot has asked the server for something a few times since a daemon, or it, was started.
func (c *chatting) watches(random *rand.Rand) {
	c.t.Helper()
	calls := len(c.telegram.Calls("")) + 1 + random.IntN(9)
	c.until("the bot asks", func() bool { return len(c.telegram.Calls("")) >= calls })
}
