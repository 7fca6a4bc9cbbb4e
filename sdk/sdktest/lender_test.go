package sdktest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mail is a message to the channel of these tests.
type mail struct{ sender, number, text, file string }

// takes brings messages to the daemon as a channel does that keeps to the guide: whom it may serve first, then the file, the
// prompt, and the offset.
func takes(ctx context.Context, access channel.Access, messages []mail) error {
	c := client.Client{Socket: access.Socket, Token: access.Token, Name: "mail"}
	defer c.Close() //nolint:errcheck // all was said
	for _, m := range messages {
		listed, err := c.People(ctx, rpc.PeopleParams{})
		if err != nil {
			return err
		}
		from := &sdk.From{Person: m.sender, Message: m.number}
		if !slices.ContainsFunc(listed.People, func(p rpc.ListedPerson) bool { return p.Called == m.sender }) {
			if listed.Pairing && sdk.PairingCode(m.text) != "" {
				err = c.Claim(ctx, rpc.Claim{Code: m.text, From: from})
			}
			if err != nil {
				return err
			}
			continue
		}
		if m.file != "" {
			run, err := c.StartRun(ctx, rpc.StartRun{Project: access.Projects[0], Run: m.sender, From: from})
			if err != nil && sdk.OutcomeOf(err) != sdk.Conflict {
				return err
			}
			if _, err := c.PutFile(ctx, cmp.Or(run.Run, m.sender), access.Projects[0], "note.txt", int64(len(m.file)), strings.NewReader(m.file)); err != nil {
				return err
			}
		}
		if _, err := c.Act(ctx, rpc.Prompt{Project: access.Projects[0], Run: m.sender, Prompt: m.text, From: from}); err != nil {
			return err
		}
		if _, err := c.SetEntry(ctx, rpc.Set{Path: "mail://offset", Body: &m.number}); err != nil {
			return err
		}
	}
	return nil
}

// TestLender: what a channel brings is there, once, and it made no mistake.
func TestLender(t *testing.T) {
	l := &Lender{People: []string{"ada"}, Code: "K7QM-4FZX", Schemes: []string{"mail"}}
	access := l.Access(t)
	messages := []mail{{"ada", "1", "hello", ""}, {"eve", "2", "hello", ""}, {"eve", "3", "k7qm-4fzx", ""}, {"ada", "4", "look", "a note"}}
	for range 2 { // the second time after a crash
		if err := takes(t.Context(), access, messages); err != nil {
			t.Fatal(err)
		}
	}
	if p := l.Prompts(); len(p) != 2 || p[0].From.Message != "1" || p[1].Prompt != "look" {
		t.Errorf("taken: %+v", p)
	}
	if kept := l.Kept(); len(kept) != 1 || kept["mail://offset"] != "4" {
		t.Errorf("kept: %v", kept)
	}
	if f := l.Files(); string(f["ada/note.txt"]) != "a note" {
		t.Errorf("files: %q", f)
	}
	if c := l.Claims(); len(c) != 2 || c[0].From.Person != "eve" {
		t.Errorf("claims: %+v", c)
	}
	if m := l.Mistakes(); len(m) != 0 {
		t.Error(m)
	}
	c := client.Client{Socket: access.Socket, Token: access.Token}
	defer c.Close() //nolint:errcheck // all was said
	found, err := c.Entries(t.Context(), rpc.EntriesParams{Pattern: "mail://**"})
	if err != nil || len(found.Entries) != 1 || found.Entries[0].Body != "4" {
		t.Errorf("listed: %+v, %v", found, err)
	}
	if data, err := c.FetchFile(t.Context(), "ada", access.Projects[0], "note.txt"); err != nil || string(data) != "a note" {
		t.Errorf("fetched: %q, %v", data, err)
	}
	if _, err := c.RemoveEntry(t.Context(), rpc.Remove{Path: "mail://offset"}); err != nil || len(l.Kept()) != 0 {
		t.Errorf("removed: %v, %v", l.Kept(), err)
	}
}

// TestLenderFindsMistakes: each is told, and refused.
func TestLenderFindsMistakes(t *testing.T) {
	text := "x"
	for says, do := range map[string]func(context.Context, *client.Client) error{
		"who is not listed": func(ctx context.Context, c *client.Client) error {
			_, err := c.Act(ctx, rpc.Prompt{Project: "/project", Prompt: "p", From: &sdk.From{Person: "eve", Message: "1"}})
			return err
		},
		"does not say whom": func(ctx context.Context, c *client.Client) error {
			_, err := c.Act(ctx, rpc.Prompt{Project: "/project", Prompt: "p", Key: "1"})
			return err
		},
		"which was not lent": func(ctx context.Context, c *client.Client) error {
			_, err := c.StartRun(ctx, rpc.StartRun{Project: "/other", From: &sdk.From{Person: "ada"}})
			return err
		},
		"twice after a crash": func(ctx context.Context, c *client.Client) error {
			_, err := c.Act(ctx, rpc.Prompt{Project: "/project", Prompt: "p", From: &sdk.From{Person: "ada"}})
			return err
		},
		"none is waited for": func(ctx context.Context, c *client.Client) error {
			return c.Claim(ctx, rpc.Claim{Code: "K7QM-4FZX", From: &sdk.From{Person: "eve"}})
		},
		"channel.Keeps": func(ctx context.Context, c *client.Client) error {
			_, err := c.SetEntry(ctx, rpc.Set{Path: "other://x", Body: &text})
			return err
		},
	} {
		l := &Lender{People: []string{"ada"}, Schemes: []string{"mail"}}
		access := l.Access(t)
		c := &client.Client{Socket: access.Socket, Token: access.Token}
		err := do(t.Context(), c)
		if m := l.Mistakes(); err == nil || len(m) != 1 || !strings.Contains(m[0], says) {
			t.Errorf("%s: %v, %v", says, m, err)
		}
		_ = c.Close() // all was said
	}
	l := &Lender{}
	c := client.Client{Socket: l.Access(t).Socket, Token: "another"}
	defer c.Close() //nolint:errcheck // it was refused
	if _, err := c.Hello(t.Context()); err == nil || len(l.Mistakes()) != 1 {
		t.Errorf("with another token: %v, %v", err, l.Mistakes())
	}
}

