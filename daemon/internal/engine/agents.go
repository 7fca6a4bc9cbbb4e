package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Agents are the agents that there are now. A project is its root, or empty for what holds everywhere.
type Agents interface {
	// List are all, by name; those of files that nobody trusts are marked.
	List(project string) []sdk.Definition
	// Find is the one that a prompt gets by a name. It is never one that nobody trusts.
	Find(project, name string) (sdk.Definition, bool)
	// Show is Find for people, who also look at what nobody trusts.
	Show(project, name string) (sdk.Definition, bool)
	// Unknown are the skills that an agent names and that a project has not.
	Unknown(project string, a sdk.Agent) []string
}

// defaultAgent is who gets prompts that name no agent.
const defaultAgent = "default"

// AgentOf is the agent that a prompt gets by a name in a project, which may be empty. The error says which there are, or
// that a person has to agree to its file first.
func (e *Engine) AgentOf(project, name string) (sdk.Agent, error) {
	d, found := e.cfg.Agents.Find(project, name)
	if !found {
		if there, is := e.cfg.Agents.Show(project, name); is && there.Untrusted {
			return sdk.Agent{}, sdk.Errorf(sdk.Permission, "the agent %q came with the project, and nobody has said yes to its file as it is now: `bothy trust --agents %s` shows it and asks", name, name)
		}
		var names []string
		for _, d := range e.cfg.Agents.List(project) {
			if !d.Untrusted {
				names = append(names, d.Agent.Name)
			}
		}
		return sdk.Agent{}, sdk.Errorf(sdk.NotFound, "there is no agent %.80q; there are: %s", name, named(names))
	}
	a := d.Agent
	return a, e.speaks(a)
}

// agentsAt is where agents are looked for that work in a run: those of the files of its project are none of a private
// one's, which has nothing of that.
func agentsAt(project sdk.Project, private bool) string {
	if private {
		return ""
	}
	return project.Root
}

// warnOfSkills tells people once a prompt of skills that its agent names and that there are not.
func (e *Engine) warnOfSkills(a *activeLoop) {
	if a.turns > 1 || len(a.agent.Skills) == 0 {
		return
	}
	if unknown := e.cfg.Agents.Unknown(a.project.Root, a.agent); len(unknown) > 0 {
		a.turn.note(sdk.KindNoteWarning, a.loop.ID, map[string]string{"message": fmt.Sprintf("agent %q names skills that there are not, and works without them: %s (`bothy skills list -a` has all)", a.agent.Name, strings.Join(unknown, ", "))})
	}
}

// usual is the agent of a project's prompts that name none, as far as the configuration says it.
func (e *Engine) usual(project string) sdk.Agent {
	d, _ := e.cfg.Agents.Find(project, defaultAgent)
	return d.Agent
}

// Agents are those that a prompt may name, by name; with untrusted also those of files that nobody said yes to. The
// project, which may be empty, may choose which one is taken when none is named, and decides whether the mode
// workspace is possible.
func (e *Engine) Agents(project string, untrusted bool) []rpc.Agent {
	in := e.agentsIn(project)
	definitions := e.cfg.Agents.List(project)
	all := make([]rpc.Agent, 0, len(definitions))
	for _, d := range definitions {
		if untrusted || !d.Untrusted {
			all = append(all, in.listed(d))
		}
	}
	return all
}

// Agent is one agent with all that is known of it, for people. One that nobody trusts is told too.
func (e *Engine) Agent(project, name string) (rpc.AgentDetail, error) {
	d, found := e.cfg.Agents.Show(project, name)
	if !found {
		_, err := e.AgentOf(project, name)
		return rpc.AgentDetail{}, err
	}
	return rpc.AgentDetail{Agent: e.agentsIn(project).listed(d), Definition: d}, nil
}

// agentsIn is what a project makes of agents.
type agentsIn struct {
	e            *Engine
	project      string
	usual, model string // the agent that is taken when none is named, and its model
	tools        []sdk.Tool
}

func (e *Engine) agentsIn(project string) agentsIn {
	in := agentsIn{e, project, defaultAgent, e.usual(project).Model, e.cfg.Tools.Tools()}
	if project != "" {
		narrowed := e.narrowing(project)
		in.usual, in.model = cmp.Or(narrowed.Agent, in.usual), cmp.Or(narrowed.Model, in.model)
	}
	return in
}

func (in agentsIn) listed(d sdk.Definition) rpc.Agent {
	a := d.Agent.In(sdk.Run{}) // as a run has it that says nothing else
	x := rpc.Agent{
		Name: a.Name, Model: cmp.Or(a.Model, in.model), Mode: in.e.agentMode(a), Tools: a.OwnTools(), Default: a.Name == in.usual && !d.Untrusted,
		Capabilities: a.Capabilities, Agents: a.Agents, Finishes: a.Finish != nil,
		Source: d.Source, Place: d.Place, Untrusted: d.Untrusted, Shadowed: len(d.Shadowed), Notes: len(d.Notes),
	}
	if d.Untrusted {
		x.Digest = d.Agent.Digest()
	}
	tools := withCommands(a, in.tools)
	for i := range tools { // of many agents: no tool is copied
		if t := &tools[i]; mayUse(&a, t) {
			x.Tools = append(x.Tools, t.Name)
		}
	}
	slices.Sort(x.Tools)
	if in.project != "" { // where another may hold
		x.Mode = in.e.modeIn(x.Mode, placed{project: sdk.Project{Root: in.project}, agent: a})
	}
	x.May = mayDo(a, x.Mode, len(x.Tools))
	x.Description = cmp.Or(a.Description, x.May)
	return x
}

// Guards are those of an agent in a project; of one that is gone those of none.
func (e *Engine) Guards(project, agent string) sdk.Guards {
	a, err := e.AgentOf(project, agent)
	if err != nil {
		return sdk.Guards{}
	}
	return e.narrowing(project).Guards(a.Guards)
}

// modesMay is what a prompt may do in each mode, for people.
var modesMay = map[sdk.Mode]string{
	sdk.ModeInteractive: "asks before a call that changes something",
	sdk.ModeRestricted:  "runs what is known to be harmless or is allowed, and asks about the rest",
	sdk.ModeWorkspace:   "runs what works on a copy of the project and can be taken back, and asks about the rest",
	sdk.ModeFull:        "asks about nothing; what is denied stays denied",
}

// fewer reports whether something keeps tools from an agent.
func fewer(a sdk.Agent) bool {
	return len(a.Tools)+len(a.Without) > 0 || a.Offline() || a.MCP != nil || a.Bound != nil && (len(a.Bound.Tools) > 0 || a.Bound.MCP != nil)
}

// mayDo says what an agent may do.
func mayDo(a sdk.Agent, mode sdk.Mode, tools int) string {
	with := "with every tool"
	switch {
	case a.Team != nil:
		return "plans, gives the work to " + strings.Join(a.Agents, ", ") + ", and puts together what they come to"
	case tools == 0:
		return "answers, and calls no tools"
	case fewer(a):
		with = fmt.Sprintf("with %d tools", tools)
		if tools == 1 {
			with = "with one tool"
		}
	}
	return modesMay[mode] + ", " + with
}
