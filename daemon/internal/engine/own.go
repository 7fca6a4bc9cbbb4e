package engine

import (
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// Builtin is where the daemon's own tools come from: those that belong to no
// plugin (package builtin).
type Builtin interface {
	// Own takes the tools as they are at this moment for one turn of a run,
	// which keeps them to its end whatever changes meanwhile.
	Own(ctx context.Context, t Taking) (Own, error)
	// Typed says what a prompt stands for that a person typed: nil is a text
	// that means itself, an error is one that cannot be meant.
	Typed(ctx context.Context, t Taking, prompt string) (Typed, error)
}

// Taking says for whom the own tools are taken. Where there is no run yet its
// fields are empty.
type Taking struct {
	Project sdk.Project
	Run     sdk.Run
	RunDir  string
	Loop    sdk.Loop
	Agent   sdk.Agent
	Model   string              // alias; a completion that names none asks this one
	Tools   []sdk.Tool          // the plugins' tools that the turn offers
	Context int                 // the model's window in tokens; 0 is unknown
	Admits  func(sdk.Tool) bool // whether the agent may use a tool
}

// Own are the daemon's own tools for one turn.
type Own interface {
	// Tools are what the model is offered beside the plugins' tools. They pass
	// policy like any other. Their names go before those of plugins.
	Tools() []sdk.Tool
	// System joins the system text; empty is nothing. It must not differ from
	// turn to turn while nothing changed, so that servers can keep the prompt.
	System() string
	// Once reports whether this call must not be made a second time after a
	// crash, though its tool says read_only: it starts what is not. Policy judges
	// it as such.
	Once(ctx context.Context, tool string, arguments json.RawMessage) bool
	// Invoke runs one call of one of Tools. An error is a call that could not be made.
	Invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error)
}

// Typed is a prompt that stands for something else than its text, such as a
// skill. People see it as it was typed.
type Typed interface {
	// Text is what the model reads in its place. What that text refers to is
	// there in the run when it returns.
	Text(ctx context.Context, run sdk.Run, runDir string) (sdk.Meaning, error)
}

// takeTools takes the tools for the turn that begins, or is taken up: those that
// the plugins have at this moment, and the own tools. That the own tools cannot
// be had is told to whoever follows the run, and the turn goes on without them.
func (e *Engine) takeTools(ctx context.Context, a *activeLoop) {
	a.plugged = e.offer(a.agent, a.loop.Mode)
	a.own, a.skills, a.offered = nil, "", a.plugged
	if e.cfg.Builtin == nil || a.choice.Tools != nil && !*a.choice.Tools {
		return
	}
	own, err := e.cfg.Builtin.Own(ctx, e.taking(a))
	if err != nil {
		if ctx.Err() == nil {
			e.missOwn(a, err)
		}
		return
	}
	a.own = own
	if offered := readable(admitted(a.agent, own.Tools()), a.loop.Mode); len(offered) > 0 {
		a.skills = own.System()
		a.offered = append(offered, besides(a.plugged, offered)...)
	}
}

func (e *Engine) taking(a *activeLoop) Taking {
	return Taking{
		Project: a.project, Run: a.run, RunDir: e.runDir(a.run), Loop: a.loop, Agent: a.agent,
		Model: first(a.choice.Alias, a.run.Model), Tools: a.plugged, Context: a.choice.Context,
		Admits: func(t sdk.Tool) bool { return admits(a.agent, t) },
	}
}

// missOwn tells why there are no own tools, once a loop as long as the reason
// is the same.
func (e *Engine) missOwn(a *activeLoop, err error) {
	message := "the model works without skills: " + err.Error()
	if message == a.missed {
		return
	}
	e.log.Warn("the own tools could not be taken", "run", a.run.Alias, "error", err)
	if a.turn != nil && a.from != stageRecorded { // else nothing is recorded any more
		a.missed = message
		a.turn.writes = append(a.turn.writes, a.errorWrite("skills", sdk.OutcomeOf(err), message))
	}
}

// besides are plugins' tools, each of another name than any own tool: where one
// has the same it is offered by its qualified name.
func besides(plugged, own []sdk.Tool) []sdk.Tool {
	taken := map[string]bool{}
	for _, t := range own {
		taken[t.Name] = true
	}
	out := make([]sdk.Tool, 0, len(plugged))
	for _, t := range plugged {
		if taken[t.Name] {
			t.Name = qualified(t)
		}
		out = append(out, t)
	}
	return out
}

// ownTools are the own tools of the turn.
func (a *activeLoop) ownTools() []sdk.Tool {
	if a.own == nil {
		return nil
	}
	return a.own.Tools()
}

// ask asks whether the call may be made a second time, once its arguments are
// those that it will be made with.
func (x *action) ask(ctx context.Context) {
	x.once = x.own != nil && x.own.Once(ctx, x.tool.Name, x.arguments)
}
