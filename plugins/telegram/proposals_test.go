package main

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// proposes makes a desk whose runs propose something at each prompt.
func proposes(t rpc.Ticket) *desk {
	d := newDesk("7", "8")
	d.ticket = t
	d.say = func(rpc.Prompt) []string { return nil }
	return d
}

// asks waits for a message that shows what is proposed.
func (c *scene) asks(chat int64, text string) (post telegramtest.Post) {
	c.until("it asks "+text, func() bool {
		for _, post = range c.telegram.Posts(chat) {
			if post.Text == text {
				return true
			}
		}
		return false
	})
	return post
}

func TestAnsweredByAButton(t *testing.T) {
	d := proposes(rpc.Ticket{Text: "It would run\n| **rm** x", Accept: true})
	c := talk(t, telegramtest.New(t), d)
	c.telegram.Says(7, "x")
	c.shows(7, placeholder)
	d.do(func() { d.propose(rpc.Accepted{ID: 1, Loop: 1}, "p") })
	post := c.asks(7, d.ticket.Text)
	if len(post.Buttons) != 1 || len(post.Buttons[0]) != 2 || len(post.Entities) != 0 {
		t.Fatalf("buttons %v, entities %v", post.Buttons, post.Entities)
	}
	c.telegram.Press(9, post, post.Buttons[0][0].Data) // a stranger
	c.telegram.Press(7, post, "y"+strings.Repeat("f", 32))
	c.quiet()
	post = c.asks(7, d.ticket.Text)
	c.telegram.Press(7, post, post.Buttons[0][0].Data)
	done := c.asks(7, d.ticket.Text+"\n\nAccepted by telegram/7.")
	c.asks(7, "done")
	if len(done.Buttons) != 0 || done.ID != post.ID {
		t.Errorf("%+v", done)
	}
	c.telegram.Press(7, post, post.Buttons[0][0].Data)
	c.quiet()
	if len(d.answers) != 1 || d.answers[0].Answer != sdk.Accept || *d.answers[0].From != (sdk.From{Person: "7", Message: number(post.ID)}) {
		t.Errorf("%+v", d.answers)
	}
	if presses := c.telegram.Calls("answerCallbackQuery"); len(presses) != 3 || !strings.Contains(presses[1].Body, "Accepted.") {
		t.Errorf("%v", presses)
	}
}

// TestAskedAnewAfterADeath: the ticket is gone with the plugin that had it. Another one stands in the same message.
func TestAskedAnewAfterADeath(t *testing.T) {
	server, d := telegramtest.New(t), proposes(rpc.Ticket{Text: "It would run", Accept: true})
	c := talk(t, server, d)
	server.Write(inGroup(7, 3, "@test_bot x", nil))
	c.shows(-100, placeholder)
	d.do(func() { d.propose(rpc.Accepted{ID: 1, Loop: 1}, "p") })
	old := c.asks(-100, "It would run")
	c.quiet()
	c.end()
	c = talk(t, server, d)
	var post telegramtest.Post
	c.until("it is asked anew", func() bool {
		post = c.asks(-100, "It would run")
		return post.Buttons[0][1].Data != old.Buttons[0][1].Data
	})
	if post.ID != old.ID || post.Thread != 3 {
		t.Errorf("%+v after %+v", post, old)
	}
	server.Press(8, old, old.Buttons[0][1].Data)
	server.Press(8, post, post.Buttons[0][1].Data)
	c.asks(-100, "It would run\n\nRejected by telegram/8.")
	if len(d.answers) != 1 || d.answers[0].From.Person != "8" || d.answers[0].From.Conversation != "-100" {
		t.Errorf("%+v", d.answers)
	}
}

// TestAnsweredByAReply: a question takes a text, and its answer is no prompt, also when it comes too late.
func TestAnsweredByAReply(t *testing.T) {
	d := proposes(rpc.Ticket{Text: "Which one?", Accept: true, Asks: true})
	c := talk(t, telegramtest.New(t), d)
	c.telegram.Says(7, "x")
	c.shows(7, placeholder)
	d.do(func() { d.propose(rpc.Accepted{ID: 1, Loop: 1}, "p") })
	post := c.asks(7, "Which one?")
	if len(post.Buttons[0]) != 1 {
		t.Fatalf("buttons %v", post.Buttons)
	}
	reply := func() {
		c.telegram.Write(map[string]any{"from": map[string]any{"id": 7}, "chat": map[string]any{"id": 7, "type": "private"}, "date": 1700000000, "text": "the red one",
			"reply_to_message": map[string]any{"message_id": post.ID, "from": map[string]any{"id": 4242}}})
	}
	reply()
	c.shows(7, "Accepted.")
	c.asks(7, "Which one?\n\nAccepted by telegram/7.")
	c.asks(7, "done")
	reply()
	c.shows(7, over+" What replies to no question is a prompt.")
	if len(d.answers) != 1 || d.answers[0].Text != "the red one" || len(d.taken()) != 1 {
		t.Errorf("%+v, prompts %v", d.answers, d.taken())
	}
}

