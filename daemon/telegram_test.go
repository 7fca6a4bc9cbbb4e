package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// chatting is a site whose people write to a bot.
type chatting struct {
	*site
	telegram *telegramtest.Server
}

// newChatting starts a daemon with a bot, for Ada (7), who answers, and Bob (8), with a model that repeats what it is told.
func newChatting(t *testing.T) *chatting {
	t.Helper()
	server := telegramtest.New(t)
	c := newChattingAt(t, server.URL, modelServer(t))
	c.telegram = server
	return c
}

// newChattingAt is newChatting with a Telegram and a model that are there.
func newChattingAt(t testing.TB, api, model string) *chatting {
	t.Helper()
	c := &chatting{}
	c.site = newSite(t, fmt.Sprintf(`
plugin "bash" {
  enabled = false
}
provider "parrot" {
  plugin   = "openai"
  base_url = %q
}
agent "spoken" {
  model  = "parrot/parrot"
  tools  = ["*"]
  mode   = "interactive"
  agents = ["spoken"]
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
`, model, telegramtest.Token, api))
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

// TestTelegram goes through a conversation: who is listed is answered, alone and in a group, and answers what is proposed.
func TestTelegram(t *testing.T) {
	t.Parallel()
	c := newChatting(t)
	c.telegram.Says(9, "let me in")
	c.telegram.Says(7, "hello **you**")
	if post := c.shows(7, "you said: hello you"); len(post.Entities) != 1 || post.Entities[0].Type != "bold" {
		t.Errorf("%+v", post)
	}

	// What is proposed is accepted once, by who may.
	c.telegram.Says(7, `call write_file {"path":"made","content":"of ada\n"}`)
	post := c.shows(7, "of ada")
	if len(post.Buttons) != 1 || len(post.Buttons[0]) != 2 {
		t.Fatalf("the proposal is %+v\n%s", post, c.evidence())
	}
	c.telegram.Press(8, post, post.Buttons[0][0].Data)
	c.telegram.Press(7, post, post.Buttons[0][0].Data)
	c.telegram.Press(7, post, post.Buttons[0][0].Data)
	if settled := c.shows(7, "Accepted by Ada (telegram/7)."); settled.ID != post.ID || !strings.Contains(settled.Text, "of ada") || len(settled.Buttons) != 0 {
		t.Errorf("the answered proposal is %+v", settled)
	}
	c.shows(7, "the tool said: ")
	if got := c.folder("made"); got != "of ada\n" {
		t.Errorf("made is %q", got)
	}

	// What was edited at the desk is asked anew, and what was asked before answers nothing.
	c.telegram.Says(7, `call write_file {"path":"edited","content":"as it was\n"}`)
	before := c.shows(7, "as it was")
	proposed, err := c.client.Proposals(context.Background(), rpc.ProposalsParams{})
	if err != nil || len(proposed) != 1 {
		t.Fatalf("%+v, %v", proposed, err)
	}
	if _, err := c.client.Resolve(context.Background(), rpc.Resolve{ID: proposed[0].ID, Hash: proposed[0].Hash, Answer: sdk.Edit, Arguments: json.RawMessage(`{"path":"edited","content":"as it is\n"}`)}); err != nil {
		t.Fatal(err)
	}
	after := c.shows(7, "as it is")
	c.telegram.Press(7, before, before.Buttons[0][0].Data)
	c.telegram.Press(7, after, after.Buttons[0][0].Data)
	c.until("it is accepted", func() bool {
		return slices.ContainsFunc(c.telegram.Posts(7), func(p telegramtest.Post) bool {
			return p.ID == before.ID && strings.Contains(p.Text, "as it is") && strings.Contains(p.Text, "Accepted by Ada")
		})
	})
	c.until("it is made", func() bool { return c.folder("edited") == "as it is\n" })

	// What delegated work proposes is asked where the work was asked for.
	c.telegram.Says(7, `call delegate {"agent":"spoken","task":"call write_file {\"path\":\"below\",\"content\":\"of the child\\n\"}"}`)
	post = c.shows(7, "of the child")
	c.telegram.Press(7, post, post.Buttons[0][0].Data)
	c.until("it is made", func() bool { return c.folder("below") == "of the child\n" })

	// Files lie in the folder of the run.
	c.telegram.Write(map[string]any{"from": map[string]any{"id": 7}, "chat": map[string]any{"id": 7, "type": "private"}, "date": 1700000000, "caption": "take this",
		"document": map[string]any{"file_id": "d", "file_name": "list.txt", "file_size": 20}})
	c.shows(7, "you said: take this\n\nFiles that came with this: /workspace/")
	if got := c.folder("*-list.txt"); got != "the contents of documents/d" {
		t.Errorf("the file is %q", got)
	}

	// A group has runs of its own, and its conversations go on until they are left.
	c.telegram.Write(map[string]any{"from": map[string]any{"id": 8}, "chat": map[string]any{"id": -100, "type": "supergroup"}, "date": 1700000000,
		"text": "@test_bot all of you", "entities": []map[string]any{{"type": "mention", "offset": 0, "length": 9}}})
	c.shows(-100, "you said: all of you")
	c.telegram.Says(7, "/new")
	c.shows(7, "The next prompt begins anew.")
	c.telegram.Says(7, "anew")
	c.shows(7, "you said: anew")
	c.telegram.Says(7, "/resume")
	c.shows(7, "– anew\n")
	if posts := c.telegram.Posts(9); len(posts) != 0 {
		t.Errorf("a stranger got %v", posts)
	}
	owners := map[string]int{}
	runs, err := c.client.Runs(context.Background(), rpc.RunsParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		owners[run.Owner]++
	}
	if owners["telegram/7"] != 2 || owners["telegram/group/-100"] != 1 {
		t.Errorf("runs by owner are %v", owners)
	}
	c.whole()
	c.keepsToken()
}

// TestTelegramKilled kills the daemon or the plugin while people write. Each message is taken once, and each answer is
// there whole and once; a kill leaves at most one message empty. BOTHY_CHAT_KILLS says how often (8), BOTHY_SEED repeats
// a series.
func TestTelegramKilled(t *testing.T) {
	t.Parallel()
	c, random := newChatting(t), seeded(t)
	said, kills := 0, number(t, "BOTHY_CHAT_KILLS", 8)
	for kill := range kills {
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
	shown := map[string]int{} // how often each text, by its chat
	c.until("every answer", func() bool {
		clear(shown)
		for _, chat := range []int64{7, 8} {
			for _, p := range c.telegram.Posts(chat) {
				shown[fmt.Sprint(chat, p.Text)]++
			}
		}
		for i := range said {
			if shown[answered(i)] == 0 {
				return false
			}
		}
		return c.telegram.Waiting() == 0
	})
	for i := range said {
		if n := shown[answered(i)]; n != 1 {
			t.Errorf("message %d is answered %d times", i, n)
		}
		delete(shown, answered(i))
	}
	empty := shown["7…"] + shown["8…"]
	delete(shown, "7…")
	delete(shown, "8…")
	t.Logf("%d messages, %d kills, %d messages of the bot stay empty", said, kills, empty)
	if empty > kills || len(shown) > 0 {
		t.Errorf("%d messages stay empty after %d kills, and others were told %v", empty, kills, shown)
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
	c.keepsToken()
}

// answered is what is shown of a message, with its chat before it.
func answered(message int) string {
	return fmt.Sprintf("%dyou said: message %d.", 7+message%2, message)
}

// watches waits until the bot has asked the server for something a few times since a daemon, or it, was started.
func (c *chatting) watches(random *rand.Rand) {
	c.t.Helper()
	calls := len(c.telegram.Calls("")) + 1 + random.IntN(9)
	c.until("the bot asks", func() bool { return len(c.telegram.Calls("")) >= calls })
}

// keepsToken looks for the bot's token in all that the daemon wrote, its log, its audit and its store among it: it is in the
// configuration alone.
func (c *chatting) keepsToken() {
	c.t.Helper()
	_, secret, _ := strings.Cut(telegramtest.Token, ":")
	files := 0
	err := filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "config.hcl" {
			return err
		}
		content, err := os.ReadFile(path)
		if files++; bytes.Contains(content, []byte(secret)) {
			c.t.Errorf("the token is in %s", path)
		}
		return err
	})
	if err != nil || files < 3 {
		c.t.Errorf("%d files: %v", files, err)
	}
}
