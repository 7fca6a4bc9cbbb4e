package main

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestAnswersArrive: nothing of an answer is lost where Telegram refuses a part of it, or is out of reach for a while.
func TestAnswersArrive(t *testing.T) {
	refusal := func(words string) telegramtest.Answer { return telegramtest.Refusal(400, "Bad Request: "+words) }
	down := []telegramtest.Answer{telegramtest.Refusal(502, "Bad Gateway"), {}, telegramtest.Refusal(500, "Internal Server Error"), {}}
	for range 2 * mostTries {
		down = append(down, telegramtest.TooMany(1))
	}
	for name, c := range map[string]struct {
		plan   map[string][]telegramtest.Answer
		thread int64  // in which the answer stands
		file   string // the contents of a document
		text   string
	}{
		"a placeholder while Telegram is down": {plan: map[string][]telegramtest.Answer{"sendMessage": down}, thread: 5, text: "bold"},
		"a text while Telegram is down":        {plan: map[string][]telegramtest.Answer{"editMessageText": down}, thread: 5, text: "bold"},
		"a topic that was deleted":             {plan: map[string][]telegramtest.Answer{"sendMessage": {refusal("message thread not found")}}, text: "bold"},
		"a topic that was closed":              {plan: map[string][]telegramtest.Answer{"sendMessage": {refusal("TOPIC_CLOSED")}}, text: "bold"},
		"a text that is refused":               {plan: map[string][]telegramtest.Answer{"editMessageText": {refusal("message is too long")}}, thread: 5, text: "bold …", file: "**bold**"},
		"a text that stands there already":     {plan: map[string][]telegramtest.Answer{"editMessageText": {refusal("message is not modified: specified new message content is the same")}}, thread: 5, text: placeholder},
		"whatever is refused": {
			plan:   map[string][]telegramtest.Answer{"editMessageText": {refusal("can't parse entities"), refusal("MESSAGE_INVALID")}, "editMessageMedia": {refusal("MEDIA_INVALID")}},
			thread: 5, text: "Telegram does not take this answer. At the machine `bothy runs show 1` has it.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, d := telegramtest.New(t), newDesk("7")
			d.say = func(rpc.Prompt) []string { return []string{"**bold**"} }
			for method, answers := range c.plan {
				server.Plan(method, answers...)
			}
			s := talk(t, server, d)
			server.Write(inGroup(7, 5, "@test_bot x", nil))
			if post := s.shows(-100, c.text); post.Thread != c.thread || post.Document != c.file {
				t.Errorf("%+v", post)
			}
			s.until("nothing is owed", d.settled)
			if posts := server.Posts(-100); len(posts) > 1 && !strings.HasPrefix(name, "whatever") {
				t.Errorf("%+v", posts)
			}
		})
	}
}

// TestRefusedDraft: what is written so far may be refused, and the answer is not.
func TestRefusedDraft(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	d.say = func(rpc.Prompt) []string { return nil }
	c := talk(t, server, d)
	server.Says(7, "x")
	c.shows(7, placeholder)
	server.Plan("editMessageText", telegramtest.Refusal(400, "Bad Request: MESSAGE_INVALID"))
	d.do(func() { d.write(rpc.Accepted{ID: 1, Loop: 1}, "The begin") })
	c.until("the draft is refused", func() bool { return len(server.Calls("editMessageText")) > 0 })
	d.do(func() { d.end(rpc.Accepted{ID: 1, Loop: 1}, "here") })
	c.shows(7, "here")
}

// TestRevokedToken: a bot that there is no more takes no answer with it. It is owed until there is one again.
func TestRevokedToken(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	server.Plan("sendMessage", telegramtest.Refusal(401, "Unauthorized"))
	server.Says(7, "x")
	f := newFront(botOf(t, server.URL, nil), user{ID: 4242, Username: "test_bot"}, d, d, "telegram", "/p")
	err := f.serve(context.Background(), func(string) {})
	if sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "no bot with this token") || d.settled() {
		t.Fatalf("it ended with %v", err)
	}
	talk(t, server, d).shows(7, "You said: x")
}

// TestDeletedMeanwhile: a message that takes the place of a deleted one begins empty too, so that a crash repeats no answer.
func TestDeletedMeanwhile(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	d.say = func(rpc.Prompt) []string { return nil }
	c := talk(t, server, d)
	server.Says(7, "x")
	post := c.shows(7, placeholder)
	server.Delete(7, post.ID)
	c.quiet()
	d.do(func() { d.end(rpc.Accepted{ID: 1, Loop: 1}, "here") })
	if post = c.shows(7, "here"); post.Edits != 1 {
		t.Errorf("%+v", post)
	}
}

// TestGroupThatGrew: what is owed to a group arrives in the one that it became.
func TestGroupThatGrew(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	d.say = func(rpc.Prompt) []string { return nil }
	c := talk(t, server, d)
	server.Write(inGroup(7, 0, "@test_bot x", nil))
	c.shows(-100, placeholder)
	moved := telegramtest.Answer{Status: 400, Body: `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-200}}`}
	server.Plan("editMessageText", moved)
	server.Plan("editMessageMedia", moved)
	d.do(func() { d.end(rpc.Accepted{ID: 1, Loop: 1}, "here") })
	c.shows(-200, "here")
	c.until("nothing is owed", d.settled)
}
