package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"unicode"

	"github.com/bothyd/bothy/sdk"
)

// typed asks what a prompt stands for, before there is a run for it. One of a plugin stands for itself: nobody typed it,
// and what only people call is not for plugins.
func (e *Engine) typed(ctx context.Context, p placed, s Submission) (sdk.TypedPrompt, error) {
	if s.Plugin != "" {
		return nil, nil
	}
	if t, err := e.typedTool(ctx, p, s); t != nil || err != nil {
		return t, err
	}
	if e.cfg.Builtin == nil {
		return nil, nil
	}
	run := p.run
	run.Private = run.Private || s.Origin.Channel != "" // also of one that is to be made
	t := e.turnContext(&activeLoop{
		project: p.project, run: run, loop: sdk.Loop{ReadOnly: s.ReadOnly, Prompt: s.Prompt, Agent: p.agent.Name},
		agent: p.agent.In(run), choice: p.choice, plugged: e.offer(p.agent.In(run), s.ReadOnly),
	})
	if p.run.ID == 0 {
		t.RunDir = "" // it is to be made
	}
	return e.cfg.Builtin.Typed(ctx, t, s.Prompt)
}

// meaning is what the model reads in the place of a prompt. The caller holds the
// lock of submissions, so that the run is not deleted meanwhile.
func (e *Engine) meaning(ctx context.Context, run sdk.Run, typed sdk.TypedPrompt) (*sdk.Meaning, error) {
	if _, err := e.cfg.Store.Run(ctx, run.ID); err != nil {
		return nil, err
	}
	dir := e.runDir(run)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "make the run's folder: %w", err)
	}
	m, err := typed.Text(ctx, run, dir)
	if err != nil {
		return nil, err
	}
	return &m, nil
}

// typedTool is a prompt that a person typed as /NAME: what a tool that only people call answers,
// such as a prompt of a server of MCP.
type typedTool struct {
	text   string
	source string // what the model reads that came from outside, as the mark of a run names it; empty is nothing
}

// Text implements sdk.TypedPrompt.
func (t typedTool) Text(context.Context, sdk.Run, string) (sdk.Meaning, error) {
	return sdk.Meaning{Text: t.text}, nil
}

// typedTool makes the call that a prompt means, as one that no prompt caused; nil is a text that means
// no such tool. A server of MCP is started for it, where the call may be made at all.
func (e *Engine) typedTool(ctx context.Context, p placed, s Submission) (sdk.TypedPrompt, error) {
	word, is := strings.CutPrefix(s.Prompt, "/")
	if !is {
		return nil, nil
	}
	end := strings.IndexFunc(word, unicode.IsSpace)
	if end < 0 {
		end = len(word)
	}
	name, rest := word[:end], word[end:]
	of := serverOf(name)
	t, found := e.peopleTool(name)
	if !found && len(of) > 0 {
		if err := e.forbiddenPrompt(name, of[0], p, s); err != nil {
			return nil, err
		}
		e.cfg.Tools.Gather(ctx, sdk.Agent{MCP: of})
		t, found = e.peopleTool(name)
	}
	switch {
	case !found && len(of) > 0:
		return nil, fmt.Errorf("%w. To send this text as it is, begin it with a space", e.noTool(name, e.peopleTools(of[0])))
	case !found:
		return nil, nil
	}
	if s.ReadOnly && !t.Annotations.ReadOnly {
		return nil, sdk.Errorf(sdk.Permission, "%s may change something, and this prompt only reads", name)
	}
	arguments, err := t.Typed(rest)
	if err != nil {
		return nil, err
	}
	done, err := e.CallTool(ctx, ToolCall{Project: p.project.Root, Tool: t.Name, Arguments: arguments, Approved: s.Approved && s.Origin.Channel == "", Origin: s.Origin, Offline: p.offline()})
	if err != nil {
		return nil, err
	}
	if !done.Result.Success {
		return nil, sdk.Errorf(cmp.Or(done.Entry.Outcome, sdk.Internal), "%s gave nothing to send: %s", name, done.Result.Error)
	}
	typed := typedTool{text: fmt.Sprintf("The person typed %s, which stands for:\n\n%s", s.Prompt, done.Result.Output)}
	if t.Annotations.OpenWorld || !t.Pinned {
		typed.source = "what " + t.Name + " brought"
	}
	return typed, nil
}

// forbidden is why a call of a server that does not run is not made: a rule denies it, or a person would have to
// agree, and who calls is none that may. Nil is that the server has to be asked, which is started for that.
func (e *Engine) forbidden(a *activeLoop, x *action, r sdk.PolicyRequest) error {
	r.Mode, r.Attended = e.callMode(), a.approved
	if x.rule(a, e.cfg.Policy.Decide(r)); !x.ended() {
		return nil
	}
	return sdk.Errorf(sdk.Permission, "%s was not called: %s", x.tool.Name, x.Reason)
}

// forbiddenPrompt is forbidden of a prompt, whichever arguments it may have. Nothing vouches for what a server
// says of its prompts.
func (e *Engine) forbiddenPrompt(name, server string, p placed, s Submission) error {
	x := &action{project: p.project.Root, tool: sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name, Source: server, People: true}, Plugin: sdk.MCPPrefix + server}}
	r := x.request()
	r.Unwritten, r.Offline = true, p.offline()
	return e.forbidden(&activeLoop{approved: s.Approved && s.Origin.Channel == ""}, x, r)
}

// offline reports whether nothing that is done for the prompt reaches a network.
func (p placed) offline() bool { return p.run.Offline || p.agent.Offline() }

// forbiddenCall is forbidden of a call of a tool. Of a server that a person accepted it is taken for one that
// only reads, which it may be.
func (e *Engine) forbiddenCall(a *activeLoop, c ToolCall, server string) error {
	accepted := e.cfg.Tools.Accepted(server)
	x := &action{project: a.project.Root, folder: e.folder(a.run), tool: sdk.Tool{
		ToolSpec: sdk.ToolSpec{Name: c.Tool, Source: server, Annotations: sdk.Annotations{ReadOnly: accepted}},
		Plugin:   sdk.MCPPrefix + server, Pinned: accepted,
	}}
	x.Arguments = c.Arguments
	return e.forbidden(a, x, x.request())
}

// peopleTool finds a tool that only people call.
func (e *Engine) peopleTool(name string) (sdk.Tool, bool) {
	for _, t := range e.cfg.Tools.Tools() {
		if t.People && t.Name == name {
			return t, true
		}
	}
	return sdk.Tool{}, false
}

// peopleTools are the names of those that a server of MCP has.
func (e *Engine) peopleTools(server string) (names []string) {
	for _, t := range e.cfg.Tools.Tools() {
		if t.People && t.Plugin == sdk.MCPPrefix+server && t.Name != sdk.MCPAbout(server) {
			names = append(names, t.Name)
		}
	}
	return names
}
