package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// A plugin asks the person something by calling ask_user while it serves a call. The question is
// an action of the turn, as every call of a plugin is, and a proposal, so that whoever answers
// proposals finds it; policy neither asks it nor answers it. What the person typed is kept in
// memory alone, and given to the plugin: the journal has that it was answered, and how.

// questionTime is how long a question waits at most: the call that asks holds its plugin, and
// whoever the plugin works for.
const questionTime = time.Hour

// ruleQuestion is the rule of decisions about questions.
const ruleQuestion = "question"

// inquiry is a question that waits, and what it was answered with.
type inquiry struct {
	mu   sync.Mutex // held while an answer is committed
	data json.RawMessage
	has  bool
}

// inquiries are the questions that wait, by run and path.
type inquiries struct{ waiting sync.Map }

type inquiryKey struct {
	run  int64
	path string
}

func (s *inquiries) find(run int64, path string) *inquiry {
	found, _ := s.waiting.Load(inquiryKey{run, path})
	i, _ := found.(*inquiry)
	return i
}

// inquire asks what a plugin wants to know while it serves a call, and waits for the answer. No
// answer in time is one that cancels. The error is a question that could not be asked, or whose
// call has ended.
func (e *Engine) inquire(ctx context.Context, now *serving, plugin string, arguments json.RawMessage) (sdk.ToolResult, error) {
	q, err := sdk.QuestionOf(arguments)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	if q.Schema != nil {
		arguments = encode(q.InOrder()) // the record keeps no order of members
	}
	// Calls that run together read the loop's run: what waits and goes on is noted in another.
	a := &activeLoop{run: now.a.run, loop: now.a.loop, mode: now.a.mode, asker: now.a.asker, turn: now.a.turn}
	if err := e.askable(a); err != nil {
		return sdk.ToolResult{}, err
	}
	ctx, cancel := now.within(ctx)
	defer cancel()
	defer now.late.Hold()()
	turnToAsk := a.turn.children.turnToAsk()
	select {
	case turnToAsk <- struct{}{}:
		defer func() { <-turnToAsk }()
	case <-ctx.Done():
		return sdk.ToolResult{}, context.Cause(ctx)
	}
	x := e.child(now, sdk.ToolAskUser, arguments)
	waits, key := &inquiry{}, inquiryKey{a.run.ID, x.Path}
	e.inquiries.waiting.Store(key, waits) // before anybody can answer
	defer e.inquiries.waiting.Delete(key)
	if err := e.askQuestion(ctx, a, x, plugin, arguments); err != nil {
		return sdk.ToolResult{}, err
	}
	e.cfg.Hooks.ProposalPending.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: x.entry})
	if err := e.await(ctx, a, x); err != nil {
		e.withdraw(a, x, err)
		return sdk.ToolResult{}, err
	}
	waits.mu.Lock()
	defer waits.mu.Unlock()
	answer := sdk.QuestionAnswer{Answer: sdk.Cancel}
	if x.Answer != nil {
		answer.Answer = x.Answer.Answer
	}
	if answer.Answer == sdk.Accept {
		if !waits.has {
			return sdk.ToolResult{}, sdk.Errorf(sdk.Interrupted, "the question was answered, and the answer was lost")
		}
		answer.Data = waits.data
		now.x.accepts.Store(true)
	}
	return sdk.ToolResult{Success: true, Output: x.Body, Structured: encode(answer)}, nil
}

// askable says why nobody can be asked anything in a loop.
func (e *Engine) askable(a *activeLoop) error {
	switch {
	case a.loop.ID == 0:
		return sdk.Errorf(sdk.Unavailable, "nobody can be asked within a call that no prompt caused")
	case a.run.NoInteraction || a.run.NoProposals:
		return sdk.Errorf(sdk.Unavailable, "in this run nobody is asked (noInteraction, noProposals)")
	case a.mode == sdk.ModeRestricted && (e.cfg.Attended == nil || !e.cfg.Attended(a.run.ID, e.askers.session(a.asker))):
		return sdk.Errorf(sdk.Unavailable, "nobody is there who could be asked, and in restricted mode nothing waits for them")
	}
	return nil
}

// turnToAsk is held by the one question of a turn that waits.
func (c *children) turnToAsk() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asking == nil {
		c.asking = make(chan struct{}, 1)
	}
	return c.asking
}

