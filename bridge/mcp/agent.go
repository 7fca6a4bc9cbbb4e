package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// toolAgent is the bridge's own tool.
const toolAgent = "run_agent"

// agentCall is what it takes.
type agentCall struct {
	Agent  string `json:"agent"`
	Prompt string `json:"prompt"`
	Run    string `json:"run"`
}

// agentTool is it as clients are offered it, with the agents that there are.
func agentTool(agents []rpc.Agent) *mcp.Tool {
	names, about := []string{}, strings.Builder{}
	for _, a := range agents {
		names = append(names, a.Name)
		note := ""
		if a.Default {
			note = " (taken where none is named)"
		}
		fmt.Fprintf(&about, "\n- %s%s: %s", show.Line(a.Name), note, show.Line(show.OneLine(a.Description)))
	}
	agent := map[string]any{"type": "string", "description": "who does it"}
	if len(names) > 0 {
		agent["enum"] = names
	}
	schema, _ := json.Marshal(map[string]any{ // texts alone
		"type": "object",
		"properties": map[string]any{
			"agent":  agent,
			"prompt": map[string]any{"type": "string", "description": "what to do, with all that the agent needs to know: it has not seen this conversation"},
			"run":    map[string]any{"type": "string", "description": "the run to go on with, by the name that an earlier result told; a new one when absent. With no prompt its end is waited for"},
		},
		"additionalProperties": false,
	})
	destructive, open := true, true
	return &mcp.Tool{
		Name: toolAgent, Title: "Run an agent", InputSchema: json.RawMessage(schema),
		Description: "Gives an agent of Bothy a task in the project, waits until it is done, and answers with what the agent said. The agents:" + about.String(),
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &destructive, OpenWorldHint: &open},
	}
}

// runAgent gives a run a prompt and waits for its end.
func (b *bridge) runAgent(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	tell, cancelled := newTeller(ctx, req), b.cancelled(ctx)
	if q, r, is := b.answered(req); is && q.work != nil {
		if r.Action == actionCancel {
			return dismissed(*q.work, q), nil
		}
		if err := b.resolve(ctx, q, r); err != nil {
			b.log.Info("an answer was not taken", "proposal", q.proposal, "error", err)
		}
		return b.finish(ctx, req, tell, cancelled, *q.work)
	}
	var c agentCall
	if len(req.Params.Arguments) > 0 {
		if err := json.Unmarshal(req.Params.Arguments, &c); err != nil {
			return failed("The arguments are not those of " + toolAgent + ": " + err.Error()), nil
		}
	}
	switch {
	case strings.TrimSpace(c.Prompt) == "" && c.Run == "":
		return failed("The prompt is empty: say what the agent is to do, or name a run whose end is to be waited for."), nil
	case strings.TrimSpace(c.Prompt) == "":
		w, err := b.workOf(ctx, c.Run)
		if err != nil {
			return b.refused(err)
		}
		return b.finish(ctx, req, tell, cancelled, w)
	}
	if strings.HasPrefix(c.Prompt, "/") {
		c.Prompt = " " + c.Prompt // a model wrote it: it is a text, and calls nothing in a person's name
	}
	d := *b.daemon
	d.Waits = func(text string) { tell.progress(text, -1) }
	if _, err := repeat(ctx, b, func() (rpc.Hello, error) { return b.cl.Hello(ctx) }); err != nil {
		return b.refused(err) // nothing was sent yet
	}
	// The answer is waited for over a cancellation: who does not know that the prompt is there cannot end the work on it.
	a, err := d.Prompt(b.ctx, b.cl, false, rpc.Prompt{Project: b.o.project, Prompt: c.Prompt, Quoted: len(c.Prompt), Run: c.Run, Agent: c.Agent, Attend: b.o.approve})
	if err != nil {
		return b.refused(err)
	}
	tell.progress("run "+a.Run+", model "+a.Model, -1)
	return b.finish(ctx, req, tell, cancelled, work{run: a.ID, alias: a.Run, loop: a.Loop, sequence: a.Sequence, from: a.Seq})
}

// refused is a prompt that was not taken, for the model.
func (b *bridge) refused(err error) (*mcp.CallToolResult, error) {
	if isCancelled(err) {
		return nil, err
	}
	return failed(err.Error()), nil
}

// workOf is the last prompt of a run.
func (b *bridge) workOf(ctx context.Context, run string) (work, error) {
	list, err := repeat(ctx, b, func() (rpc.Prompts, error) {
		return b.cl.Prompts(ctx, rpc.PromptsParams{Run: run, Project: b.o.project, Limit: 1})
	})
	if err != nil {
		return work{}, err
	}
	if len(list.Prompts) == 0 {
		return work{}, sdk.Errorf(sdk.NotFound, "the run %s was given no prompt", run)
	}
	p := list.Prompts[0]
	return work{run: list.ID, alias: list.Run, loop: p.Loop, sequence: p.Sequence}, nil
}

