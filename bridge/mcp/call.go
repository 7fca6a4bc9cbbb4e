package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// callTool calls a tool as a client of the role submit. Where a person has to agree they are asked
// by the client, if that can and the bridge was started for it, and the call is then made in their
// name; else the result says how a person makes it.
func (b *bridge) callTool(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	t, is := b.tool(req.Params.Name)
	if !is {
		return failed(fmt.Sprintf("the tool %s is not there any more", req.Params.Name)), nil
	}
	call := rpc.ToolCall{Project: b.o.project, Tool: req.Params.Name, Arguments: req.Params.Arguments}
	if q, r, is := b.answered(req); is {
		switch r.Action {
		case actionAccept:
		case actionCancel:
			return failed(errDismissed.Error()), nil
		default:
			return failed("The person said no: leave this, and ask before you try the like again."), nil
		}
		call.Arguments = q.shown
		return b.call(ctx, req, call, rpc.RoleApprove)
	}
	done, err := b.make(ctx, req, call, rpc.RoleSubmit)
	if err != nil || done.Result.Success {
		return b.told(done, err)
	}
	why, asks := b.asks(ctx, done)
	if !asks {
		return b.told(done, nil)
	}
	if !b.canAsk(req) {
		r, err := b.told(done, nil)
		r.Content = append(r.Content, text(b.howTo(call.Tool, call.Arguments)))
		return r, err
	}
	p := sdk.Proposal{Project: b.o.project, Tool: t.Name, Plugin: t.Plugin, Arguments: why.Arguments, Command: why.Command, Bytes: len(why.Command), Decision: *why.Now}
	r, later, err := b.ask(ctx, req, question{shown: why.Arguments}, mayRun(p))
	switch {
	case later != nil || err != nil:
		return later, err
	case r.Action != actionAccept:
		return failed("The person said no: leave this, and ask before you try the like again."), nil
	}
	call.Arguments = why.Arguments // what they saw
	return b.call(ctx, req, call, rpc.RoleApprove)
}

// howTo says how a person makes a call that this bridge may not.
func (b *bridge) howTo(tool string, arguments json.RawMessage) string {
	how := "A person has to agree to this call, and was not asked. They can make it themselves: bothy tools call " + tool + " " + quoted(string(arguments)) +
		"; they can allow it for good by a rule in the configuration."
	if !b.o.approve {
		how += " Started as `bothy mcp serve --approve` the server asks in the client, where that can ask."
	}
	return how
}

// quoted is a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// asks looks at a call that was refused: whether a person would have been asked about it, had one
// been there.
func (b *bridge) asks(ctx context.Context, done rpc.ToolDone) (rpc.Explained, bool) {
	x, err := b.cl.Explain(ctx, rpc.ExplainParams{Project: b.o.project, Run: done.Run, Action: done.Path})
	if err != nil {
		b.log.Debug("why a call was refused is not known", "error", err)
		return x, false
	}
	return x, x.Outcome == sdk.Permission && x.Decision.Verdict == sdk.Deny && x.Now != nil && x.Now.Verdict == sdk.Propose && x.Now.Rule != sdk.RuleLeak // of which a yes makes nothing
}

// call makes a call and tells what came of it.
func (b *bridge) call(ctx context.Context, req *mcp.CallToolRequest, call rpc.ToolCall, role rpc.Role) (*mcp.CallToolResult, error) {
	return b.told(b.make(ctx, req, call, role))
}

// told is a call's end as the client gets it. That the daemon refused it, or died under it, is a
// result for the model, too.
func (b *bridge) told(done rpc.ToolDone, err error) (*mcp.CallToolResult, error) {
	switch {
	case err == nil:
		return result(done.Result), nil
	case isCancelled(err):
		return nil, err
	case errors.Is(err, client.ErrDisconnected):
		return failed("The daemon ended while the call was under way, and what the call did is not known: look before you make it again."), nil
	}
	return failed(err.Error()), nil
}

// make makes a call over a connection of its own, whose end cancels the call.
func (b *bridge) make(ctx context.Context, req *mcp.CallToolRequest, call rpc.ToolCall, role rpc.Role) (rpc.ToolDone, error) {
	d := *b.daemon
	d.Role = role
	cl := d.Client(b.socket)
	defer func() { _ = cl.Close() }() // it has answered, or nobody waits for it
	type answer struct {
		done rpc.ToolDone
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		done, err := start.Again(ctx, &d, cl, func() (rpc.ToolDone, error) {
			// A daemon that dies before it was asked has done nothing.
			hello, err := start.Repeat(ctx, &d, cl, func() (rpc.Hello, error) { return cl.Hello(ctx) })
			if err != nil {
				return rpc.ToolDone{}, err
			}
			tell := b.tellOf(ctx, cl, req, call, hello.Seq)
			done, err := cl.CallTool(ctx, call)
			tell(err == nil)
			return done, err
		})
		answers <- answer{done, err}
	}()
	select {
	case a := <-answers:
		return a.done, a.err
	case <-ctx.Done():
	}
	_ = cl.Close()
	a := <-answers
	if a.err == nil {
		return a.done, nil // it ended just then
	}
	return a.done, ctx.Err()
}
