package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// frontAnswers is a file in which the plugin front tells, line by line, what became of the answers that it brings.
const frontAnswers = "BOTHY_TEST_FRONT_ANSWERS"

// presses is a channel whose people press buttons.
type presses struct {
	c       client.Client
	project string
	file    string
}

// servePresses gives prompts, and brings answers that are to be taken and others, until all was tried that the file's
// name says.
func servePresses(ctx context.Context, access channel.Access, file string) error {
	p := &presses{c: client.Client{Socket: access.Socket, Token: access.Token, Name: "front"}, project: access.Projects[0], file: file}
	defer func() { _ = p.c.Close() }() // all was said
	tries := map[string][]func(context.Context) error{
		"told":       {p.ofAda, p.late, p.edited, p.ofGroup, p.hidden, p.outside, p.ofBob},
		"ungranted":  {p.ofAda},
		"restricted": {p.attended},
		killedFile:   {p.through},
	}
	if try := buttonTries[filepath.Base(file)].press; try != nil {
		p.tell("pressed", p.button(ctx, try))
	}
	for _, try := range tries[filepath.Base(file)] {
		if err := try(ctx); err != nil {
			p.tell("failed", err)
			return err
		}
	}
	p.tell("all", nil)
	<-ctx.Done()
	return ctx.Err()
}

// tell writes down what became of something, in a line of its own.
func (p *presses) tell(what string, err error) {
	outcome := "done"
	if err != nil {
		outcome = string(sdk.OutcomeOf(err))
	}
	if what == "failed" {
		outcome = err.Error()
	}
	f, err := os.OpenFile(p.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s: %s\n", what, outcome)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		panic(err)
	}
}

// asks gives a prompt in a run of its own, and waits until that proposes something; a zero proposal is that it ended.
func (p *presses) asks(ctx context.Context, run string, from sdk.From, prompt string) (sdk.Proposal, error) {
	a, err := p.c.Act(ctx, rpc.Prompt{Project: p.project, Run: run, Prompt: prompt, Key: filepath.Base(p.file) + "-" + run, From: &from})
	if err != nil {
		return sdk.Proposal{}, err
	}
	return p.waits(ctx, a.ID, "")
}

// waits waits until a run proposes something of another hash, or ends.
func (p *presses) waits(ctx context.Context, id int64, hash string) (sdk.Proposal, error) {
	run := fmt.Sprint(id)
	for ; ctx.Err() == nil; <-time.After(20 * time.Millisecond) {
		all, err := p.c.Proposals(ctx, rpc.ProposalsParams{Project: p.project, Run: run})
		if err != nil {
			return sdk.Proposal{}, err
		}
		if i := slices.IndexFunc(all, func(x sdk.Proposal) bool { return x.Hash != hash }); i >= 0 {
			return all[i], nil
		}
		d, err := p.c.Run(ctx, rpc.RunRef{Run: run})
		if err != nil || d.Status != sdk.StatusRunning && d.Status != sdk.StatusProposed && d.Status != sdk.StatusQueued {
			return sdk.Proposal{}, err
		}
	}
	return sdk.Proposal{}, ctx.Err()
}

func (p *presses) answer(ctx context.Context, ticket string, answer sdk.Answer, from sdk.From) error {
	_, err := p.c.Answer(ctx, rpc.ChannelAnswer{Ticket: ticket, Answer: answer, From: &from})
	return err
}

// ofAda are answers to what is asked in a chat with ada alone: of all but hers nothing runs, and of two of hers one.
func (p *presses) ofAda(ctx context.Context) error {
	ada := sdk.From{Person: "ada", Message: "17"}
	asked, err := p.asks(ctx, "ada", ada, `call write_file {"path":"made","content":"of ada\n"}`)
	if err != nil {
		return err
	}
	t, err := p.c.Ticket(ctx, rpc.TicketParams{ID: asked.ID})
	if err != nil {
		return err
	}
	p.tell(fmt.Sprintf("whole %v accepted %v", strings.Contains(t.Text, "+of ada") && strings.Contains(t.Text, "| made"), t.Accept), nil)
	small, err := p.c.Ticket(ctx, rpc.TicketParams{ID: asked.ID, Room: 100})
	if err != nil {
		return err
	}
	p.tell("no longer the last message", p.answer(ctx, t.Ticket, sdk.Accept, ada))
	p.tell("no room for all", p.answer(ctx, small.Ticket, sdk.Accept, ada))
	if t, err = p.c.Ticket(ctx, rpc.TicketParams{ID: asked.ID}); err != nil {
		return err
	}
	for what, from := range map[string]sdk.From{"by bob": {Person: "bob"}, "by a stranger": {Person: "eve"}, "by cyd": {Person: "cyd"}, "forwarded": {Person: "ada", Conversation: "g"}} {
		p.tell(what, p.answer(ctx, t.Ticket, sdk.Accept, from))
	}
	p.tell("forged", p.answer(ctx, strings.Repeat("0", 32), sdk.Accept, ada))
	p.tell("an edit", p.answer(ctx, t.Ticket, sdk.Edit, ada))
	p.tell("by the role approve", p.c.Call(ctx, rpc.MethodResolve, rpc.Resolve{ID: asked.ID, Hash: asked.Hash, Answer: sdk.Accept}, nil))
	errs := make([]error, 2)
	var both sync.WaitGroup
	for i := range errs {
		both.Go(func() { errs[i] = p.answer(ctx, t.Ticket, sdk.Accept, ada) })
	}
	both.Wait()
	for _, err := range errs {
		p.tell("of two at once", err)
	}
	p.tell("twice", p.answer(ctx, t.Ticket, sdk.Accept, ada))
	return nil
}

