package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
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
	asks      bool // it is a plugin's question, and data whether its answer is data
	data      bool
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

// nothing is the schema of an answer that is a yes or a no.
var nothing = json.RawMessage(`{"type":"object","properties":{}}`)

// mayRun is the question whether something may run.
func mayRun(p sdk.Proposal) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: wouldRun(p), RequestedSchema: nothing}
}

// asks is a plugin's question as the client asks it, with the plugin's own schema. It is false where
// the client cannot: it opens no addresses, or what is asked for is secret, which no form of the protocol
// may ask for.
func asks(p sdk.Proposal, c *mcp.ElicitationCapabilities) (*mcp.ElicitParams, bool) {
	q := p.Question
	said := &mcp.ElicitParams{Message: show.Text(strings.TrimSpace(q.Message)) + "\n\n(" + show.ExactLine(p.Decision.Reason) + ")"}
	fields, err := q.Fields()
	switch {
	case err != nil, slices.ContainsFunc(fields, sdk.Field.Secret):
		return nil, false
	case q.URL != "":
		said.Mode, said.URL, said.ElicitationID = "url", q.URL, p.ID
		return said, c.URL != nil && show.BeyondASCII(q.URL) == 0
	case q.Schema == nil:
		said.RequestedSchema = nothing
	default:
		said.RequestedSchema = q.Ordered()
	}
	return said, c.Form != nil || c.URL == nil
}

// put is what the client can ask the person about a proposal; false where it cannot.
func (b *bridge) put(req *mcp.CallToolRequest, p sdk.Proposal) (*mcp.ElicitParams, bool) {
	if p.Question == nil {
		return mayRun(p), b.canAsk(req)
	}
	c := req.ClientCapabilities()
	if !b.o.approve || c == nil || c.Elicitation == nil {
		return nil, false
	}
	return asks(p, c.Elicitation)
}

// ask asks the person, and answers what they did. For a client that answers by calling again the
// result for it is later, and nothing else counts.
func (b *bridge) ask(ctx context.Context, req *mcp.CallToolRequest, q question, p *mcp.ElicitParams) (r *mcp.ElicitResult, later *mcp.CallToolResult, err error) {
	i := req.Session.InitializeParams()
	if i == nil || i.ProtocolVersion >= manyRounds {
		q.tool = req.Params.Name
		q.arguments = req.Params.Arguments
		state := b.asked.keep(q, time.Now())
		return nil, &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{answerKey: p}, RequestState: state}, nil
	}
	r, err = req.Session.Elicit(ctx, p)
	if err == nil && r.Action == actionCancel {
		err = errDismissed
	}
	return r, nil, err
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
func (b *bridge) answered(req *mcp.CallToolRequest) (q question, r *mcp.ElicitResult, is bool) {
	r, is = req.Params.InputResponses[answerKey].(*mcp.ElicitResult)
	if !is || r == nil || !b.o.approve {
		return question{}, nil, false
	}
	q, is = b.asked.take(req.Params.RequestState, req.Params.Name, req.Params.Arguments, time.Now())
	return q, r, is
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
