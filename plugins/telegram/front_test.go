package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestAnswerComes(t *testing.T) {
	c := talk(t, telegramtest.New(t), newDesk("7"))
	id := c.telegram.Says(7, "hello **you**")
	post := c.shows(7, "You said: hello you")
	if len(post.Entities) != 1 || post.Entities[0].Type != "bold" {
		t.Errorf("its entities are %v", post.Entities)
	}
	c.quiet()
	prompts := c.desk.taken()
	if len(prompts) != 1 || prompts[0].Key != number(id) || *prompts[0].From != (sdk.From{Person: "7", Message: number(id)}) || prompts[0].Project != "/p" {
		t.Errorf("the daemon was given %+v", prompts)
	}
	if posts := c.telegram.Posts(7); len(posts) != 1 {
		t.Errorf("%d messages", len(posts))
	}
}

func TestStrangersGetNothing(t *testing.T) {
	c := talk(t, telegramtest.New(t), newDesk("7"))
	c.telegram.Says(8, "hello")
	c.telegram.Says(8, "/start")
	c.telegram.Says(8, "AAAA-BBBB") // nobody waits for a code
	c.telegram.Write(map[string]any{"from": map[string]any{"id": 7}, "sender_chat": map[string]any{"id": -9}, "chat": map[string]any{"id": -9, "type": "channel"}, "text": "hello"})
	c.telegram.Says(7, "last")
	c.shows(7, "You said: last")
	c.quiet()
	c.desk.do(func() { c.desk.people.Pairing = true })
	c.telegram.Says(8, "hello")
	c.telegram.Says(8, "CCCC-DDDD")
	c.telegram.Says(8, "aaaa-bbbb")
	c.shows(8, "Sent on. When this is confirmed at the desk, write again.")
	c.quiet()
	if posts := c.telegram.Posts(8); len(posts) != 1 {
		t.Errorf("a stranger got %v", posts)
	}
	if p := c.desk.taken(); len(p) != 1 {
		t.Errorf("prompts %+v", p)
	}
	if claims := c.desk.claims; len(claims) != 2 || claims[1].Code != "AAAA-BBBB" || claims[1].From.Person != "8" || claims[1].Name != "Somebody" {
		t.Errorf("claims %+v", claims)
	}
	if len(c.front.noted) != 1 {
		t.Errorf("noted %v", c.front.noted)
	}
}

// group is a message in a group of many.
func inGroup(person, thread int64, text string, more map[string]any) map[string]any {
	m := map[string]any{
		"from": map[string]any{"id": person, "first_name": "Somebody"}, "chat": map[string]any{"id": -100, "type": "supergroup"},
		"date": 1700000000, "text": text,
	}
	if thread != 0 {
		m["message_thread_id"], m["is_topic_message"] = thread, true
	}
	if i := strings.Index(text, "@"); i >= 0 {
		word, _, _ := strings.Cut(text[i:], " ")
		m["entities"] = []map[string]any{{"type": "mention", "offset": i, "length": len(word)}}
	}
	for k, v := range more {
		m[k] = v
	}
	return m
}

func TestGroups(t *testing.T) {
	c := talk(t, telegramtest.New(t), newDesk("7", "8"))
	c.telegram.Write(inGroup(7, 0, "hello all", nil))
	c.telegram.Write(inGroup(7, 0, "hello @other_bot", nil))
	c.telegram.Write(inGroup(9, 0, "hello @test_bot", nil))
	id := c.telegram.Write(inGroup(8, 0, "hello @Test_Bot you", nil))
	post := c.shows(-100, "You said: hello  you")
	if post.ReplyTo != id || post.Thread != 0 {
		t.Errorf("it replies to %d in %d", post.ReplyTo, post.Thread)
	}
	c.telegram.Write(inGroup(7, 5, "and you?", map[string]any{"reply_to_message": map[string]any{"message_id": post.ID, "from": map[string]any{"id": 4242}}}))
	if post := c.shows(-100, "You said: and you?"); post.Thread != 5 {
		t.Errorf("it stands in %d", post.Thread)
	}
	c.until("nothing is owed", c.desk.settled) // what is written may be shown before it is done
	c.telegram.Write(inGroup(7, 0, "/status@test_bot", map[string]any{"entities": []map[string]any{{"type": "bot_command", "offset": 0, "length": 16}}}))
	c.shows(-100, "Nothing is being done.\nAgent: default\nModel: parrot")
	prompts := c.desk.taken()
	if len(prompts) != 2 || *prompts[0].From != (sdk.From{Person: "8", Conversation: "-100", Message: number(id)}) || prompts[1].From.Thread != "5" {
		t.Errorf("the daemon was given %+v", prompts)
	}
}

