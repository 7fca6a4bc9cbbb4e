package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
)

// question is what a person is asked in the client.
type question struct {
	tool      string          // that was called
	arguments json.RawMessage // of the call, as it came
	shown     json.RawMessage // and as they are shown and run; of a call that no run makes
	work      *work           // of run_agent: what waits for the answer
	proposal  string          // that the answer is for, and its hash; empty for a call that no run makes
	hash      string
	until     time.Time
}

// Bounds of what is asked of clients that answer by calling again, as those of 2026-07-28 do.
const (
	mostPending = 100
	pendingFor  = 10 * time.Minute
)

// pending are these questions, each of which is answered once.
type pending struct {
	mu  sync.Mutex
	all map[string]question // by what the client gives back with the answer
}

// keep keeps a question, in the place of the oldest where there are too many.
func (p *pending) keep(q question, now time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[string]question{}
	}
	oldest := ""
	for id, x := range p.all {
		if now.After(x.until) {
			delete(p.all, id)
		} else if oldest == "" || x.until.Before(p.all[oldest].until) {
			oldest = id
		}
	}
	if len(p.all) >= mostPending {
		delete(p.all, oldest)
	}
	id := rand.Text()
	q.until = now.Add(pendingFor)
	p.all[id] = q
	return id
}

// take takes a question out, if it is there and about this very call.
func (p *pending) take(id, tool string, arguments json.RawMessage, now time.Time) (question, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q, is := p.all[id]
	if !is || now.After(q.until) || q.tool != tool || !sameJSON(q.arguments, arguments) {
		return question{}, false
	}
	delete(p.all, id)
	return q, true
}

// answerKey names the one thing that is asked at a time.
const answerKey = "answer"

// canAsk reports whether the person at the client may be asked, and can be.
func (b *bridge) canAsk(req *mcp.CallToolRequest) bool {
	c := req.ClientCapabilities()
	if !b.o.approve || c == nil || c.Elicitation == nil {
		return false
	}
	return c.Elicitation.Form != nil || c.Elicitation.URL == nil // before there were two kinds it was the form
}

// manyRounds is the version of the protocol from which on a server asks nothing by itself: its
// result says what it needs, and the client calls again.
const manyRounds = "2026-07-28"

// ask asks the person whether something may run. For a client that answers by calling again the
// result for it is later, and nothing else counts.
func (b *bridge) ask(ctx context.Context, req *mcp.CallToolRequest, q question, what string) (yes bool, later *mcp.CallToolResult, err error) {
	p := &mcp.ElicitParams{
		Message:         what,
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
	}
	i := req.Session.InitializeParams()
	if i == nil || i.ProtocolVersion >= manyRounds {
		q.tool = req.Params.Name
		q.arguments = req.Params.Arguments
		state := b.asked.keep(q, time.Now())
		return false, &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{answerKey: p}, RequestState: state}, nil
	}
	r, err := req.Session.Elicit(ctx, p)
	if err != nil {
		return false, nil, err
	}
	if r.Action == actionCancel {
		return false, nil, errDismissed
	}
	return r.Action == actionAccept, nil, nil
}

// What a person does with a question (MCP, ElicitResult).
const (
	actionAccept = "accept"
	actionCancel = "cancel"
)

// errDismissed says that the person has neither said yes nor no.
var errDismissed = sdk.Errorf(sdk.Aborted, "the person dismissed the question")

// answered is the question that a call brings the answer for, and what the person did with it;
// false for one that begins.
func (b *bridge) answered(req *mcp.CallToolRequest) (q question, action string, is bool) {
	r, is := req.Params.InputResponses[answerKey].(*mcp.ElicitResult)
	if !is || !b.o.approve {
		return question{}, "", false
	}
	q, is = b.asked.take(req.Params.RequestState, req.Params.Name, req.Params.Arguments, time.Now())
	return q, r.Action, is
}

// mostQuestion is how many lines of what would run a question has before it has all details.
const mostQuestion = 200

// wouldRun is what an answer lets run, exactly; with anything that could be taken for something
// else, all that the answer is bound to.
func wouldRun(p sdk.Proposal) string {
	lines, whole := show.Question(p, 0, mostQuestion)
	if !whole {
		lines = show.Details(p, 0, false)
	}
	return strings.TrimRight(show.Draw(lines, nil), "\n")
}
