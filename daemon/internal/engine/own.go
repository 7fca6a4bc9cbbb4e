package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// Builtin is where the daemon's own tools come from: those that belong to no
// plugin (package builtin).
type Builtin interface {
	// Turn takes the tools as they are at this moment for one turn of a run.
	Turn(ctx context.Context, t sdk.TurnContext) (sdk.TurnTools, error)
	// Typed says what a prompt stands for that a person typed: nil is a text
	// that means itself, an error is one that cannot be meant.
	Typed(ctx context.Context, t sdk.TurnContext, prompt string) (sdk.TypedPrompt, error)
}

// takeTools takes the tools for the turn that begins, or is taken up: those that
// the plugins have at this moment, and the own tools. That the own tools cannot
// be had is told to whoever follows the run, and the turn goes on without them.
func (e *Engine) takeTools(ctx context.Context, a *activeLoop) {
	if a.team = nil; a.given().Compacts {
		a.plugged, a.own = nil, nil
		return
	}
	if !a.gathered { // else those that were started
		a.agent.Lent = e.lent(a.run)
	}
	a.plugged, a.own = e.offer(a.agent, a.loop.ReadOnly), nil
	if err := e.takeTeam(ctx, a); err != nil {
		e.missOwn(a, err)
		return
	}
	if a.team != nil {
		a.plugged = nil
	}
	if e.cfg.Builtin == nil || !e.takesTools(a.agent, a.choice) && (a.team == nil || a.team.gives == nil) {
		return
	}
	own, err := e.cfg.Builtin.Turn(ctx, e.turnContext(a))
	if err != nil {
		if ctx.Err() == nil {
			e.missOwn(a, err)
		}
		return
	}
	a.own = own
}

// offerTools offers the tools that were taken to the model.
func (a *activeLoop) offerTools() {
	a.skills, a.offered = "", a.plugged
	if own := readable(which(a.ownTools(), a.agent.Admits), a.loop.ReadOnly); len(own) > 0 {
		a.skills, a.offered = a.own.System(), besides(a.plugged, own)
	}
}

// lent are the servers of MCP that a front end lends to a run now.
func (e *Engine) lent(run sdk.Run) []string {
	if e.cfg.Lent == nil {
		return nil
	}
	return e.cfg.Lent(run.Key)
}

// gather starts the servers of MCP that the loop's agent may use, once for the loop and whenever others
// are lent to its run. What only reads, and a model that calls no tools, is offered none of theirs.
func (e *Engine) gather(ctx context.Context, a *activeLoop) {
	lent := e.lent(a.run)
	if a.gathered && slices.Equal(lent, a.agent.Lent) || a.loop.ReadOnly || a.given().Compacts || !e.takesTools(a.agent, a.choice) {
		return
	}
	a.gathered, a.agent.Lent = true, lent
	e.cfg.Tools.Gather(ctx, a.agent)
}

func (e *Engine) turnContext(a *activeLoop) sdk.TurnContext {
	project := a.project.Root
	if a.run.Private {
		project = "" // whose skills are none of its business
	}
	t := sdk.TurnContext{
		Project: project, Run: a.run, RunDir: e.runDir(a.run), Loop: a.loop,
		Model: cmp.Or(a.choice.Alias, a.run.Model), Tools: a.plugged, Context: a.choice.Context, Skills: a.agent.Skills,
		Finish: a.agent.Finish, Admits: a.agent.Admits, Agents: e.agentsFor(a), Commit: e.Commit,
	}
	e.teamContext(a, &t)
	return t
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

// besides are the own tools, and behind them the plugins' tools, each of another name
// than any own one: where one has the same it is offered by its qualified name.
func besides(plugged, own []sdk.Tool) []sdk.Tool {
	taken := map[string]bool{}
	for _, t := range own {
		taken[t.Name] = true
	}
	out := append(make([]sdk.Tool, 0, len(own)+len(plugged)), own...)
	for _, t := range plugged {
		if taken[t.Name] {
			t.Name = t.Qualified()
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

// equipOne finds the tool that an action means now.
func (e *Engine) equipOne(ctx context.Context, a *activeLoop, x *action) (err error) {
	if x.Follows {
		x.tool, err = e.followTool(x.Plugin, x.Tool)
		return err
	}
	x.tool, x.own, err = e.find(a, x.Tool)
	x.stands, x.lone, x.strict = nil, a.team != nil, !e.dialectOf(a).Native()
	if err == nil {
		fault := x.fault
		x.fault = nil
		e.stand(a, x)
		err, x.fault = x.fault, fault
	}
	x.ask(ctx)
	return err
}

// ask asks whether the call may be made a second time, once its arguments are
// those that it will be made with. A call that starts a code skill is none that
// only reads, whatever its tool says: it is judged like one that changes files of
// the project, which is what a skill's plugin may do by itself.
func (x *action) ask(ctx context.Context) {
	if x.mayEnd(); !x.touchesEntries() && x.own != nil && x.own.Once(ctx, x.tool.Name, x.Arguments) {
		x.tool.Annotations.ReadOnly, x.tool.Annotations.Idempotent = false, false
		x.tool.Grants = []string{sdk.GrantProject}
	}
}