// TestLenderHasAnswersOnce: an answer is taken by the last message, once, of who may, where it was asked. What people press is
// refused, and what a channel makes of it that it must not is a mistake.
func TestLenderHasAnswersOnce(t *testing.T) {
	l := &Lender{People: []string{"ada", "bob"}, Answering: []string{"ada"}}
	access := l.Access(t)
	c := &client.Client{Socket: access.Socket, Token: access.Token}
	defer c.Close() //nolint:errcheck // all was said
	for run, from := range map[string]sdk.From{"alone": {Person: "ada", Message: "1"}, "group": {Person: "bob", Conversation: "g", Message: "1"}} {
		if _, err := c.Act(t.Context(), rpc.Prompt{Project: "/project", Run: run, Prompt: "p", From: &from}); err != nil {
			t.Fatal(err)
		}
	}
	l.Propose("alone", "0001", "make", true)
	l.Propose("group", "0002", "make", false)
	waiting, err := c.Proposals(t.Context(), rpc.ProposalsParams{Project: "/project"})
	if err != nil || len(waiting) != 2 || waiting[0].ID != "0001" {
		t.Fatalf("there wait %+v, %v", waiting, err)
	}
	ticket := func(id string, room int) rpc.Ticket {
		t.Helper()
		got, err := c.Ticket(t.Context(), rpc.TicketParams{ID: id, Room: room})
		if err != nil || got.Ticket == "" || !strings.Contains(got.Text, "| make") {
			t.Fatalf("the message of %s is %+v, %v", id, got, err)
		}
		return got
	}
	answer := func(ticket string, answer sdk.Answer, from sdk.From, want sdk.Outcome, mistakes int) {
		t.Helper()
		_, err := c.Answer(t.Context(), rpc.ChannelAnswer{Ticket: ticket, Answer: answer, From: &from})
		if outcome(err) != want || len(l.Mistakes()) != mistakes {
			t.Errorf("got %v, and %q", err, l.Mistakes())
		}
	}
	ada, inGroup := sdk.From{Person: "ada", Message: "2"}, sdk.From{Person: "ada", Conversation: "g", Message: "2"}
	old, small := ticket("0001", 0), ticket("0001", 10)
	if !old.Accept || small.Accept {
		t.Errorf("accepted where there is no room: %+v", small)
	}
	answer(old.Ticket, sdk.Accept, ada, sdk.Conflict, 0)
	last := ticket("0001", 4096)
	answer(last.Ticket, sdk.Accept, sdk.From{Person: "bob", Message: "2"}, sdk.Permission, 0)
	answer(last.Ticket, sdk.Accept, inGroup, sdk.Permission, 0)
	answer("forged", sdk.Accept, ada, sdk.Conflict, 0)
	l.Propose("alone", "0001", "make all", true)
	answer(last.Ticket, sdk.Accept, ada, sdk.Conflict, 0)
	last = ticket("0001", 0)
	answer(last.Ticket, sdk.Accept, ada, "", 0)
	answer(last.Ticket, sdk.Accept, ada, sdk.Conflict, 0)
	group := ticket("0002", 0)
	answer(group.Ticket, sdk.Accept, inGroup, sdk.Permission, 1)
	answer(group.Ticket, sdk.Edit, inGroup, sdk.Permission, 2)
	answer(group.Ticket, sdk.Reject, sdk.From{Person: "ada", Conversation: "g"}, sdk.Permission, 3)
	answer(group.Ticket, sdk.Reject, inGroup, "", 3)
	if got := l.Answers(); len(got) != 2 || got[0].Ticket != last.Ticket || got[1].Answer != sdk.Reject {
		t.Errorf("it was answered %+v", got)
	}
	none := &Lender{People: []string{"ada"}}
	access = none.Access(t)
	other := &client.Client{Socket: access.Socket, Token: access.Token}
	defer other.Close() //nolint:errcheck // all was said
	none.Propose("alone", "0001", "make", true)
	if got, err := other.Ticket(t.Context(), rpc.TicketParams{ID: "0001"}); err != nil || got.Ticket != "" || got.Accept || got.Why == "" {
		t.Errorf("without the grant: %+v, %v", got, err)
	}
}
