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
