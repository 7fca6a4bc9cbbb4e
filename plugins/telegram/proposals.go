package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// What a run proposes is a message of its own, as the daemon writes it, and answered by its buttons, or by a reply to it. A
// ticket is for one answer to what that message says; it ends with Serve, so that whoever goes on after a crash asks for
// another and writes the same message anew.

// asked is a message that tells of a proposal.
type asked struct {
	Loop     int64  `json:"loop"`
	Proposal string `json:"proposal"`
	Message  int64  `json:"message"`         // of the bot
	Text     bool   `json:"text,omitempty"`  // a reply to it is the answer
	Shown    string `json:"shown,omitempty"` // what the message says, until it is over
	Over     bool   `json:"over,omitempty"`  // nobody answers it any more
}

// The data of a button is one of these and a ticket.
const (
	accepts = "y"
	rejects = "n"
)

// held is what this process has to answer a proposal by.
type held struct {
	rpc.Ticket
	hash string // of the proposal as the ticket has it; an edit at the desk makes another
}

// proposals tells of what a loop waits for, or what it delegated, and takes the buttons off what is not asked any more.
func (s *sheet) proposals(ctx context.Context, tree *timeline.Tree, loop *timeline.Loop) error {
	waits := map[string]bool{}
	s.note = ""
	if loop.End == nil {
		for _, a := range tree.Waiting(loop) {
			if a.Proposal == nil {
				continue
			}
			waits[a.Proposal.ID] = true
			if err := s.ask(ctx, a); err != nil && !isUnfit(err) {
				return err
			} else if err != nil {
				slog.Warn(fmt.Sprintf("a proposal is not told of: %v", err))
				s.note = atDesk(a)
			}
		}
	}
	for _, q := range s.records.of(s.place).Asked {
		if q.Loop == loop.ID && !q.Over && !waits[q.Proposal] {
			if err := s.settle(ctx, q, ended(tree, loop, q.Proposal)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask tells of what waits for an answer: once, and again where it was edited or its ticket is good no more.
func (s *sheet) ask(ctx context.Context, a *timeline.Action) error {
	id := a.Proposal.ID
	if t := s.ticket(id); t != nil && t.hash == a.Proposal.Hash {
		return nil
	}
	var t rpc.Ticket
	err := s.daemon.Call(ctx, rpc.MethodTicket, rpc.TicketParams{ID: id, Room: mostUnits}, &t)
	switch {
	case isLost(ctx, err):
		return err
	case sdk.OutcomeOf(err) == sdk.NotFound || sdk.OutcomeOf(err) == sdk.Conflict:
		return nil // it was answered meanwhile
	case err != nil:
		s.note = atDesk(a)
		return nil
	}
	q, err := s.question(ctx, id, t)
	if err != nil {
		return err
	}
	s.hold(id, &held{Ticket: t, hash: a.Proposal.Hash})
	err = s.show(ctx, q, t.Text, buttonsOf(t))
	if err != nil {
		s.hold(id, nil) // nobody was asked
	}
	return err
}

// atDesk is what people are told of a proposal that cannot be asked here.
func atDesk(a *timeline.Action) string { return "This waits for an answer at the desk: " + a.Tool }

// buttonsOf are those by which people answer.
func buttonsOf(t rpc.Ticket) *buttons {
	var row []button
	if t.Ticket != "" && t.Accept && !t.Asks {
		row = append(row, button{Text: "Accept", Data: accepts + t.Ticket})
	}
	if t.Ticket != "" {
		row = append(row, button{Text: "Reject", Data: rejects + t.Ticket})
	}
	if row == nil {
		return nil
	}
	return &buttons{Rows: [][]button{row}}
}

// ticket is what this process has to answer a proposal by; nil is nothing.
func (f *front) ticket(proposal string) *held {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tickets[proposal]
}

// hold keeps what there is to answer a proposal by; nil is nothing.
func (f *front) hold(proposal string, h *held) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tickets[proposal] = h; h == nil {
		delete(f.tickets, proposal)
	}
}

// question is the message that tells of a proposal. It is sent empty and kept before anything is written in it, as those
// of answers are; what it says is kept with it, so that it stays to be read when it is over.
func (s *sheet) question(ctx context.Context, proposal string, t rpc.Ticket) (asked, error) {
	q := asked{Loop: s.delivery.Loop, Proposal: proposal}
	for _, was := range s.records.of(s.place).Asked {
		if was.Proposal == q.Proposal && was.Loop == q.Loop {
			q = was
		}
	}
	if q.Message == 0 {
		sent, err := s.empty(ctx, outgoing{Thread: s.place.Thread})
		if err != nil {
			return asked{}, err
		}
		q.Message = sent.ID
	}
	q.Text, q.Shown = t.Asks && t.Accept, t.Text
	_, err := s.records.change(ctx, s.place, func(r *record) error { return r.ask(q) })
	return q, err
}

// show makes the message of a proposal show a text, as it is. One that a person deleted is answered at the desk.
func (s *sheet) show(ctx context.Context, q asked, text string, b *buttons) error {
	err := s.bot.editMessageText(ctx, outgoing{Chat: s.place.Chat, Message: q.Message, Text: text, Preview: &preview{Off: true}, Buttons: b})
	if err == nil || isUnchanged(err) {
		return nil
	}
	if isGone(err) {
		slog.Warn("the message of a proposal was deleted, which waits at the desk")
		return nil
	}
	return err
}

// settle takes the buttons off a proposal that is not asked any more, and says how it ended.
func (s *sheet) settle(ctx context.Context, q asked, end string) error {
	text := q.Shown + "\n\n"
	if room := mostUnits - 200; units(text) > room {
		text = text[:fits(text, room)] + "…\n\n"
	}
	if err := s.show(ctx, q, strings.TrimLeft(text+end, "\n"), nil); err != nil && !isUnfit(err) {
		return err
	}
	q.Over, q.Shown = true, ""
	_, err := s.records.change(ctx, s.place, func(r *record) error { return r.ask(q) })
	s.hold(q.Proposal, nil)
	return err
}

// ended is how a proposal ended, as far as the journal tells.
func ended(tree *timeline.Tree, loop *timeline.Loop, proposal string) string {
	for _, a := range loop.Actions() {
		if a.Proposal != nil && a.Proposal.ID == proposal {
			if answered := show.Answered(a.Answer); answered != "" {
				return short(strings.ToUpper(answered[:1]) + answered[1:] + ".")
			}
		}
		if below := tree.Delegated(a); below != nil {
			if end := ended(tree, below, proposal); end != over {
				return end
			}
		}
	}
	return over
}

const over = "This is not asked any more."

// takePress answers what a button says.
func (f *front) takePress(ctx context.Context, p *press) error {
	if p.From.Bot || len(p.Data) < 2 {
		return nil
	}
	_, known, err := f.known(ctx, number(p.From.ID))
	if err != nil || !known {
		return err
	}
	answer := rpc.ChannelAnswer{Ticket: p.Data[1:], Answer: map[string]sdk.Answer{accepts: sdk.Accept, rejects: sdk.Reject}[p.Data[:1]]}
	m := *p.Message
	m.From, m.As = p.From, nil
	answer.From = m.from()
	said, err := f.resolve(ctx, m.place(), answer)
	if err != nil {
		return err
	}
	if err := f.bot.answerCallbackQuery(ctx, p.ID, said); err != nil && ctx.Err() == nil {
		slog.Warn(fmt.Sprintf("a press was not confirmed: %v", err)) // after a while Telegram takes no confirmation
	}
	return ctx.Err()
}

// reply answers a question by a message that replies to it. It reports false where the message is none.
func (f *front) reply(ctx context.Context, m *message, text string) (is bool, err error) {
	if m.ReplyTo == nil || m.ReplyTo.From.ID != f.me.ID {
		return false, nil
	}
	all := f.records.of(m.place()).Asked
	i := slices.IndexFunc(all, func(q asked) bool { return q.Message == m.ReplyTo.ID && q.Text })
	if i < 0 {
		return false, nil
	}
	t := f.ticket(all[i].Proposal)
	if t == nil && !all[i].Over {
		return true, f.tell(ctx, m.place(), "The question is asked anew in a moment: reply to it once more, please.")
	}
	if t == nil || all[i].Over {
		return true, f.tell(ctx, m.place(), over+" What replies to no question is a prompt.")
	}
	said, err := f.resolve(ctx, m.place(), rpc.ChannelAnswer{Ticket: t.Ticket.Ticket, Answer: sdk.Accept, Text: text, From: m.from()})
	if err != nil {
		return true, err
	}
	return true, f.tell(ctx, m.place(), said)
}

// resolve gives the daemon an answer, and says what became of it. In the place of a ticket that is good no more another is
// asked for, where the proposal still waits.
func (f *front) resolve(ctx context.Context, p place, answer rpc.ChannelAnswer) (said string, err error) {
	err = f.daemon.Call(ctx, rpc.MethodAnswer, answer, nil)
	switch {
	case isLost(ctx, err):
		return "", err
	case err == nil && answer.Answer == sdk.Accept:
		return "Accepted.", nil
	case err == nil:
		return "Rejected.", nil
	case sdk.OutcomeOf(err) != sdk.Conflict && sdk.OutcomeOf(err) != sdk.NotFound:
		return short(fmt.Sprintf("Not taken: %v", err)), nil
	}
	f.mu.Lock()
	for id, t := range f.tickets {
		if t.Ticket.Ticket == answer.Ticket {
			delete(f.tickets, id)
		}
	}
	f.mu.Unlock()
	for _, d := range f.records.of(p).Owed {
		f.live.look(d.Run)
	}
	return "This is not asked any more, or is asked anew.", nil
}

// short is a text that the confirmation of a press has room for.
func short(text string) string {
	if runes := []rune(text); len(runes) > 190 {
		return string(runes[:190]) + "…"
	}
	return text
}

// isLost reports whether err says that the daemon is not there, rather than what it answered.
func isLost(ctx context.Context, err error) bool {
	if err == nil {
		return false
	}
	var down *client.NotRunningError
	var said *rpc.Error
	return ctx.Err() != nil || errors.Is(err, client.ErrDisconnected) || errors.Is(err, client.ErrStopped) || errors.As(err, &down) ||
		errors.As(err, &said) && said.Code == rpc.CodeBusy
}
