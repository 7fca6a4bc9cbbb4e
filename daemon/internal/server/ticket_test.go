package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// answerPolicy has a proposal of ada's run and one of a group's, and fails as it is told.
type answerPolicy struct {
	fakePolicy
	hash   string
	failed error
	by     []rpc.ChannelAnswer
	shut   bool // nothing is accepted by a channel
}

func (f *answerPolicy) Proposals(context.Context) ([]sdk.Proposal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return []sdk.Proposal{
		{ID: "0001abcd", Hash: f.hash, Project: "/p/one", Run: 7}, {ID: "0003abcd", Hash: "group", Project: "/p/one", Run: 9}, {ID: "0002abcd", Hash: "other", Project: "/p/two", Run: 8},
	}, nil
}

func (f *answerPolicy) Message(_ context.Context, p rpc.TicketParams) (rpc.Ticket, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return rpc.Ticket{ID: p.ID, Text: p.Hash, Why: p.Why, Accept: p.Why == "" && !f.shut}, nil
}

func (f *answerPolicy) ResolveByChannel(_ context.Context, p rpc.ChannelAnswer) (rpc.Resolved, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return rpc.Resolved{}, f.failed
	}
	f.by = append(f.by, p)
	return rpc.Resolved{Seq: 1}, nil
}

func (f *answerPolicy) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = err
}

func (f *answerPolicy) answers() []rpc.ChannelAnswer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.by)
}

// answerHouse is a daemon with a channel by which ada, cyd and whoever works at this machine answer, and bob does not.
type answerHouse struct {
	*chanHouse
	policy *answerPolicy
	c      *client.Client
	may    bool
}

func openAnswers(t *testing.T) *answerHouse {
	t.Helper()
	h := &answerHouse{chanHouse: openChannel(t, "/p/one"), policy: &answerPolicy{hash: "first"}, may: true}
	h.cfg.Policy = h.policy
	h.cfg.People = fakePeople{
		"chat/ada": {ID: "chat/ada", Answers: true}, "chat/cyd": {ID: "chat/cyd", Answers: true}, "chat/bob": {ID: "chat/bob"},
		"chat/me": {ID: "chat/me", Owner: sdk.LocalOwner, Answers: true}, "other/eve": {ID: "other/eve", Answers: true},
	}
	for i := range h.store.runs {
		if r := &h.store.runs[i]; r.ID == 9 {
			r.Owner = "chat/group/g"
		}
	}
	for l := range h.cfg.Channels.grants {
		l.answers = func() ([]string, bool) { return []string{"web_fetch"}, h.may }
	}
	h.c = h.channel(t)
	return h
}

// ticket is one for a proposal.
func (h *answerHouse) ticket(t *testing.T, id string) string {
	t.Helper()
	got, err := h.c.Ticket(t.Context(), rpc.TicketParams{ID: id})
	if err != nil || len(got.Ticket) != 32 || !got.Accept {
		t.Fatalf("the ticket of %s is %+v, %v", id, got, err)
	}
	return got.Ticket
}

// TestOneAnswerByTicket: it says who answered and what, what may be accepted beyond the workspace is the block's, and the
// ticket is used up.
func TestOneAnswerByTicket(t *testing.T) {
	h := openAnswers(t)
	ticket := h.ticket(t, "0001")
	from := &sdk.From{Person: "ada", Thread: "t", Message: "17"}
	if _, err := h.c.Answer(t.Context(), rpc.ChannelAnswer{Ticket: ticket, Answer: sdk.Accept, From: from}); err != nil {
		t.Fatal(err)
	}
	got := h.policy.answers()
	if len(got) != 1 || got[0].ID != "0001abcd" || got[0].Hash != "first" || got[0].Channel != "chat" || got[0].Person.ID != "chat/ada" || *got[0].From != *from || !slices.Equal(got[0].Tools, []string{"web_fetch"}) {
		t.Errorf("it was answered %+v", got)
	}
	if h.audit.count() != 0 {
		t.Errorf("the audit has %q", h.audit.details)
	}
	if _, err := h.c.Answer(t.Context(), rpc.ChannelAnswer{Ticket: ticket, Answer: sdk.Reject, From: from}); sdk.OutcomeOf(err) != sdk.Conflict || len(h.policy.answers()) != 1 || !h.audit.has(EventRefusedAnswer, "no ticket, or none any more") {
		t.Errorf("twice: %v, %q", err, h.audit.details)
	}
	group := h.ticket(t, "0003")
	if _, err := h.c.Answer(t.Context(), rpc.ChannelAnswer{Ticket: group, Answer: sdk.Reject, From: &sdk.From{Person: "cyd", Conversation: "g"}}); err != nil {
		t.Errorf("who presses in a group answers: %v", err)
	}
}

