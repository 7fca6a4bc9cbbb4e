package server

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mostRoom is how long a message may be that a channel says it has room for, in UTF-16 code units.
const mostRoom = 64 << 10

// ticket makes a message of what a run of a channel proposes. There is a ticket with it where somebody may answer.
func (s *Server) ticket(ctx context.Context, c *conn, p rpc.TicketParams) (rpc.Ticket, error) {
	if c.grant == nil {
		return rpc.Ticket{}, wrongParams("%s is for channels: answer by %s", rpc.MethodTicket, rpc.MethodResolve)
	}
	if p.Room < 0 || p.Room > mostRoom {
		return rpc.Ticket{}, wrongParams("room is %d: a message has from 1 to %d UTF-16 code units", p.Room, mostRoom)
	}
	if p.Room == 0 {
		p.Room = rpc.MessageRoom
	}
	found, err := s.findProposal(ctx, p.ID, nil)
	if err != nil {
		return rpc.Ticket{}, err
	}
	run, err := s.cfg.Store.Run(ctx, found.Run)
	if err != nil {
		return rpc.Ticket{}, err
	}
	tools, may := c.grant.answers()
	answered := may && s.answered(c.grant.instance, run)
	switch p.Hash, p.Tools = found.Hash, tools; {
	case !may:
		p.Why = "the channel is not granted that people answer by it"
	case !answered:
		p.Why = "nobody here may answer"
	}
	t, err := s.cfg.Policy.Message(ctx, p)
	if err == nil && answered {
		t.Ticket = c.grant.tickets.give(ticket{id: found.ID, hash: found.Hash, run: found.Run, accept: t.Accept})
	}
	return t, err
}

// answered reports whether there is anybody who may answer by a channel what a run of it proposes.
func (s *Server) answered(channel string, run sdk.Run) bool {
	for _, person := range s.cfg.People.List(channel) {
		theirs := sdk.OwnedByGroup(channel, run.Owner) || cmp.Or(person.Owner, person.ID) == run.Owner
		if person.Answers && theirs {
			return true
		}
	}
	return false
}

// answers reports whether what a run proposes is answered here: it is one of a channel at the other end, by which
// somebody may.
func (c *conn) answers(run int64) bool {
	if c.grant == nil || c.grant.ctx.Err() != nil || !c.hears() {
		return false
	}
	if _, may := c.grant.answers(); !may {
		return false
	}
	ctx := context.Background()
	if own, err := c.grant.began(ctx, c.s.cfg.Store, run); err != nil || !own {
		return false
	}
	found, err := c.s.cfg.Store.Run(ctx, run)
	return err == nil && c.s.answered(c.grant.instance, found)
}

// answer answers a proposal for a person of a channel. A ticket with which nothing was done, since the text fits not or
// the daemon stops, is good again.
func (s *Server) answer(ctx context.Context, c *conn, p rpc.ChannelAnswer) (rpc.Resolved, error) {
	if c.grant == nil {
		return rpc.Resolved{}, wrongParams("%s is for channels: answer by %s", rpc.MethodAnswer, rpc.MethodResolve)
	}
	if err := s.mayAnswer(ctx, c, &p); err != nil {
		return rpc.Resolved{}, err
	}
	if err := c.grant.tickets.take(p.Ticket); err != nil { // of two at once one does
		return rpc.Resolved{}, c.refuseAnswer(err, "%s used a ticket that was used", p.Person.ID)
	}
	done, err := s.cfg.Policy.ResolveByChannel(ctx, p)
	switch sdk.OutcomeOf(err) {
	case sdk.Validation, sdk.Unavailable:
		c.grant.tickets.back(p.Ticket)
	case sdk.Conflict, sdk.NotFound:
		err = c.refuseAnswer(err, "what %s answered was answered before, has expired, or is another by now", p.Person.ID)
	case sdk.Permission:
		err = c.refuseAnswer(err, "%s accepted what is not accepted by it", p.Person.ID)
	}
	return done, err
}

// mayAnswer looks whether a person may answer, there and so, what the ticket was given out for, and says in p what that is.
func (s *Server) mayAnswer(ctx context.Context, c *conn, p *rpc.ChannelAnswer) error {
	permission := func(format string, args ...any) error {
		return rpc.Errorf(rpc.CodeRole, sdk.Permission, fmt.Sprintf(format, args...))
	}
	may := false
	if p.Tools, may = c.grant.answers(); !may {
		return c.refuseAnswer(permission("people answer by a channel whose block has grants = [\"channel\", \"answers\"], and whose file is pinned"), "it is not granted that people answer by it")
	}
	if p.From == nil {
		return wrongParams("%s needs from: who answered, in a group the conversation, and the message", rpc.MethodAnswer)
	}
	if err := checkFrom(*p.From); err != nil {
		return err
	}
	p.Channel = c.grant.instance
	if p.Person, _ = s.cfg.People.Person(sdk.PersonID(p.Channel, p.From.Person)); !p.Person.Answers {
		return c.refuseAnswer(permission("%s may not answer: answers = true in their person block lets them", sdk.PersonID(p.Channel, p.From.Person)), "somebody answered who may not")
	}
	t, err := c.grant.tickets.find(p.Ticket)
	if err != nil {
		return c.refuseAnswer(err, "%s answered with what is no ticket, or none any more", p.Person.ID)
	}
	p.ID, p.Hash = t.id, t.hash
	run, err := s.cfg.Store.Run(ctx, t.run)
	switch {
	case sdk.OutcomeOf(err) == sdk.NotFound:
		return c.refuseAnswer(err, "%s answered in a run that is gone", p.Person.ID)
	case err != nil:
		return err
	case sdk.OwnerOf(p.Channel, *p.From, p.Person) != run.Owner:
		return c.refuseAnswer(permission("this was not asked here: answer where the message was sent"), "%s answered where it was not asked", p.Person.ID)
	case p.Answer != sdk.Accept && p.Answer != sdk.Reject:
		return c.refuseAnswer(permission("a channel answers by accept or reject, and nothing else"), "%s answered by neither accept nor reject", p.Person.ID)
	case p.Answer == sdk.Accept && !t.accept:
		return c.refuseAnswer(permission("this is not accepted by a channel: at the machine `bothy proposals show %s` shows it", t.id), "%s accepted what is not accepted by it", p.Person.ID)
	}
	return nil
}

// refuseAnswer tells the audit of an answer that is not taken.
func (c *conn) refuseAnswer(err error, why string, args ...any) error {
	c.s.alarm.raise(EventRefusedAnswer, "an answer by the channel %s was not taken: %s", c.grant.instance, fmt.Sprintf(why, args...))
	return err
}
