package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/daemon/internal/rulebook"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Resolve answers a proposal, by its whole id, and returns when that is durable: what it causes
// comes behind Seq. It is one commit, which only one answer to a proposal can
// make. The caller has checked that whoever answers may approve. A proposal that was answered, has expired or is another by now is a
// conflict, and nothing runs.
func (e *Engine) Resolve(ctx context.Context, r rpc.Resolve) (rpc.Resolved, error) {
	return e.resolve(ctx, r, here{})
}

// ResolveRun is Resolve for a client that answers by run/resolve, of a session. Output is the answer to a question,
// and of an accepted call the body that filters of proposal.content begin with. A command of sh or env that it accepts the
// client runs itself, for as long as the session lasts.
func (e *Engine) ResolveRun(ctx context.Context, session string, r rpc.Resolve, output string) (rpc.Resolved, error) {
	return e.resolve(ctx, r, here{session: session, output: output, runs: true})
}

// here is what an answer brings beside itself from a client that answers by run/resolve, or from a channel.
type here struct {
	session string
	output  string
	runs    bool               // by run/resolve
	by      *rpc.ChannelAnswer // nil is at this machine
}

// data is the answer to a question, where it was given as a text. One that is none stays, and fits nothing.
func (h here) data(x *action, r rpc.Resolve) rpc.Resolve {
	if h.output == "" || r.Answer != sdk.Accept || len(r.Data) > 0 {
		return r
	}
	if q, err := sdk.QuestionOf(x.Arguments); err == nil {
		if data, err := q.Typed(h.output); err == nil {
			r.Data = data
		}
	}
	return r
}

func (e *Engine) resolve(ctx context.Context, r rpc.Resolve, by here) (rpc.Resolved, error) {
	leave, err := e.enter()
	if err != nil {
		return rpc.Resolved{}, err
	}
	defer leave()
	q, err := e.question(ctx, r)
	if err != nil {
		return rpc.Resolved{}, err
	}
	q.given = sdk.ActionAnswer{Answer: r.Answer, At: e.cfg.Clock().UTC(), Reason: strings.TrimSpace(r.Reason)}
	q.output = by.output
	if err := by.sign(q); err != nil {
		return rpc.Resolved{}, err
	}
	switch {
	case r.Remember != sdk.RememberNothing && (r.Answer != sdk.Accept || q.x.Asks || q.x.tool.Drift != ""):
		return rpc.Resolved{}, sdk.Errorf(sdk.Validation, "only an accepted call can be remembered as a rule, and none allows a tool that is not what it was; leave remember out")
	case q.x.Asks:
		return e.answerQuestion(ctx, q, by.data(q.x, r))
	case len(r.Data) > 0:
		return rpc.Resolved{}, sdk.Errorf(sdk.Validation, "data answers a question, and this is a call: leave it out")
	case r.Answer == sdk.Reject:
		return e.reject(ctx, q, q.given.Reason)
	case q.gone != nil:
		return rpc.Resolved{}, q.gone
	case r.Answer == sdk.Accept && by.runs && q.x.Streams:
		return e.handOver(ctx, q, by, r.Remember)
	case r.Answer == sdk.Accept:
		return e.accept(ctx, q, r.Remember)
	case r.Answer == sdk.Edit:
		return e.edit(ctx, q, r.Arguments)
	default:
		return rpc.Resolved{}, sdk.Errorf(sdk.Validation, "there is no answer %q; there are accept, reject and edit", r.Answer)
	}
}

// question is a proposal that is being answered, and the action behind it as
// far as an answer needs it.
type question struct {
	a      *activeLoop
	x      *action
	given  sdk.ActionAnswer
	output string // that came with it
	gone   error  // why the call cannot be made any more: only a rejection is left
}

// question finds the proposal that an answer is about, as it is now.
func (e *Engine) question(ctx context.Context, r rpc.Resolve) (*question, error) {
	if r.ID == "" || r.Hash == "" {
		return nil, sdk.Errorf(sdk.Validation, "an answer names the id and the hash of a proposal; `bothy proposals` shows what waits")
	}
	open, err := e.cfg.Store.Proposed(ctx)
	if err != nil {
		return nil, err
	}
	var found *sdk.EntryEvent
	for i := range open {
		c, err := sdk.ActionOf(open[i].Entry)
		if err != nil || c.ProposalID() != r.ID {
			continue
		}
		if found = &open[i]; c.Proposal.Hash == r.Hash { // else another of the same id may be meant
			break
		}
	}
	if found == nil {
		return nil, e.notOpen(ctx, r.ID)
	}
	if c, err := sdk.ActionOf(found.Entry); err == nil {
		e.cfg.Tools.Gather(ctx, sdk.Agent{MCP: serverOf(c.Tool), Lent: serverOf(c.Tool)}) // what is accepted is to run
	}
	q, err := e.ponder(ctx, *found)
	if err != nil {
		return nil, err
	}
	switch p := q.x.Proposal; {
	case p.Hash != r.Hash:
		return nil, sdk.Errorf(sdk.Conflict, "the proposal %s is another than the one that was answered: look at it again (`bothy proposals show %s`)", r.ID, r.ID)
	case q.x.left(e.cfg.Clock()) <= 0:
		return nil, sdk.Errorf(sdk.Conflict, "the proposal %s has expired, and nothing of it runs", r.ID)
	}
	return q, nil
}