// TestAnsweredAtTheDesk: what has no button waits there, and the message says how it ended.
func TestAnsweredAtTheDesk(t *testing.T) {
	d := proposes(rpc.Ticket{Text: "It cannot be accepted here"})
	c := talk(t, telegramtest.New(t), d)
	c.telegram.Says(7, "x")
	c.shows(7, placeholder)
	d.do(func() { d.propose(rpc.Accepted{ID: 1, Loop: 1}, "p") })
	if post := c.asks(7, "It cannot be accepted here"); len(post.Buttons[0]) != 1 || !strings.HasPrefix(post.Buttons[0][0].Data, rejects) {
		t.Errorf("buttons %v", post.Buttons)
	}
	d.do(func() { d.answered(rpc.ChannelAnswer{Answer: sdk.Reject, From: &sdk.From{Person: "8"}}) })
	c.asks(7, "It cannot be accepted here\n\nRejected by telegram/8.")
	c.asks(7, "done")
}

// TestAskedAnewAfterAnEdit: what was edited at the desk is asked in the same message, and a button that shows what it was
// before answers nothing.
func TestAskedAnewAfterAnEdit(t *testing.T) {
	d := proposes(rpc.Ticket{Text: "It would run one", Accept: true})
	c := talk(t, telegramtest.New(t), d)
	c.telegram.Says(7, "x")
	c.shows(7, placeholder)
	d.do(func() { d.propose(rpc.Accepted{ID: 1, Loop: 1}, "p") })
	before := c.asks(7, "It would run one")
	d.do(func() {
		d.ticket.Text = "It would run another"
		d.edit("p", "second")
	})
	after := c.asks(7, "It would run another")
	if after.ID != before.ID || after.Buttons[0][0].Data == before.Buttons[0][0].Data {
		t.Errorf("%+v after %+v", after, before)
	}
	c.telegram.Press(7, before, before.Buttons[0][0].Data)
	c.quiet()
	if answers := d.resolved(); len(answers) != 0 {
		t.Fatalf("%+v", answers)
	}
	c.telegram.Press(7, after, after.Buttons[0][0].Data)
	c.asks(7, "It would run another\n\nAccepted by telegram/7.")
	if answers := d.resolved(); len(answers) != 1 {
		t.Errorf("%+v", answers)
	}
}

// TestProposalOfDelegatedWork: what another run proposes that works for the one of the conversation is asked there.
func TestProposalOfDelegatedWork(t *testing.T) {
	d := proposes(rpc.Ticket{Text: "It would run below", Accept: true})
	c := talk(t, telegramtest.New(t), d)
	c.telegram.Says(7, "x")
	c.shows(7, placeholder)
	d.do(func() {
		d.delegate(rpc.Accepted{ID: 1, Loop: 1}, rpc.Accepted{ID: 9, Loop: 90})
		d.propose(rpc.Accepted{ID: 9, Loop: 90}, "p")
	})
	post := c.asks(7, "It would run below")
	c.telegram.Press(7, post, post.Buttons[0][0].Data)
	c.asks(7, "It would run below\n\nAccepted by telegram/7.")
	d.do(func() { d.end(rpc.Accepted{ID: 1, Loop: 1}, "all done") })
	c.asks(7, "all done")
}

// TestProposalThatIsNotTaken: what the daemon or Telegram does not take as a message is said to wait at the desk, beside
// what is written, and the answer comes all the same.
func TestProposalThatIsNotTaken(t *testing.T) {
	for name, refuse := range map[string]func(d *desk, server *telegramtest.Server){
		"by the daemon": func(d *desk, _ *telegramtest.Server) {
			d.do(func() { d.unasked = sdk.Errorf(sdk.Unavailable, "the file of the plugin is not pinned") })
		},
		"by Telegram": func(_ *desk, server *telegramtest.Server) {
			server.Plan("editMessageText", telegramtest.Refusal(400, "Bad Request: BUTTON_DATA_INVALID"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := proposes(rpc.Ticket{Text: "It would run", Accept: true})
			c := talk(t, telegramtest.New(t), d)
			c.telegram.Says(7, "x")
			c.shows(7, placeholder)
			refuse(d, c.telegram)
			d.do(func() { d.propose(rpc.Accepted{ID: 1, Loop: 1}, "p") })
			c.asks(7, "This waits for an answer at the desk: bash")
			d.do(func() { d.answered(rpc.ChannelAnswer{Answer: sdk.Accept, From: &sdk.From{Person: "7"}}) })
			c.asks(7, "done")
		})
	}
}

// TestAnsweredDuringADeath: what was asked stays to be read, with how it ended and without buttons, also where nobody was
// there when it did.
func TestAnsweredDuringADeath(t *testing.T) {
	server, d := telegramtest.New(t), proposes(rpc.Ticket{Text: "It would run", Accept: true})
	c := talk(t, server, d)
	server.Says(7, "x")
	c.shows(7, placeholder)
	d.do(func() { d.propose(rpc.Accepted{ID: 1, Loop: 1}, "p") })
	post := c.asks(7, "It would run")
	c.quiet()
	c.end()
	d.do(func() { d.answered(rpc.ChannelAnswer{Answer: sdk.Reject, From: &sdk.From{Person: "8"}}) })
	c = talk(t, server, d)
	if over := c.asks(7, "It would run\n\nRejected by telegram/8."); over.ID != post.ID || len(over.Buttons) != 0 {
		t.Errorf("%+v", over)
	}
	c.asks(7, "done")
	c.until("nothing is owed", d.settled)
	d.do(func() {
		if kept := string(d.kept["7"]); strings.Contains(kept, "It would run") {
			t.Errorf("it keeps %s", kept)
		}
	})
}
