package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// pressed is a button that a channel was about to bring, and then, what came of it: an empty outcome is that it was taken.
type pressed struct {
	Proposal sdk.Proposal `json:"proposal"`
	Ticket   string       `json:"ticket"`
	Answer   sdk.Answer   `json:"answer"`
	Over     bool         `json:"over"`
	Outcome  sdk.Outcome  `json:"outcome"`
}

// oldTicket is what the channel calls a ticket of an earlier daemon.
const oldTicket = "a ticket of before"

// buttons is the plan whose calls are answered by a channel while daemons die.
var buttons = plan{Tag: "button", Steps: 2, Tools: []string{"note_line"}, Twice: true, Mode: sdk.ModeInteractive, Reject: 2}

// through gives a prompt and answers all that it proposes until its run has ended, over as many daemons as it takes. Each
// daemon is brought the buttons of the ones before first.
func (p *presses) through(ctx context.Context) error {
	for _, old := range pressedIn(p.file) {
		if !old.Over {
			p.tell(oldTicket, p.answer(ctx, old.Ticket, old.Answer, hers))
		}
	}
	ask := buttons.asks(p.project, buttons.Tag)
	ask.From = &hers
	a, err := p.c.Act(ctx, ask)
	for err == nil {
		var x pressed
		if x.Proposal, err = p.waits(ctx, a.ID, ""); err != nil || x.Proposal.ID == "" {
			break
		}
		t, failed := p.c.Ticket(ctx, rpc.TicketParams{ID: x.Proposal.ID})
		if x.Ticket, x.Answer = t.Ticket, sdk.Accept; failed != nil {
			return failed
		}
		if strings.HasPrefix(lineOfCall(x.Proposal.Tool, x.Proposal.Arguments), fmt.Sprintf("%s-%d-", buttons.Tag, buttons.Reject)) {
			x.Answer = sdk.Reject
		}
		p.note(x)
		failed = p.answer(ctx, x.Ticket, x.Answer, hers)
		if x.Over = true; failed != nil {
			x.Outcome = sdk.OutcomeOf(failed)
		}
		if ctx.Err() == nil { // else nobody knows
			p.note(x)
		}
	}
	return err
}

// note writes a button down.
func (p *presses) note(x pressed) {
	text, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	p.tell(string(text), nil)
}

// pressedIn are the buttons of a file.
func pressedIn(file string) (all []pressed) {
	text, _ := os.ReadFile(file) // it is not there before the first
	for line := range bytes.Lines(text) {
		var x pressed
		if json.Unmarshal(bytes.TrimSuffix(line, []byte(": done\n")), &x) == nil {
			all = append(all, x)
		}
	}
	return all
}

// TestAnswersByAChannelOutliveTheDaemon: a daemon is killed before an answer by a channel is recorded, when it is, before
// what was accepted runs and behind that. Nothing runs more than once; an answer that was taken is not lost, and one that
// was not is asked for again. A ticket is good for no other daemon than the one that gave it out.
func TestAnswersByAChannelOutliveTheDaemon(t *testing.T) {
	for _, point := range []string{
		string(failpoint.ProposedAfter), string(failpoint.AnswerBefore), string(failpoint.AnswerBefore) + ":3", string(failpoint.AnsweredAfter), string(failpoint.AnsweredAfter) + ":3",
		string(failpoint.ApprovedAfter), string(failpoint.EffectBefore), string(failpoint.EffectAfter) + ":2",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, withoutSandbox)
			s.binary = withFailpoints(t)
			s.buttoned(func() {
				if !s.start([]string{failpoint.Variable + "=" + point}).gone(patience) {
					t.Fatalf("the daemon lives\n%s", s.evidence())
				}
			})
			if strings.HasPrefix(point, "answer") && s.saidOf(oldTicket, killedFile) == 0 {
				t.Error("no button was pressed when the daemon died")
			}
		})
	}
	t.Run("at any moment", func(t *testing.T) {
		t.Parallel()
		random := seeded(t)
		for range 3 {
			s := newSite(t, withoutSandbox)
			s.buttoned(func() {
				for range 3 {
					s.up()
					many := len(pressedIn(s.told()))
					for deadline := time.Now().Add(patience); len(pressedIn(s.told())) == many && !s.saidAll() && time.Now().Before(deadline); {
						time.Sleep(time.Millisecond)
					}
					time.Sleep(time.Duration(random.IntN(12)) * time.Millisecond) // so much behind a button
					s.kill()
				}
			})
		}
	})
}

// killedFile is what the file is called in which the channel tells of the buttons that it brought these daemons.
const killedFile = "killed"

func (s *site) told() string { return filepath.Join(s.root, killedFile) }

// saidAll reports whether the channel has nothing to answer any more.
func (s *site) saidAll() bool { return s.saidOf("all: done", killedFile) > 0 }

// saidOf counts the lines that begin so of a file in which the channel tells something.
func (s *site) saidOf(begin, file string) int {
	text, _ := os.ReadFile(filepath.Join(s.root, file)) // it is not there before the first
	return strings.Count("\n"+string(text), "\n"+begin)
}

// buttoned has daemons die while a channel answers, lets another one finish, and looks at what came of it.
func (s *site) buttoned(die func()) {
	s.t.Helper()
	s.pressing(killedFile, false)
	die()
	_ = s.client.Close() // the connection broke with the daemon
	s.up()
	for deadline := time.Now().Add(patience); !s.saidAll(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the channel answers no more: %v\n%s", pressedIn(s.told()), s.evidence())
		}
	}
	run, err := s.client.Run(context.Background(), rpc.RunRef{Run: "front_" + buttons.Tag, Project: s.project})
	if err != nil || len(run.Loops) != 1 {
		s.t.Fatalf("the message is %d prompts: %v", len(run.Loops), err)
	}
	s.finished(buttons, rpc.Accepted{ID: run.ID, Loop: run.Loops[0].ID})
	known := newAnswers()
	for _, x := range pressedIn(s.told()) {
		switch known.proposed(x.Proposal); {
		case x.Over && x.Outcome != "":
			known.answered(x.Proposal, x.Answer, errors.New(string(x.Outcome)))
		case x.Over:
			known.answered(x.Proposal, x.Answer, nil)
		}
	}
	s.proposals(buttons, run.ID, known)
	s.answeredBy(run.ID)
	s.whole()
}

// answeredBy checks that the audit says of each action of a run that ran, or was rejected, by which message of the channel
// it was answered, and that it tells of tickets of an earlier daemon.
func (s *site) answeredBy(run int64) {
	s.t.Helper()
	actions, err := s.client.Audit(context.Background(), rpc.AuditParams{Run: fmt.Sprint(run), Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range actions.Records {
		if r.Outcome != sdk.Aborted && (r.Answer == "" || r.Channel != "front" || r.From == nil || r.From.Person != "ada" || r.From.Message != "17") {
			s.t.Errorf("the audit has %+v", r)
		}
	}
	old, refused := s.saidOf(oldTicket, killedFile), s.saidOf(oldTicket+": conflict", killedFile)
	events, err := s.client.Audit(context.Background(), rpc.AuditParams{Events: true, Limit: 1000})
	if err != nil || old != refused {
		s.t.Errorf("of %d tickets of an earlier daemon %d were refused (%v)", old, refused, err)
	}
	told := slices.ContainsFunc(events.Records, func(r sdk.AuditRecord) bool {
		return r.Event == "refused_answer" && strings.Contains(r.Detail, "front/ada answered with what is no ticket")
	})
	if told != (old > 0) {
		s.t.Errorf("%d tickets of an earlier daemon were pressed, and the audit tells of it: %v", old, told)
	}
}