// notOpen says why no proposal of that id waits.
func (e *Engine) notOpen(ctx context.Context, id string) error {
	const many = 20
	ended, err := e.cfg.Store.Answered(ctx, 0, 0, id, many)
	if err != nil {
		return err
	}
	for _, x := range ended {
		c, err := sdk.ActionOf(x.Entry)
		if err != nil || c.ProposalID() != id {
			continue
		}
		if c.Answer == nil {
			return sdk.Errorf(sdk.Conflict, "the proposal %s was not answered in time or its run was ended, and nothing of it runs", id)
		}
		return sdk.Errorf(sdk.Conflict, "the proposal %s has its answer already: %s, by %s", id, c.Answer.Answer, c.Answer.By)
	}
	return sdk.Errorf(sdk.NotFound, "there is no proposal %s; `bothy proposals` shows what waits", id)
}

// ponder makes of a proposal's entry what policy and tools need to know, as far
// as its agent and its tool are still there.
func (e *Engine) ponder(ctx context.Context, event sdk.EntryEvent) (*question, error) {
	a := &activeLoop{loop: sdk.Loop{Run: event.Run}}
	if err := e.locate(ctx, a); err != nil {
		return nil, err
	}
	at, err := sdk.ActionOf(event.Entry)
	if err != nil {
		return nil, err
	}
	x := leftAction(leftCall{entry: event.Entry, at: at}, a.project.Root, e.folder(a.run))
	q := &question{a: a, x: x}
	if x.Asks {
		x.tool = questionTool(x.Plugin)
		return q, nil
	}
	if q.gone = e.placeLoop(ctx, a, event.Entry.Loop); q.gone == nil {
		e.takeTools(ctx, a)
		q.gone = e.equipOne(ctx, a, x)
	}
	return q, nil
}

// placeLoop finds the loop of an action; what no loop did is judged like a
// client's call.
func (e *Engine) placeLoop(ctx context.Context, a *activeLoop, loop int64) error {
	if loop == 0 {
		a.loop.ReadOnly, a.mode, a.agent = false, e.callMode(), sdk.Agent{Name: toolsAlias}
		return nil
	}
	loops, err := e.cfg.Store.Loops(ctx, a.run.ID)
	if err != nil {
		return err
	}
	for _, l := range loops {
		if l.ID == loop {
			a.loop = l
		}
	}
	if a.agent, err = e.keptAgent(ctx, a); err != nil {
		return err
	}
	e.options(a)
	return nil
}

// accept lets the action start. Filters may veto it, which is its end.
func (e *Engine) accept(ctx context.Context, q *question, remember sdk.Remember) (rpc.Resolved, error) {
	rule, err := q.call().Rule(remember, e.cfg.Clock())
	if err != nil {
		return rpc.Resolved{}, err
	}
	asked := sdk.Resolution{Run: q.a.run.ID, Entry: q.x.told(q.x.entry), Allow: true}
	ruled, err := e.cfg.Hooks.ProposalAccepting.Apply(ctx, asked)
	if err != nil {
		ruled.Allow, ruled.Outcome, ruled.Body = false, sdk.OutcomeOf(err), err.Error()
	}
	if !ruled.Allow {
		return e.veto(ctx, q, ruled)
	}
	asked.Body = q.output
	if ruled, err = e.cfg.Hooks.ProposalContent.Apply(ctx, asked); err != nil {
		return e.veto(ctx, q, sdk.Resolution{Outcome: sdk.OutcomeOf(err), Body: err.Error()})
	}
	var writes []sdk.Write
	if rule != nil {
		q.given.Rule = rule.ID
		writes = append(writes, rulebook.Write(*rule))
		defer e.cfg.Rules.Change()()
	}
	writes = append([]sdk.Write{proposal.Accept(q.x.entry, q.given, ruled.Body)}, writes...)
	done, err := e.commitAnswer(ctx, q, writes)
	if err == nil {
		e.cfg.Hooks.ProposalAccepted.Emit(ctx, sdk.EntryEvent{Run: q.a.run.ID, Entry: q.x.told(q.x.entry)})
		done.Rule = rule
	}
	return done, err
}