// TestAnswersThatAreNotTaken: nothing is resolved, the audit says so, and who may answers all the same afterwards.
func TestAnswersThatAreNotTaken(t *testing.T) {
	ada := &sdk.From{Person: "ada", Message: "17"}
	for name, c := range map[string]struct {
		proposal string
		answer   rpc.ChannelAnswer // without a ticket: that of the proposal
		before   func(*answerHouse)
		outcome  sdk.Outcome
		said     string
		spent    bool // the ticket is
	}{
		"pressed by another":               {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: &sdk.From{Person: "bob"}}, outcome: sdk.Permission, said: "somebody answered who may not"},
		"pressed by a stranger":            {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: &sdk.From{Person: "eve"}}, outcome: sdk.Permission, said: "somebody answered who may not"},
		"by who may, of another":           {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: &sdk.From{Person: "cyd"}}, outcome: sdk.Permission, said: "chat/cyd answered where it was not asked"},
		"by who works here, of another":    {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: &sdk.From{Person: "me"}}, outcome: sdk.Permission, said: "where it was not asked"},
		"forwarded to a group":             {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: &sdk.From{Person: "ada", Conversation: "g"}}, outcome: sdk.Permission, said: "where it was not asked"},
		"of a group, forwarded":            {proposal: "0003", answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: ada}, outcome: sdk.Permission, said: "where it was not asked"},
		"of a group, to another":           {proposal: "0003", answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: &sdk.From{Person: "ada", Conversation: "h"}}, outcome: sdk.Permission, said: "where it was not asked"},
		"in the group by who may not":      {proposal: "0003", answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: &sdk.From{Person: "bob", Conversation: "g"}}, outcome: sdk.Permission, said: "who may not"},
		"forged":                           {answer: rpc.ChannelAnswer{Ticket: strings.Repeat("0", 32), Answer: sdk.Accept, From: ada}, outcome: sdk.Conflict, said: "no ticket"},
		"without a ticket":                 {answer: rpc.ChannelAnswer{Ticket: " ", Answer: sdk.Accept, From: ada}, outcome: sdk.Conflict, said: "no ticket"},
		"an edit":                          {answer: rpc.ChannelAnswer{Answer: sdk.Edit, From: ada}, outcome: sdk.Permission, said: "neither accept nor reject"},
		"a cancel":                         {answer: rpc.ChannelAnswer{Answer: sdk.Cancel, From: ada}, outcome: sdk.Permission, said: "neither accept nor reject"},
		"nobody":                           {answer: rpc.ChannelAnswer{Answer: sdk.Accept}, outcome: sdk.Validation},
		"a name that nobody sees":          {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: &sdk.From{Person: "ada\u200b"}}, outcome: sdk.Validation},
		"late, or after an edit":           {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: ada}, before: func(h *answerHouse) { h.policy.fail(sdk.Errorf(sdk.Conflict, "it is another")) }, outcome: sdk.Conflict, said: "is another by now", spent: true},
		"what the engine withholds":        {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: ada}, before: func(h *answerHouse) { h.policy.fail(sdk.Errorf(sdk.Permission, "no")) }, outcome: sdk.Permission, said: "what is not accepted by it", spent: true},
		"a text that fits not":             {answer: rpc.ChannelAnswer{Answer: sdk.Accept, Text: "x", From: ada}, before: func(h *answerHouse) { h.policy.fail(sdk.Errorf(sdk.Validation, "a number")) }, outcome: sdk.Validation},
		"while the engine stops":           {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: ada}, before: func(h *answerHouse) { h.policy.fail(sdk.Errorf(sdk.Unavailable, "stopping")) }, outcome: sdk.Unavailable},
		"a plugin without the grant":       {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: ada}, before: func(h *answerHouse) { h.may = false }, outcome: sdk.Permission, said: "it is not granted"},
		"to reject without the grant":      {answer: rpc.ChannelAnswer{Answer: sdk.Reject, From: ada}, before: func(h *answerHouse) { h.may = false }, outcome: sdk.Permission, said: "it is not granted"},
		"without the grant, and a ticket":  {answer: rpc.ChannelAnswer{Ticket: "x", Answer: sdk.Accept, From: ada}, before: func(h *answerHouse) { h.may = false }, outcome: sdk.Permission, said: "it is not granted"},
		"of a run that is gone":            {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: ada}, before: func(h *answerHouse) { h.store.runs = h.store.runs[:0] }, outcome: sdk.NotFound, said: "in a run that is gone", spent: true},
		"by a message that was sent again": {answer: rpc.ChannelAnswer{Answer: sdk.Accept, From: ada}, before: func(h *answerHouse) { _, _ = h.c.Ticket(context.Background(), rpc.TicketParams{ID: "0001"}) }, outcome: sdk.Conflict, said: "none any more", spent: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := openAnswers(t)
			proposal := "0001"
			if c.proposal != "" {
				proposal = c.proposal
			}
			ticket := h.ticket(t, proposal)
			if c.answer.Ticket == "" {
				c.answer.Ticket = ticket
			}
			if c.before != nil {
				c.before(h)
			}
			_, err := h.c.Answer(t.Context(), c.answer)
			if sdk.OutcomeOf(err) != c.outcome || len(h.policy.answers()) != 0 {
				t.Errorf("got %v, and %d answers", err, len(h.policy.answers()))
			}
			if c.said != "" && !h.audit.has(EventRefusedAnswer, c.said) || c.said == "" && h.audit.count() != 0 {
				t.Errorf("the audit has %q", h.audit.details)
			}
			h.policy.fail(nil)
			h.may = true
			from := *ada
			if proposal == "0003" {
				from.Conversation = "g"
			}
			_, err = h.c.Answer(t.Context(), rpc.ChannelAnswer{Ticket: ticket, Answer: sdk.Accept, From: &from})
			if (err != nil) != c.spent {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestOfTwoPressesAtOnceOneCounts, a hundred times.
func TestOfTwoPressesAtOnceOneCounts(t *testing.T) {
	h := openAnswers(t)
	for n := range 100 {
		ticket := h.ticket(t, "0001")
		var both sync.WaitGroup
		var errs [2]error
		for i := range errs {
			both.Go(func() {
				_, errs[i] = h.c.Answer(context.Background(), rpc.ChannelAnswer{Ticket: ticket, Answer: sdk.Accept, From: &sdk.From{Person: "ada"}})
			})
		}
		both.Wait()
		if got := len(h.policy.answers()); got != n+1 || (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("%d answers, %v, %v", got, errs[0], errs[1])
		}
	}
}

// TestWhatHasNoTicket: what nobody may answer there, and what is no proposal of the channel's; what is not accepted is
// rejected at most.
func TestWhatHasNoTicket(t *testing.T) {
	h := openAnswers(t)
	if _, err := h.c.Ticket(t.Context(), rpc.TicketParams{ID: "0002"}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("of another project: %v", err)
	}
	for _, room := range []int{-1, mostRoom + 1} {
		if _, err := h.c.Ticket(t.Context(), rpc.TicketParams{ID: "0001", Room: room}); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("with room for %d: %v", room, err)
		}
	}
	h.may = false
	if got, err := h.c.Ticket(t.Context(), rpc.TicketParams{ID: "0001"}); err != nil || got.Ticket != "" || got.Accept || !strings.Contains(got.Why, "not granted") {
		t.Errorf("without the grant: %+v, %v", got, err)
	}
	h.may = true
	for i := range h.store.runs {
		if r := &h.store.runs[i]; r.ID == 7 {
			r.Owner = "chat/bob"
		}
	}
	if got, err := h.c.Ticket(t.Context(), rpc.TicketParams{ID: "0001"}); err != nil || got.Ticket != "" || !strings.Contains(got.Why, "nobody here may answer") {
		t.Errorf("of who may not: %+v, %v", got, err)
	}
	h.policy.shut = true
	got, err := h.c.Ticket(t.Context(), rpc.TicketParams{ID: "0003"})
	if err != nil || got.Ticket == "" || got.Accept {
		t.Fatalf("what is not accepted there: %+v, %v", got, err)
	}
	from := &sdk.From{Person: "ada", Conversation: "g"}
	if _, err := h.c.Answer(t.Context(), rpc.ChannelAnswer{Ticket: got.Ticket, Answer: sdk.Accept, From: from}); sdk.OutcomeOf(err) != sdk.Permission || !h.audit.has(EventRefusedAnswer, "what is not accepted by it") {
		t.Errorf("accepted all the same: %v", err)
	}
	if _, err := h.c.Answer(t.Context(), rpc.ChannelAnswer{Ticket: got.Ticket, Answer: sdk.Reject, From: from}); err != nil {
		t.Errorf("rejected: %v", err)
	}
}

// TestAChannelAttendsItsOwn: where somebody may answer, and as long as it is there.
func TestAChannelAttendsItsOwn(t *testing.T) {
	h := openAnswers(t)
	if h.Attended(7, "") {
		t.Error("attended without a connection")
	}
	if _, err := h.c.Hello(t.Context()); err != nil {
		t.Fatal(err)
	}
	for run, want := range map[int64]bool{7: true, 9: true, 8: false, 10: false, 4711: false} {
		if got := h.Attended(run, ""); got != want {
			t.Errorf("run %d is attended: %v", run, got)
		}
	}
	h.may = false
	if h.Attended(7, "") {
		t.Error("attended without the grant")
	}
	h.may = true
	h.end()
	if h.Attended(7, "") {
		t.Error("attended when the channel has ended")
	}
}

// TestPeopleAnswerOtherwise: the methods of channels are for nobody else.
func TestPeopleAnswerOtherwise(t *testing.T) {
	h := open(t, nil)
	c := h.as(t, rpc.RoleApprove)
	_, noTicket := c.Ticket(t.Context(), rpc.TicketParams{ID: "0001"})
	_, noAnswer := c.Answer(t.Context(), rpc.ChannelAnswer{Ticket: "x", Answer: sdk.Accept})
	for _, err := range []error{noTicket, noAnswer} {
		if sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), rpc.MethodResolve) {
			t.Errorf("got %v", err)
		}
	}
}