// askQuestion records the question: from then on it waits.
func (e *Engine) askQuestion(ctx context.Context, a *activeLoop, x *action, plugin string, arguments json.RawMessage) error {
	if e.draining.Err() != nil {
		return errStopping
	}
	x.Asks, x.fault, x.tool = true, nil, questionTool(plugin)
	x.use(arguments)
	x.decide(sdk.Decision{Verdict: sdk.Propose, Rule: ruleQuestion, Source: "built-in", Reason: "the plugin " + plugin + " asks this, and what you answer goes to it alone"})
	p := sdk.ActionProposal{ReadOnly: a.loop.ReadOnly, Mode: a.mode, Dir: x.files(), Bytes: len(arguments), Created: e.cfg.Clock().UTC()}
	if err := proposal.Seal(&p, x.calling(a.run)); err != nil {
		return err
	}
	p.ID, p.Expires = p.Hash[:idLength], p.Created.Add(min(e.expiry(), questionTime))
	x.Proposal = &p
	w := x.recordWrite()
	at := x.recorded()
	at.Proposal = &p
	w.State, w.Attributes = sdk.StateProposed, encode(at)
	change := sdk.Change{Run: a.run.ID, Writes: []sdk.Write{w}}
	if a.run.Status != sdk.StatusProposed {
		change.Status = sdk.StatusProposed
	}
	receipt, err := e.commit(ctx, ahead, change)
	if err != nil {
		return fmt.Errorf("record the question: %w", err)
	}
	a.run.Status = sdk.StatusProposed
	x.committed(receipt.Entries[0])
	a.turn.children.mu.Lock()
	defer a.turn.children.mu.Unlock()
	a.turn.children.actions = append(a.turn.children.actions, x)
	return nil
}

// questionTool is ask_user as a plugin's question has it.
func questionTool(plugin string) sdk.Tool {
	return sdk.Tool{ToolSpec: sdk.ToolSpec{Name: sdk.ToolAskUser}, Plugin: plugin}
}

// withdraw ends a question that nobody waits for any more, unless it was answered just now.
func (e *Engine) withdraw(a *activeLoop, x *action, why error) {
	x.refuse(sdk.Errorf(sdk.Aborted, "the question was withdrawn: the call that asked it has ended (%w)", why))
	x.cancel(sdk.Aborted)
	change := sdk.Change{Run: a.run.ID, Writes: []sdk.Write{x.endWrite()}, Status: sdk.StatusRunning}
	receipt, err := e.commit(e.base, happened, change)
	switch {
	case err == nil:
		x.committed(receipt.Entries[0])
		a.run.Status = sdk.StatusRunning
	case sdk.OutcomeOf(err) == sdk.Conflict: // it has its end
		if entry, err := e.cfg.Store.Entry(e.base, a.run.ID, x.Path); err == nil {
			x.follow(entry)
		}
		_ = e.moveRun(e.base, a, sdk.StatusRunning) // who works on the loop next says it else
	}
}

// withdrawLeft ends the questions that an earlier daemon left: nobody waits for the answer.
func (t *turn) withdrawLeft() (some bool) {
	for _, x := range t.children.actions {
		if x.Asks && x.waiting() {
			x.refuse(sdk.Errorf(sdk.Aborted, "the question was withdrawn: the daemon ended, and with it the call that asked"))
			x.cancel(sdk.Aborted)
			some = true
		}
	}
	return some
}

// answerQuestion gives a person's answer to the plugin that asked, once it is recorded that
// there is one.
func (e *Engine) answerQuestion(ctx context.Context, q *question, r rpc.Resolve) (rpc.Resolved, error) {
	if q.x.Parent == "" {
		return e.answerModel(ctx, q, r)
	}
	waits := e.inquiries.find(q.a.run.ID, q.x.Path)
	if waits == nil {
		return rpc.Resolved{}, sdk.Errorf(sdk.Conflict, "the question %s has nobody any more who waits for its answer", q.x.Proposal.ID)
	}
	asked, err := sdk.QuestionOf(q.x.Arguments)
	if err != nil {
		return rpc.Resolved{}, err
	}
	said := "the person answered"
	switch r.Answer {
	case sdk.Accept:
		if err := asked.CheckAnswer(r.Data); err != nil {
			return rpc.Resolved{}, err
		}
	case sdk.Reject:
		said = "the person will not answer"
	case sdk.Cancel:
		said = "the person did not choose"
	default:
		return rpc.Resolved{}, sdk.Errorf(sdk.Validation, "a question is answered with accept, reject or cancel, not with %q", r.Answer)
	}
	if r.Answer != sdk.Accept && len(r.Data) > 0 {
		return rpc.Resolved{}, sdk.Errorf(sdk.Validation, "only an answer that accepts has data")
	}
	if e.cfg.Conceal != nil {
		for _, text := range asked.Secrets(r.Data) {
			e.cfg.Conceal(text)
		}
	}
	waits.mu.Lock()
	defer waits.mu.Unlock()
	before, had := waits.data, waits.has
	waits.data, waits.has = r.Data, true
	done, err := e.commitAnswer(ctx, q, []sdk.Write{proposal.Answer(q.x.entry, q.given, said)})
	if err != nil {
		waits.data, waits.has = before, had
		return done, err
	}
	told := e.cfg.Hooks.ProposalAccepted
	if r.Answer != sdk.Accept {
		told = e.cfg.Hooks.ProposalRejected
	}
	told.Emit(ctx, sdk.EntryEvent{Run: q.a.run.ID, Entry: q.x.entry})
	return done, nil
}
