package engine

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Message is a proposal as a message of a channel has it. Whether a ticket is given out with it is the caller's business.
func (e *Engine) Message(ctx context.Context, p rpc.TicketParams) (rpc.Ticket, error) {
	leave, err := e.enter()
	if err != nil {
		return rpc.Ticket{}, err
	}
	defer leave()
	q, err := e.question(ctx, rpc.Resolve{ID: p.ID, Hash: p.Hash})
	if err != nil {
		return rpc.Ticket{}, err
	}
	why := p.Why
	switch {
	case why != "" || q.x.Asks:
	case q.gone != nil:
		why = q.gone.Error()
	default:
		why = proposal.Withheld(q.a.run, q.x.tool, q.x.decision(), p.Tools)
	}
	shown, _ := e.proposalOf(ctx, q.a.run, q.a.project, q.x.entry)
	if whole := string(shown.Arguments) + shown.Diff; why == "" && e.cfg.RedactText(whole) != whole {
		why = "a secret is in it, which is not sent" // one that was not known when it was recorded
	}
	t := rpc.Ticket{ID: shown.ID, Expires: shown.Expires, Asks: shown.Question != nil && len(shown.Question.Schema) > 0}
	t.Text, t.Why = proposal.Message(shown, p.Room, e.cfg.Hidden, why)
	t.Accept = t.Why == ""
	return t, nil
}

// ResolveByChannel is Resolve for a person who answers by a channel. The caller has checked that they may answer, and
// has taken their ticket.
func (e *Engine) ResolveByChannel(ctx context.Context, p rpc.ChannelAnswer) (rpc.Resolved, error) {
	return e.resolve(ctx, rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: p.Answer}, here{output: p.Text, by: &p})
}

// sign says in an answer whose it is. One by a channel that is not taken there is refused.
func (h here) sign(q *question) error {
	if h.by == nil {
		q.given.By = "a person"
		return nil
	}
	person := h.by.Person
	if q.given.By = person.ID; person.Name != "" {
		q.given.By = person.Name + " (" + person.ID + ")"
	}
	q.given.Channel, q.given.From = h.by.Channel, h.by.From
	accepts := q.given.Answer == sdk.Accept
	switch {
	case h.output != "" && !(accepts && q.x.Asks):
		return sdk.Errorf(sdk.Validation, "a text is the answer to a question, and goes with accept: leave it out")
	case accepts && !q.x.Asks && q.gone == nil:
		if why := proposal.Withheld(q.a.run, q.x.tool, q.x.decision(), h.by.Tools); why != "" {
			return sdk.Errorf(sdk.Permission, "this is not accepted by a channel: %s; at the machine `bothy proposals show %s` shows it", why, q.x.Proposal.ID)
		}
	}
	return nil
}