// finish waits for the end of a prompt, asking what has to be asked on the way.
func (b *bridge) finish(ctx context.Context, req *mcp.CallToolRequest, tell *teller, cancelled <-chan bool, w work) (*mcp.CallToolResult, error) {
	for {
		o, err := b.await(ctx, tell, w)
		switch {
		case ctx.Err() != nil:
			if <-cancelled {
				b.cancel(w)
			}
			return nil, ctx.Err()
		case err != nil:
			return failed(fmt.Sprintf("Run %s is not followed any more: %v. Its end can be waited for by %s with run %s and no prompt.", w.alias, err, toolAgent, w.alias)), nil
		case o.waits == nil:
			return o.result(w), nil
		}
		p := *o.waits
		asked, can := b.put(req, p)
		if !can {
			return waits(w, p), nil
		}
		w.told = o.seq
		q := question{work: &w, proposal: p.ID, hash: p.Hash, asks: p.Question != nil, data: p.Question != nil && p.Question.Schema != nil}
		r, later, err := b.ask(ctx, req, q, asked)
		switch {
		case later != nil:
			return later, nil
		case ctx.Err() != nil:
			continue // it was cancelled
		case err != nil:
			b.log.Info("a question was not answered in the client", "proposal", p.ID, "error", err)
			return waits(w, p), nil
		}
		err = b.resolve(ctx, q, r)
		if err != nil {
			b.log.Info("an answer was not taken", "proposal", p.ID, "error", err)
		}
		if err != nil && sdk.OutcomeOf(err) != sdk.Conflict { // else somebody was faster, or it is another by now
			return waits(w, p), nil
		}
	}
}

// resolve answers a proposal by the hash of what was shown.
func (b *bridge) resolve(ctx context.Context, q question, said *mcp.ElicitResult) error {
	r := rpc.Resolve{ID: q.proposal, Hash: q.hash, Answer: sdk.Reject}
	if said.Action == actionAccept {
		r.Answer = sdk.Accept
	}
	if q.data && r.Answer == sdk.Accept {
		content := said.Content
		if content == nil {
			content = map[string]any{}
		}
		var err error
		if r.Data, err = json.Marshal(content); err != nil {
			return err
		}
	}
	_, err := repeat(ctx, b, func() (rpc.Resolved, error) { return b.cl.Resolve(ctx, r) })
	return err
}

// waits is the result while a person is waited for who cannot be asked here.
func waits(w work, p sdk.Proposal) *mcp.CallToolResult {
	if p.Question != nil {
		return answerOf(w, "waits", fmt.Sprintf("Run %s waits for a person, who is asked this:\n\n%s\n\nThey answer in a terminal: `bothy proposals answer %s`. "+
			"Then call %s again with run %s and no prompt: it waits for the end.", w.alias, wouldRun(p), p.ID, toolAgent, w.alias), false)
	}
	return answerOf(w, "waits", fmt.Sprintf("Run %s waits for a person, who has to agree to this:\n\n%s\n\nThey answer in a terminal: `bothy proposals accept %s`, or `bothy proposals reject %s`. "+
		"Then call %s again with run %s and no prompt: it waits for the end.", w.alias, wouldRun(p), p.ID, p.ID, toolAgent, w.alias), false)
}

// dismissed is the result while a question waits that the person has dismissed.
func dismissed(w work, q question) *mcp.CallToolResult {
	how := fmt.Sprintf("`bothy proposals accept %s`, or `bothy proposals reject %s`", q.proposal, q.proposal)
	if q.asks {
		how = fmt.Sprintf("`bothy proposals answer %s`", q.proposal)
	}
	return answerOf(w, "waits", fmt.Sprintf("The person dismissed the question, and run %s waits for the answer. They answer in a terminal: %s. "+
		"Then call %s again with run %s and no prompt: it waits for the end.", w.alias, how, toolAgent, w.alias), false)
}

// answerOf is a result of run_agent.
func answerOf(w work, state, said string, bad bool) *mcp.CallToolResult {
	if head := sdk.Head(said, mostOutput); head != said {
		said = head + "\n(This is not the whole answer: " + runURI(w.alias) + " has it.)"
	}
	r := &mcp.CallToolResult{IsError: bad, Content: []mcp.Content{text(said)}}
	r.StructuredContent = map[string]any{"run": w.alias, "state": state, "prompt": w.sequence, "history": runURI(w.alias)}
	return r
}

// cancelled tells, once ctx ends, whether the client cancelled the call: one that is gone did not, even
// where it goes before that is asked.
func (b *bridge) cancelled(ctx context.Context) <-chan bool {
	told := make(chan bool, 1)
	context.AfterFunc(ctx, func() { told <- !b.gone() })
	return told
}

// cancel takes a prompt back, or ends the work on it.
func (b *bridge) cancel(w work) {
	if err := start.Withdraw(b.ctx, b.daemon, b.cl, rpc.PromptRef{Run: strconv.FormatInt(w.run, 10), Prompt: w.sequence}); err != nil {
		b.log.Warn("a prompt is not cancelled", "run", w.alias, "error", err)
	}
}