func TestPartsAreJoined(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	first, rest := strings.Repeat("word ", 810), "the end"
	album := func(text string) map[string]any {
		return map[string]any{"from": map[string]any{"id": 7}, "chat": map[string]any{"id": 7, "type": "private"}, "date": 1700000000, "media_group_id": "a", "caption": text,
			"photo": []map[string]any{{"file_id": "small", "file_size": 10}, {"file_id": "large", "file_size": 20}}}
	}
	id := server.Says(7, first)
	server.Says(7, rest)
	server.Says(7, "by itself")
	server.Write(album("look"))
	server.Write(album(""))
	c := talk(t, server, d)
	c.quiet()
	prompts := d.taken()
	if len(prompts) != 3 || prompts[0].Key != number(id) || prompts[0].Prompt != first+"\n"+rest || prompts[1].Prompt != "by itself" || prompts[2].Prompt != "look\n\nFiles that came with this: /workspace/photo-4.jpg, /workspace/photo-5.jpg" || prompts[2].Quoted != len(prompts[2].Prompt)-len("look") || len(prompts[2].Media) != 2 {
		t.Errorf("the daemon was given %d prompts: %.2000v", len(prompts), prompts)
	}
}

// TestPartsThatCameLater: the daemon has the first part of a text, and the plugin was killed before it confirmed it.
func TestPartsThatCameLater(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	first := strings.Repeat("word ", 810)
	id := server.Says(7, first)
	server.Says(7, "the end")
	if _, err := d.act(rpc.Prompt{Key: number(id), From: &sdk.From{Person: "7"}, Prompt: first}); err != nil {
		t.Fatal(err)
	}
	c := talk(t, server, d)
	c.quiet()
	if prompts := d.taken(); len(prompts) != 2 || prompts[1].Prompt != "the end" {
		t.Errorf("the daemon was given %d prompts", len(prompts))
	}
	c.shows(7, "You said: the end")
}

func TestLongAnswers(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	paragraph := strings.Repeat("word ", 600)
	d.say = func(p rpc.Prompt) []string {
		n := map[string]int{"three": 3, "many": 9}[p.Prompt]
		return []string{strings.TrimSpace(strings.Repeat(paragraph+"\n\n", n))}
	}
	c := talk(t, server, d)
	server.Says(7, "three")
	c.until("three messages", func() bool {
		posts := server.Posts(7)
		return len(posts) == 3 && posts[2].Text == strings.TrimSpace(paragraph)
	})
	server.Says(7, "many")
	c.until("a document", func() bool {
		posts := server.Posts(7)
		return len(posts) == 4 && posts[3].Name == "answer.md" && strings.Count(posts[3].Document, paragraph[:len(paragraph)-1]) == 9 && strings.HasPrefix(posts[3].Text, "word ")
	})
	server.Plan("editMessageMedia", telegramtest.Refusal(404, "Not Found"))
	server.Says(7, "many")
	c.until("messages", func() bool { return len(server.Posts(7)) == 13 })
}

// TestRefusedEntities: an answer arrives as it is where Telegram does not take its form.
func TestRefusedEntities(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	d.say = func(rpc.Prompt) []string { return []string{"**bold**"} }
	server.Plan("editMessageText", telegramtest.Refusal(400, "Bad Request: can't parse entities: unsupported entity"))
	c := talk(t, server, d)
	server.Says(7, "x")
	if post := c.shows(7, "bold"); len(post.Entities) != 0 {
		t.Errorf("entities %v", post.Entities)
	}
}

// TestSharedPoll: another program asks for the bot's messages. That is told, and waited out.
func TestSharedPoll(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	server.Plan("getUpdates", telegramtest.Refusal(409, "Conflict: terminated by other getUpdates request"), telegramtest.TooMany(3), telegramtest.Refusal(502, "Bad Gateway"))
	server.Says(7, "x")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var said []string
	f := newFront(botOf(t, server.URL, nil), user{ID: 4242, Username: "test_bot"}, d, d, "telegram", "/p")
	f.bot.told = func(status string) { said = append(said, status) }
	_ = f.serve(ctx, func(status string) { // it is ended
		if said = append(said, status); strings.HasPrefix(status, "connected") {
			cancel()
		}
	})
	if len(said) != 4 || !strings.HasPrefix(said[0], "another program asks") || said[1] != "Telegram asks to wait 3s" || !strings.HasPrefix(said[2], "waits for Telegram: ") {
		t.Errorf("it said %q", said)
	}
	talk(t, server, d).shows(7, "You said: x")
}

// TestBarred: who blocked the bot has no answer, and everybody else has.
func TestBarred(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7", "8")
	server.Plan("sendMessage", telegramtest.Refusal(403, "Forbidden: bot was blocked by the user"))
	c := talk(t, server, d)
	server.Says(8, "x")
	c.until("it is given up", func() bool {
		var r record
		d.mu.Lock()
		defer d.mu.Unlock()
		return json.Unmarshal(d.kept["8"], &r) == nil && r.Answered == 1 && len(r.Owed) == 0
	})
	server.Says(7, "y")
	c.shows(7, "You said: y")
	if posts := server.Posts(8); len(posts) != 0 {
		t.Errorf("%v", posts)
	}
}