// late is an answer to what has ended.
func (p *presses) late(ctx context.Context) error {
	ada := sdk.From{Person: "ada"}
	asked, err := p.asks(ctx, "late", ada, `call write_file {"path":"late","content":"late\n"}`)
	if err != nil {
		return err
	}
	t, err := p.c.Ticket(ctx, rpc.TicketParams{ID: asked.ID})
	if err == nil {
		_, err = p.c.Abort(ctx, rpc.RunRef{Run: "late", Project: p.project})
	}
	if err == nil {
		_, err = p.waits(ctx, asked.Run, asked.Hash)
	}
	p.tell("late", p.answer(ctx, t.Ticket, sdk.Accept, ada))
	return err
}

// edited is an answer to what somebody at the machine makes another; the file with .edit behind its name says when.
func (p *presses) edited(ctx context.Context) error {
	ada := sdk.From{Person: "ada"}
	asked, err := p.asks(ctx, "edited", ada, `call write_file {"path":"edited","content":"first\n"}`)
	if err != nil {
		return err
	}
	t, err := p.c.Ticket(ctx, rpc.TicketParams{ID: asked.ID})
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.file+".edit", []byte(asked.ID+" "+asked.Hash), 0o600); err != nil {
		return err
	}
	if _, err := p.waits(ctx, asked.Run, asked.Hash); err != nil {
		return err
	}
	p.tell("after an edit", p.answer(ctx, t.Ticket, sdk.Accept, ada))
	if t, err = p.c.Ticket(ctx, rpc.TicketParams{ID: asked.ID}); err == nil {
		p.tell("of what it is now", p.answer(ctx, t.Ticket, sdk.Accept, ada))
	}
	return err
}

// ofGroup is what bob asks for in a group, where ada presses.
func (p *presses) ofGroup(ctx context.Context) error {
	asked, err := p.asks(ctx, "group", sdk.From{Person: "bob", Conversation: "g"}, `call write_file {"path":"made","content":"of the group\n"}`)
	if err != nil {
		return err
	}
	t, err := p.c.Ticket(ctx, rpc.TicketParams{ID: asked.ID})
	p.tell("who asked in the group", p.answer(ctx, t.Ticket, sdk.Accept, sdk.From{Person: "bob", Conversation: "g"}))
	p.tell("alone", p.answer(ctx, t.Ticket, sdk.Accept, sdk.From{Person: "ada"}))
	p.tell("who may in the group", p.answer(ctx, t.Ticket, sdk.Accept, sdk.From{Person: "ada", Conversation: "g", Message: "18"}))
	return err
}

// hidden is what does not show as it is: it waits for the desk, and can be rejected.
func (p *presses) hidden(ctx context.Context) error {
	ada := sdk.From{Person: "ada"}
	asked, err := p.asks(ctx, "hidden", ada, "call write_file {\"path\":\"hidden\",\"content\":\"a \u202eb\\n\"}")
	if err != nil {
		return err
	}
	t, err := p.c.Ticket(ctx, rpc.TicketParams{ID: asked.ID})
	p.tell(fmt.Sprintf("hidden shown %v", strings.Contains(t.Text, "\u202e")), p.answer(ctx, t.Ticket, sdk.Accept, ada))
	p.tell("hidden rejected", p.answer(ctx, t.Ticket, sdk.Reject, ada))
	return err
}

// outside is a call of a tool that works elsewhere than in the run's workspace.
func (p *presses) outside(ctx context.Context) error {
	ada := sdk.From{Person: "ada"}
	asked, err := p.asks(ctx, "outside", ada, `call web_fetch {"url":"https://docs.example.org/"}`)
	if err != nil {
		return err
	}
	t, err := p.c.Ticket(ctx, rpc.TicketParams{ID: asked.ID})
	p.tell("beyond the workspace", p.answer(ctx, t.Ticket, sdk.Accept, ada))
	return err
}

// ofBob is a run of somebody who may not answer: it waits for the desk.
func (p *presses) ofBob(ctx context.Context) error {
	asked, err := p.asks(ctx, "bob", sdk.From{Person: "bob"}, `call write_file {"path":"made","content":"of bob\n"}`)
	if err != nil {
		return err
	}
	t, err := p.c.Ticket(ctx, rpc.TicketParams{ID: asked.ID})
	p.tell(fmt.Sprintf("bob has a ticket %v", t.Ticket != ""), err)
	return nil
}

// attended is who is asked in restricted mode: whoever may answer.
func (p *presses) attended(ctx context.Context) error {
	for _, person := range []string{"ada", "bob"} {
		asked, err := p.asks(ctx, person, sdk.From{Person: person}, `call read_file {"path":".env"}`)
		if err != nil {
			return err
		}
		p.tell(fmt.Sprintf("%s is asked %v", person, asked.ID != ""), nil)
	}
	return nil
}
