package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// button is below a message that asks ada about a call, and is good when it is sent.
type button struct {
	asked  sdk.Proposal
	ticket string
}

// buttonTry is a press by which nothing runs that would not run without it.
type buttonTry struct {
	press     func(p *presses, ctx context.Context, b button) error
	ungranted bool        // the plugin's block has no grant for answers
	outcome   sdk.Outcome // of the press
	audit     string      // what the audit says of it
	ran       int         // how often the call did its work
	over      bool        // it waits for nobody any more
}

// by presses as somebody.
func by(from sdk.From) func(*presses, context.Context, button) error {
	return func(p *presses, ctx context.Context, b button) error {
		return p.answer(ctx, b.ticket, sdk.Accept, from)
	}
}

// hers is ada, alone with the channel.
var hers = sdk.From{Person: "ada", Message: "17"}

// buttonTries are the presses, by what they are. They name the files, too, in which the channel tells of them.
var buttonTries = map[string]buttonTry{
	"by who may not":             {press: by(sdk.From{Person: "bob"}), outcome: sdk.Permission, audit: "somebody answered who may not"},
	"by who may, of another":     {press: by(sdk.From{Person: "cyd"}), outcome: sdk.Permission, audit: "front/cyd answered where it was not asked"},
	"by a stranger":              {press: by(sdk.From{Person: "eve"}), outcome: sdk.Permission, audit: "somebody answered who may not"},
	"forwarded":                  {press: by(sdk.From{Person: "ada", Conversation: "g"}), outcome: sdk.Permission, audit: "front/ada answered where it was not asked"},
	"by a plugin without grants": {press: by(hers), ungranted: true, outcome: sdk.Permission, audit: "it is not granted that people answer by it"},
	"forged": {outcome: sdk.Conflict, audit: "front/ada answered with what is no ticket", press: func(p *presses, ctx context.Context, b button) error {
		return p.answer(ctx, strings.Repeat("f", len(b.ticket)), sdk.Accept, hers)
	}},
	"twice": {outcome: sdk.Conflict, audit: "front/ada answered with what is no ticket", ran: 1, over: true, press: func(p *presses, ctx context.Context, b button) error {
		if err := p.answer(ctx, b.ticket, sdk.Accept, hers); err != nil {
			return err
		}
		if _, err := p.waits(ctx, b.asked.Run, b.asked.Hash); err != nil {
			return err
		}
		return p.answer(ctx, b.ticket, sdk.Accept, hers)
	}},
	"late": {outcome: sdk.Conflict, audit: "is another by now", over: true, press: func(p *presses, ctx context.Context, b button) error {
		if _, err := p.c.Abort(ctx, rpc.RunRef{Run: fmt.Sprint(b.asked.Run)}); err != nil {
			return err
		}
		if _, err := p.waits(ctx, b.asked.Run, b.asked.Hash); err != nil {
			return err
		}
		return p.answer(ctx, b.ticket, sdk.Accept, hers)
	}},
	"of a run that is gone": {outcome: sdk.NotFound, audit: "front/ada answered in a run that is gone", over: true, press: func(p *presses, ctx context.Context, b button) error {
		if _, err := p.c.Abort(ctx, rpc.RunRef{Run: fmt.Sprint(b.asked.Run)}); err != nil {
			return err
		}
		if _, err := p.waits(ctx, b.asked.Run, b.asked.Hash); err != nil {
			return err
		}
		if _, err := p.c.Delete(ctx, rpc.RunRef{Run: fmt.Sprint(b.asked.Run)}); err != nil {
			return err
		}
		return p.answer(ctx, b.ticket, sdk.Accept, hers)
	}},
	"after an edit": {outcome: sdk.Conflict, audit: "is another by now", press: func(p *presses, ctx context.Context, b button) error {
		p.tell("sent", nil)
		if _, err := p.waits(ctx, b.asked.Run, b.asked.Hash); err != nil { // somebody at the machine edits it
			return err
		}
		return p.answer(ctx, b.ticket, sdk.Accept, hers)
	}},
}

// button asks ada about a call, and has the button pressed that she was sent.
func (p *presses) button(ctx context.Context, press func(*presses, context.Context, button) error) error {
	ask := plan{Tag: "button", Steps: 1, Tools: []string{"note_line"}, Mode: sdk.ModeInteractive}.asks(p.project, "button")
	ask.From = &hers
	a, err := p.c.Act(ctx, ask)
	if err != nil {
		return err
	}
	asked, err := p.waits(ctx, a.ID, "")
	if err != nil {
		return err
	}
	t, err := p.c.Ticket(ctx, rpc.TicketParams{ID: asked.ID})
	if err != nil {
		return err
	}
	return press(p, ctx, button{asked, t.Ticket})
}

// TestAButtonThatCountsForNothing: whoever presses it, and however, nothing runs, or nothing more than once; what was asked
// waits as it did, and the audit says what was tried.
func TestAButtonThatCountsForNothing(t *testing.T) {
	for name, try := range buttonTries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.pressing(name, try.ungranted)
			s.up()
			var asked []sdk.Proposal
			for deadline := time.Now().Add(patience); s.saidOf("all: ", name) == 0; <-time.After(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("nothing was pressed\n%s", s.evidence())
				}
				if asked = s.waiting(); s.saidOf("sent: ", name) > 0 && len(asked) == 1 && !strings.Contains(string(asked[0].Arguments), "edited") {
					_, _ = s.client.Resolve(t.Context(), rpc.Resolve{ID: asked[0].ID, Hash: asked[0].Hash, Answer: sdk.Edit, Arguments: []byte(`{"line":"button-edited"}`)}) // what came of it is seen below
				}
			}
			if s.saidOf("pressed: "+string(try.outcome), name) != 1 {
				text, _ := os.ReadFile(filepath.Join(s.root, name))
				t.Errorf("the channel says %s", text)
			}
			if asked = s.waiting(); (len(asked) == 0) != try.over {
				t.Errorf("there wait %+v", asked)
			}
			ran := 0
			for line, n := range s.lines() {
				if strings.HasPrefix(line, "button-") {
					ran += n
				}
			}
			if ran != try.ran {
				t.Errorf("it ran %d times", ran)
			}
			var refused []sdk.AuditRecord
			for deadline := time.Now().Add(patience); len(refused) == 0 && time.Now().Before(deadline); <-time.After(10 * time.Millisecond) { // it is written down beside the answer
				page, err := s.client.Audit(t.Context(), rpc.AuditParams{Events: true})
				if err != nil {
					t.Fatal(err)
				}
				refused = slices.DeleteFunc(page.Records, func(r sdk.AuditRecord) bool { return r.Event != "refused_answer" })
			}
			if len(refused) != 1 || !strings.Contains(refused[0].Detail, try.audit) {
				t.Errorf("the audit has %+v", refused)
			}
		})
	}
}

// pressing has a channel in the configuration, whose people press.
func (s *site) pressing(file string, ungranted bool) {
	grants := `"channel", "answers"`
	if ungranted {
		grants = `"channel"`
	}
	s.configure(withoutSandbox, fmt.Sprintf(`
plugin "front" {
  env      = { %s = "/none", %s = %q }
  grants   = [%s]
  projects = [%q]
}
person "front/ada" {
  answers = true
}
person "front/cyd" {
  answers = true
}
person "front/bob" {}
`, playFront, frontAnswers, filepath.Join(s.root, file), grants, s.project))
}

// waiting is what waits for a person.
func (s *site) waiting() []sdk.Proposal {
	s.t.Helper()
	all, err := s.client.Proposals(context.Background(), rpc.ProposalsParams{})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}