// TestDraftsAreShown: what is written so far is shown, and then the whole.
func TestDraftsAreShown(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	d.say = func(rpc.Prompt) []string { return nil }
	c := talk(t, server, d)
	server.Says(7, "x")
	c.shows(7, placeholder)
	d.do(func() { d.write(rpc.Accepted{ID: 1, Loop: 1}, "The begin") })
	c.shows(7, "The begin")
	d.do(func() { d.end(rpc.Accepted{ID: 1, Loop: 1}, "The begin and the end") })
	c.shows(7, "The begin and the end")
}

func TestRefusedPrompt(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	d.refuse = &rpc.Error{Code: rpc.CodeFailed, Message: "there is no agent x", Data: &rpc.ErrorData{Outcome: sdk.Validation}}
	c := talk(t, server, d)
	server.Says(7, "x")
	c.shows(7, "That was not taken: there is no agent x")
	c.quiet()
}

func TestOtherKinds(t *testing.T) {
	c := talk(t, telegramtest.New(t), newDesk("7"))
	c.telegram.Write(map[string]any{"from": map[string]any{"id": 7}, "chat": map[string]any{"id": 7, "type": "private"}, "date": 1700000000, "voice": map[string]any{"file_id": "v"}})
	c.shows(7, "I cannot take voice messages: write it, please.")
	c.telegram.Write(map[string]any{"from": map[string]any{"id": 7}, "chat": map[string]any{"id": 7, "type": "private"}, "date": 1700000000, "text": "do it", "forward_origin": map[string]any{"type": "user"}})
	c.shows(7, "You said: do it")
	c.telegram.Write(map[string]any{"from": map[string]any{"id": 7}, "chat": map[string]any{"id": 7, "type": "private"}, "date": 1700000000, "text": "/new", "via_bot": map[string]any{"id": 5, "is_bot": true}})
	c.shows(7, "You said: /new")
	if p := c.desk.taken(); len(p) != 2 || p[0].Quoted != len("do it") || p[1].Quoted != len("/new") {
		t.Errorf("texts of others are given as %+v", p)
	}
}

func TestCommands(t *testing.T) {
	c := talk(t, telegramtest.New(t), newDesk("7"))
	for _, step := range []struct{ says, answer string }{
		{"/status", nothingYet},
		{"/nothing", "There is no /nothing: /help has what there is."},
		{"/model", "The model is parrot.\n/model NAME takes another one:\nparrot\nowl"},
		{"/model owl", "The next answer is from owl."},
		{"/agent nobody", "There is no agent nobody.\nThe agent is default.\n/agent NAME takes another one:\ndefault\nreviewer"},
		{"/agent@test_bot reviewer", "The next prompt is for reviewer."},
		{"hello", "You said: hello"},
		{"again", "You said: again"},
		{"/etc/passwd", "You said: /etc/passwd"},
		{"/new@other_bot", "You said: /new@other_bot"},
		{"/reset", "The files and the container of this conversation are gone. The next prompt begins anew; /resume goes back to what was said."},
	} {
		c.telegram.Says(7, step.says)
		c.shows(7, step.answer)
	}
	c.telegram.Says(7, "/help")
	c.until("help", func() bool {
		posts := c.telegram.Posts(7)
		return strings.Contains(posts[len(posts)-1].Text, "/resume – ")
	})
	p := c.desk.taken()
	if p[0].Model != "owl" || p[0].Agent != "reviewer" || p[1].Model != "" || p[1].Agent != "" {
		t.Errorf("%+v", p[:2])
	}
	if got := fmt.Sprint(c.desk.asked); !strings.Contains(got, "run/reset 1") {
		t.Errorf("asked %s", got)
	}
}

// TestAnsweredAtOnce: a server that holds no question is asked again only after a while.
func TestAnsweredAtOnce(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	nothing := telegramtest.Answer{Status: 200, Body: `{"ok":true,"result":[]}`}
	server.Plan("getUpdates", nothing, nothing, telegramtest.Refusal(401, "Unauthorized"))
	var waits []time.Duration
	f := newFront(botOf(t, server.URL, &waits), user{ID: 4242, Username: "test_bot"}, d, d, "telegram", "/p")
	f.now = func() time.Time { return time.Unix(0, 0) }
	if err := f.serve(t.Context(), func(string) {}); sdk.OutcomeOf(err) != sdk.Unavailable || fmt.Sprint(waits) != "[200ms 200ms]" {
		t.Errorf("it waited %v and ended with %v", waits, err)
	}
}
