package main

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// question is what the editor asks the person now.
type question struct {
	action *timeline.Action
	hash   string // of the proposal that it is about
	end    context.CancelFunc
	given  atomic.Bool // the answer came from the editor
}

// question begins with what waits for an answer in a loop and in work that it delegated, which may be several at the same
// time, and gives up what does not wait any more: the editor takes the question back, and the call says who answered.
func (t *teller) question(l *timeline.Loop) {
	if t.past {
		return
	}
	for _, q := range t.asked {
		t.over(q)
	}
	if l == nil {
		return
	}
	for _, a := range t.tree.Waiting(l) {
		if a.Proposal == nil || t.asked[a] != nil {
			continue
		}
		ctx, end := context.WithCancel(t.s.ctx)
		q := &question{action: a, hash: a.Proposal.Hash, end: end}
		t.asked[a] = q
		go t.s.ask(ctx, q, a.Proposal.ID)
	}
}

// over gives a question up that does not wait any more.
func (t *teller) over(q *question) {
	if q.action.State == sdk.StateProposed && q.action.Proposal != nil && q.action.Proposal.Hash == q.hash {
		return
	}
	q.end()
	delete(t.asked, q.action)
	c := t.calls[q.action.Path]
	if answered := show.Answered(q.action.Answer); answered != "" && !q.given.Load() && c != nil && c.action == q.action { // else a child's
		c.elsewhere = answered
		t.tellCall(c, false)
	}
}

// resumeQuestion asks what waited already when the session came back.
func (t *teller) resumeQuestion() {
	own := t.tree.Run(t.s.run)
	if own == nil {
		return
	}
	for _, l := range own.Loops {
		if l.End == nil {
			t.question(l)
		}
	}
}

// ask has the editor ask the person, and gives the daemon the answer. Where that is not taken it
// asks anew, as long as there is something to answer.
func (s *session) ask(ctx context.Context, q *question, id string) {
	for late := false; ; late = true {
		p, err := start.Repeat(s.ctx, s.b.daemon, s.b.cl, func() (sdk.Proposal, error) { return s.b.cl.Proposal(s.ctx, id) })
		if err != nil {
			s.cannotAsk(ctx, err)
			return
		}
		if late && p.State != sdk.StateProposed {
			s.say("The answer came too late: somebody else had answered.")
		}
		if p.State != sdk.StateProposed || ctx.Err() != nil {
			return // it was answered meanwhile
		}
		if p.Question != nil {
			if options, _ := choices(p.Question); len(options) == 0 {
				s.say(typed(p))
				return
			}
		}
		asked := s.permission(p)
		answer, err := s.b.conn.RequestPermission(ctx, asked)
		if err != nil {
			s.cannotAsk(ctx, err)
			return
		}
		r, is := answerOf(p, asked.Options, answer.Outcome)
		if !is {
			return // left open: it can be answered elsewhere
		}
		q.given.Store(true)
		_, err = start.Repeat(s.ctx, s.b.daemon, s.b.cl, func() (rpc.Resolved, error) { return s.b.cl.Resolve(s.ctx, r) })
		if err == nil || s.ctx.Err() != nil {
			s.follow() // the daemon may have been started for it
			return
		}
		q.given.Store(false)
		s.b.log.Info("an answer was not taken", "proposal", id, "error", err)
		if sdk.OutcomeOf(err) != sdk.Conflict {
			s.say("The answer was not taken: " + show.Text(err.Error()))
			return
		}
	}
}

// cannotAsk says that the person cannot be asked here, unless nothing is to be asked any more.
func (s *session) cannotAsk(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	s.b.log.Warn("the editor cannot ask", "error", err)
	s.say("A question waits for an answer that cannot be asked here: `bothy proposals` shows and answers it.")
}

// The answers that the editor offers. Those that leave a rule have its kind behind the prefix.
const (
	answerOnce   = "once"
	answerReject = "reject"
	answerAlways = "always:"
)

// permission is a proposal as the editor asks it. What would run stands there exactly; with
// anything that could be taken for something else, all that the answer is bound to.
func (s *session) permission(p sdk.Proposal) acp.RequestPermissionRequest {
	h := s.headOf(p.Tool, p.Arguments)
	if p.Question != nil {
		h.title = show.ExactLine(show.OneLine(p.Question.Message))
	}
	pending := acp.ToolCallStatusPending
	lines, whole := show.Question(p, 0, mostQuestion)
	if !whole {
		lines = show.Details(p, 0, false)
	}
	content := append(diffs(p.Diff, s.project), plain(fenced(strings.TrimRight(show.Draw(lines, nil), "\n"))))
	request := acp.RequestPermissionRequest{SessionId: s.id, ToolCall: acp.ToolCallUpdate{
		ToolCallId: callOf(p), Title: &h.title, Kind: &h.kind, Status: &pending, Locations: h.places, RawInput: h.input, Content: content,
	}}
	switch {
	case p.Question != nil:
		request.Options, _ = choices(p.Question)
	case show.Unfit(p) == "":
		request.Options = append(request.Options, acp.PermissionOption{OptionId: answerOnce, Name: "Allow once", Kind: acp.PermissionOptionKindAllowOnce})
		for _, o := range p.Offers {
			request.Options = append(request.Options, acp.PermissionOption{
				OptionId: acp.PermissionOptionId(answerAlways + string(o.Remember)), Name: capital(show.ExactLine(o.Text)), Kind: acp.PermissionOptionKindAllowAlways,
			})
		}
	}
	request.Options = append(request.Options, acp.PermissionOption{OptionId: answerReject, Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce})
	return request
}

// callOf names the call that a proposal is about. The editor knows none of a child's.
func callOf(p sdk.Proposal) acp.ToolCallId {
	if len(p.Chain) > 0 {
		return acp.ToolCallId(p.Alias + " " + p.Path)
	}
	return acp.ToolCallId(p.Path)
}

// mostQuestion is how many lines of what would run a question has before it has all details.
const mostQuestion = 200

// answerOf is what the daemon is told, by the hash of what was shown; false where the person
// chose nothing.
func answerOf(p sdk.Proposal, offered []acp.PermissionOption, o acp.RequestPermissionOutcome) (rpc.Resolve, bool) {
	r := rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept}
	if o.Selected == nil || !slices.ContainsFunc(offered, func(x acp.PermissionOption) bool { return x.OptionId == o.Selected.OptionId }) {
		return r, false
	}
	switch id := string(o.Selected.OptionId); {
	case strings.HasPrefix(id, answerChoice) && p.Question != nil:
		var offered bool
		if r.Data, offered = pickedData(p.Question, id); !offered {
			return r, false
		}
	case id == answerOnce:
	case id == answerReject:
		r.Answer = sdk.Reject
	case strings.HasPrefix(id, answerAlways):
		r.Remember = sdk.Remember(strings.TrimPrefix(id, answerAlways))
	default:
		return r, false // none that was offered
	}
	return r, true
}

// capital is a text with a capital at its beginning.
func capital(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