// TestTicketsAreForgotten, the oldest first.
func TestTicketsAreForgotten(t *testing.T) {
	var all tickets
	first := all.give(ticket{id: "a"})
	for range mostTickets {
		all.give(ticket{id: "b"})
	}
	if _, err := all.find(first); err == nil || len(all.all) != mostTickets {
		t.Errorf("%d are kept, and the first: %v", len(all.all), err)
	}
	last := all.give(ticket{id: "c"})
	if err := all.take(last); err != nil {
		t.Fatal(err)
	}
	next := all.give(ticket{id: "c"})
	if all.back(last); all.take(last) == nil {
		t.Error("a ticket is good again beside the one that took its place")
	}
	if err := all.take(next); err != nil {
		t.Error(err)
	}
}

// TestTicketsEndWithTheLoan: a plugin that is served again has no ticket of before, and gets others.
func TestTicketsEndWithTheLoan(t *testing.T) {
	h := openAnswers(t)
	before := h.ticket(t, "0001")
	h.end()
	h.token, h.end = h.cfg.Channels.Grant(Loan{PID: front, Instance: "chat", Projects: []string{"/p/one"}, Answers: func() ([]string, bool) { return nil, true }})
	h.c = h.channel(t)
	answer := rpc.ChannelAnswer{Ticket: before, Answer: sdk.Accept, From: &sdk.From{Person: "ada"}}
	if _, err := h.c.Answer(t.Context(), answer); sdk.OutcomeOf(err) != sdk.Conflict || !h.audit.has(EventRefusedAnswer, "no ticket") {
		t.Errorf("got %v, %q", err, h.audit.details)
	}
	answer.Ticket = h.ticket(t, "0001")
	if _, err := h.c.Answer(t.Context(), answer); err != nil || len(h.policy.answers()) != 1 {
		t.Errorf("got %v", err)
	}
}

// TestAChannelListsTheProposalsOfARun by whichever name it knows that.
func TestAChannelListsTheProposalsOfARun(t *testing.T) {
	h := openAnswers(t)
	for _, p := range []rpc.ProposalsParams{{Project: "/p/one", Run: "seven"}, {Run: "7"}} {
		if got, err := h.c.Proposals(t.Context(), p); err != nil || len(got) != 1 || got[0].ID != "0001abcd" {
			t.Errorf("%+v: %v, %v", p, got, err)
		}
	}
	if _, err := h.c.Proposals(t.Context(), rpc.ProposalsParams{Run: "10"}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("of the desk: %v", err)
	}
}