// veto ends the action as a filter has it, though a person accepted.
func (e *Engine) veto(ctx context.Context, q *question, ruled sdk.Resolution) (rpc.Resolved, error) {
	return e.turnDown(ctx, q, refusal(ruled.By, ruled.Outcome, ruled.Body))
}

// reject ends the action, and the rest of its turn is not made. With a reason the model
// hears it and goes on at once; without one the loop ends.
func (e *Engine) reject(ctx context.Context, q *question, reason string) (rpc.Resolved, error) {
	why := sdk.Errorf(sdk.Permission, "a person rejected this call")
	if reason == "" {
		why = why.Tell("the person said no: leave this, and ask before you try the like again")
	} else {
		why = sdk.Errorf(sdk.Permission, "a person rejected this call: %s", reason)
	}
	return e.turnDown(ctx, q, why)
}

func (e *Engine) turnDown(ctx context.Context, q *question, why error) (rpc.Resolved, error) {
	done, err := e.commitAnswer(ctx, q, []sdk.Write{proposal.Reject(q.x.entry, q.given, why)})
	if err == nil {
		e.cfg.Hooks.ProposalRejected.Emit(ctx, sdk.EntryEvent{Run: q.a.run.ID, Entry: q.x.told(q.x.entry)})
	}
	return done, err
}

func (e *Engine) commitAnswer(ctx context.Context, q *question, writes []sdk.Write) (rpc.Resolved, error) {
	failpoint.Hit(failpoint.AnswerBefore)
	receipt, err := e.commit(ctx, once, sdk.Change{Run: q.a.run.ID, Writes: writes})
	if err != nil {
		if sdk.OutcomeOf(err) == sdk.Conflict {
			return rpc.Resolved{}, sdk.Errorf(sdk.Conflict, "the proposal %s was answered by somebody else just now, or its run was ended: %w", q.x.Proposal.ID, err)
		}
		return rpc.Resolved{}, fmt.Errorf("record the answer to the proposal %s: %w", q.x.Proposal.ID, err)
	}
	failpoint.Hit(failpoint.AnsweredAfter)
	for _, entry := range receipt.Entries {
		if entry.Path == q.x.Path {
			q.x.follow(entry)
		}
	}
	run, err := e.cfg.Store.Run(ctx, q.a.run.ID)
	if err != nil {
		run = q.a.run // the answer stands all the same
	}
	p, _ := e.proposalOf(ctx, q.a.run, q.a.project, q.x.entry)
	return rpc.Resolved{Proposal: p, Status: run.Status, Seq: receipt.Seq}, nil
}

// said is what the model wrote beside the calls of a turn.
func (e *Engine) said(ctx context.Context, run int64, turn int) string {
	entry, err := e.cfg.Store.Entry(ctx, run, sdk.ReplyPath(turn))
	if err != nil {
		return ""
	}
	return sdk.SaidIn(entry)
}

// Proposals are what waits for a person, oldest first.
func (e *Engine) Proposals(ctx context.Context) ([]sdk.Proposal, error) {
	open, err := e.cfg.Store.Proposed(ctx)
	if err != nil {
		return nil, err
	}
	return e.shown(ctx, open)
}

// Answered are proposals that wait no more, newest first, at most so many; of a run, also those of its children. The
// project, the run and the beginning of an id are not asked about where they are
// empty.
func (e *Engine) Answered(ctx context.Context, project, run int64, id string, limit int) ([]sdk.Proposal, error) {
	ended, err := e.cfg.Store.Answered(ctx, project, run, id, limit)
	if err != nil {
		return nil, err
	}
	return e.shown(ctx, ended)
}

// shown makes proposals of actions; those that never were any are left out.
func (e *Engine) shown(ctx context.Context, events []sdk.EntryEvent) ([]sdk.Proposal, error) {
	var all []sdk.Proposal
	for _, x := range events {
		a := activeLoop{loop: sdk.Loop{Run: x.Run}}
		if err := e.locate(ctx, &a); err != nil {
			if sdk.OutcomeOf(err) == sdk.NotFound { // deleted just now
				continue
			}
			return nil, err
		}
		if p, ok := e.proposalOf(ctx, a.run, a.project, x.Entry); ok {
			if p.State == sdk.StateProposed {
				p.Offers = e.offers(ctx, x)
			}
			all = append(all, p)
		}
	}
	return all, nil
}
