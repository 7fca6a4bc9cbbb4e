package sdktest

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf16"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// asked is what waits for a person in a run of a Lender.
type asked struct {
	sdk.Proposal
	text    string
	accepts bool       // people may accept it by the channel
	message rpc.Ticket // that was last given out
}

// Propose has a run in which the channel gave a prompt wait for a person, who may accept it by the channel or only reject
// it. What is proposed again under an id is another by its hash, as after an edit. A channel finds it by proposals/list.
func (l *Lender) Propose(run, id, command string, accept bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := &asked{Proposal: sdk.Proposal{
		ID: id, Hash: fmt.Sprintf("%064d", l.tickets), Run: l.run(run), Alias: run, Project: "/project", Path: "log://turn_1/bash/" + id, Tool: "bash", Command: command, State: sdk.StateProposed,
	}}
	x.text, x.accepts = "bash asks to run:\n| "+command, accept
	l.tickets++ // so that the next hash is another
	l.waiting = append(slices.DeleteFunc(l.waiting, func(old *asked) bool { return old.ID == id }), x)
}

// Answers are those that were taken.
func (l *Lender) Answers() []rpc.ChannelAnswer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.answers)
}

// proposals lists what waits in a run, or in the project.
func (l *Lender) proposals(p rpc.ProposalsParams) (rpc.Proposals, error) {
	if p.Run == "" && p.Project != "/project" {
		return rpc.Proposals{}, l.mistake("it lists the proposals of the project %q, which was not lent", p.Project)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []sdk.Proposal{}
	for _, x := range l.waiting {
		if p.Run == "" || p.Run == x.Alias || p.Run == fmt.Sprint(x.Run) {
			list = append(list, x.Proposal)
		}
	}
	return rpc.Proposals{Proposals: list}, nil
}

// proposal is what waits under an id. The caller holds mu.
func (l *Lender) proposal(id string) (*asked, error) {
	i := slices.IndexFunc(l.waiting, func(x *asked) bool { return x.ID == id })
	if i < 0 {
		return nil, sdk.Errorf(sdk.NotFound, "there is no proposal %s of a run that this channel began", id)
	}
	return l.waiting[i], nil
}

// ticket gives out the message of a proposal, whose ticket of before is none any more.
func (l *Lender) ticket(p rpc.TicketParams) (rpc.Ticket, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, err := l.proposal(p.ID)
	if err != nil {
		return rpc.Ticket{}, err
	}
	t := rpc.Ticket{ID: p.ID, Text: x.text, Accept: x.accepts}
	if len(l.Answering) > 0 {
		l.tickets++
		t.Ticket = fmt.Sprintf("%032x", l.tickets)
	}
	if room := cmp.Or(p.Room, rpc.MessageRoom); len(utf16.Encode([]rune(t.Text))) > room || t.Ticket == "" || !t.Accept {
		t.Accept, t.Why = false, "it waits at the machine"
		t.Text += "\n" + t.Why
	}
	x.message = t
	return t, nil
}

// answered takes an answer, once, of who may give it, where it was asked. What people press is no mistake of a channel; what
// it makes of that may be one.
func (l *Lender) answered(p rpc.ChannelAnswer) (rpc.Resolved, error) {
	refused := func(why string) (rpc.Resolved, error) {
		return rpc.Resolved{}, sdk.Errorf(sdk.Permission, "%s", why)
	}
	switch {
	case p.From == nil || p.From.Person == "" || p.From.Message == "":
		return rpc.Resolved{}, l.mistake("an answer does not say who gave it, and below which message")
	case p.Answer != sdk.Accept && p.Answer != sdk.Reject:
		return rpc.Resolved{}, l.mistake("it answers %q: a channel accepts or rejects", p.Answer)
	case !slices.Contains(l.Answering, p.From.Person):
		return refused(p.From.Person + " may not answer")
	}
	l.mu.Lock()
	i := slices.IndexFunc(l.waiting, func(x *asked) bool { return p.Ticket != "" && x.message.Ticket == p.Ticket })
	if i < 0 {
		l.mu.Unlock()
		return rpc.Resolved{}, sdk.Errorf(sdk.Conflict, "this is no ticket, or none any more")
	}
	x := l.waiting[i]
	owned, accepts := l.owners[x.Run] == sdk.OwnerOf("channel", *p.From, sdk.Person{}), x.message.Accept
	if owned && (accepts || p.Answer == sdk.Reject) {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		l.answers = append(l.answers, p)
	}
	l.mu.Unlock()
	switch {
	case !owned:
		return refused("this was not asked here")
	case p.Answer == sdk.Accept && !accepts:
		return rpc.Resolved{}, l.mistake("it accepts %s, whose message has no button for that", x.ID)
	}
	return rpc.Resolved{Proposal: x.Proposal, Status: sdk.StatusRunning, Seq: 1}, nil
}
