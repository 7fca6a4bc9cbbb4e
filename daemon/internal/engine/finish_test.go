package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// setting is where an agent that has to hand a result over works.
type setting struct {
	asks     Submission
	mode     sdk.TeamMode // it is the team itself, whose members do the work
	helped   bool         // a child of it does the work
	restarts bool         // the daemon ends before each answer of its model
}

// settings are where all gates hold. Of the agents that they name lead and far delegate to others, and the teams have it as a member.
var settings = map[string]setting{
	"a prompt":                        {asks: Submission{Agent: "it"}},
	"over restarts":                   {asks: Submission{Agent: "it"}, restarts: true},
	"a child":                         {asks: Submission{Agent: "lead"}},
	"a child, over restarts":          {asks: Submission{Agent: "lead"}, restarts: true},
	"the child of a child":            {asks: Submission{Agent: "far"}},
	"what a child did, over restarts": {asks: Submission{Agent: "it"}, helped: true, restarts: true},
	"what a child did":                {asks: Submission{Agent: "it"}, helped: true},
	"a member that works together":    {asks: Submission{Agent: "together"}},
	"a member that works in turn":     {asks: Submission{Agent: "in turn"}},
	"a synthesis":                     {asks: Submission{Agent: "it"}, mode: sdk.TeamParallel},
	"a synthesis, over restarts":      {asks: Submission{Agent: "it"}, mode: sdk.TeamSequential, restarts: true},
	"the synthesis of a child":        {asks: Submission{Agent: "lead"}, mode: sdk.TeamParallel},
	"a run of a channel":              {asks: Submission{Agent: "it", Origin: chat}},
	"a child in a run of a channel":   {asks: Submission{Agent: "lead", Origin: chat}},
	"a team in a run of a channel":    {asks: Submission{Agent: "it", Origin: chat}, mode: sdk.TeamParallel},
	"a member in a run of a channel":  {asks: Submission{Agent: "together", Origin: chat}},
}

// withProofs gives the house tools that run tests, those of a server of MCP, and the history that looks at what was done.
func (h *house) withProofs() {
	h.tools.add(sdk.ToolTests, sdk.Annotations{}, true, sdk.GrantSandbox)
	h.tools.become(sdk.ToolTests, func(t *sdk.Tool) {
		t.Command, t.Staged = "command", true
		t.Parameters = json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)
	})
	h.tools.stage = func(sdk.Invocation) (sdk.Staged, error) { return sdk.Staged{Command: "make test", Base: "b"}, nil }
	h.tools.gather = h.gatherServer
	pass := func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Success: true, Output: "ok", Structured: json.RawMessage(`{"passed":3,"failed":0}`)}, nil
	}
	h.tools.does[sdk.ToolTests], h.tools.does["mcp__web__run_tests"] = pass, pass
	h.tools.does["mcp__web__gone"] = h.tools.does["grep"]
	h.config.Policy = policy.New(policy.Settings{Rules: []sdk.PolicyRule{{Name: "fakes", Verdict: sdk.Allow, Tools: []string{"bash", sdk.ToolTests}}}})
	history := &project.History{Store: h.store, Kept: kept.In(h.dir), Tools: h.tools.Tools, May: func(string, string, bool) error { return nil }}
	h.config.Results.Done = history.Done
}

// serverTools are the tools of a server of MCP, and whether they say that they reach the network.
var serverTools = map[string]bool{sdk.ToolTests: true, "fetch": true, "gone": true, "note": false}

// gatherServer starts the server for an agent that uses it. Before, nobody knows its tools.
func (h *house) gatherServer(a sdk.Agent) {
	if !a.UsesMCP("web") {
		return
	}
	for tool, reaches := range serverTools {
		name := "mcp__web__" + tool
		h.tools.remove(name)
		h.tools.add(name, sdk.Annotations{ReadOnly: true, OpenWorld: reaches}, true)
		h.tools.become(name, func(t *sdk.Tool) { t.Plugin, t.Declared = "mcp__web", tool })
	}
}

// TestFinish: each gate holds in each place.
func TestFinish(t *testing.T) {
	for where, p := range settings {
		for name, g := range gates() {
			t.Run(where+"/"+name, func(t *testing.T) { p.hold(t, g) })
		}
	}
}

// hold does in a place what a gate is for, and looks at what came of it.
func (p setting) hold(t *testing.T, g gate) {
	h := prepareHouse(t)
	h.withSkills()
	h.withProofs()
	want := p.employ(h, &g)
	asked := 0
	h.config.Results.Validate = func(_ context.Context, plugin string, w sdk.Work) (sdk.Judgement, error) {
		if asked++; plugin != "judge" || w.Agent != "it" || len(w.Done) == 0 {
			t.Errorf("%s is asked about %+v", plugin, w)
		}
		return g.judge(asked)
	}
	begun := make(chan struct{}, 1)
	h.models.each = (&player{gate: g, setting: p, begun: begun}).next
	h.start()
	if p.asks.Prompt = "lead"; p.asks.Agent == "it" {
		p.asks.Prompt = "hand it over"
	}
	h.awaitOver(h.submit(p.asks), begun)

	runs := h.everyRun()
	finisher := runs[slices.IndexFunc(runs, func(r sdk.Run) bool { return r.Agent == "it" })]
	h.ended(finisher.ID, want.stop)
	if got := h.outcomes(finisher.ID); got != want.calls {
		t.Errorf("got %s\nwant %s", got, want.calls)
	}
	if told := h.firstRefusal(finisher.ID); told != "" && !strings.Contains(told, g.says) {
		t.Errorf("it is told %q, want %q", told, g.says)
	}
	if finisher.Private != (p.asks.Origin.Channel != "") {
		t.Errorf("the run is private: %t", finisher.Private)
	}
	if finisher.Delegator != 0 {
		h.handedOn(finisher, want.stop == sdk.StopTerminal)
	}
	for _, r := range runs {
		h.check(r.ID)
	}
}

// employ makes the agents of a place: "it" hands over, and "worker" does the work where another does. What the gate asks
// of "it" becomes what that does itself, and the answer is what it comes to.
func (p setting) employ(h *house, g *gate) outcome {
	g.spec.Schema = json.RawMessage(resultSchema)
	it := sdk.Agent{
		Tools: []string{"read*", "write", "bash", "finish", sdk.ToolTests, sdk.ToolPlan}, MCP: []string{"web"}, Finish: &g.spec,
		Guards: sdk.Guards{MaxTurns: 9, RepeatedCalls: 2, ConsecutiveErrors: 3},
	}
	worker, guards := it, h.agents["default"].Guards
	worker.Finish, worker.Guards = nil, guards
	h.agents["lead"] = sdk.Agent{Agents: []string{"it"}, Guards: guards}
	h.agents["far"] = sdk.Agent{Agents: []string{"lead"}, Guards: guards}
	h.agents["together"] = sdk.Agent{Agents: []string{"it"}, Guards: guards, Team: &sdk.Team{Mode: sdk.TeamParallel}}
	h.agents["in turn"] = sdk.Agent{Agents: []string{"it"}, Guards: guards, Team: &sdk.Team{Mode: sdk.TeamSequential}}
	did := g.did
	switch {
	case p.mode != "":
		it.Agents, it.Team, it.Tools, it.MCP = []string{"worker"}, &sdk.Team{Mode: p.mode}, []string{sdk.ToolDelegate}, []string{}
		did = "create_plan:resolved delegate:resolved"
		if g.alone != nil {
			g.came = *g.alone
		}
	case p.helped && len(g.work) > 0:
		it.Agents, it.Tools = []string{"worker"}, append(it.Tools, sdk.ToolDelegate)
		did, g.gives = "delegate:resolved", slices.Concat([]step{calls(giving("worker", "work"))}, g.gives)
	default:
		g.gives, g.work = slices.Concat(g.work, g.gives), nil
	}
	h.agents["it"], h.agents["worker"] = it, worker
	return outcome{strings.TrimSpace(did + " " + g.came.calls), g.came.stop}
}

// ended holds that the prompt of a run ended by a stop, with its exit code.
func (h *house) ended(run int64, stop string) {
	h.t.Helper()
	exit, known := map[string]int{sdk.StopTerminal: sdk.ExitOK, sdk.StopFailed: sdk.ExitFailed}[stop]
	if !known {
		exit = sdk.ExitStopped
	}
	l := h.promptOf(run)
	if got := sdk.StopExit(l.Stop, l.Status); l.Stop != stop || got != exit {
		h.t.Errorf("it ended %q with the exit code %d, want %q and %d: %s", l.Stop, got, stop, exit, l.Reason)
	}
}

// firstRefusal is what a run was told when a gate refused what it handed over first.
func (h *house) firstRefusal(run int64) string {
	for _, e := range h.actions(run) {
		if attributes(h.t, e).Tool == sdk.ToolFinish && (e.Outcome == sdk.Validation || e.Outcome == sdk.Again) {
			return e.Body
		}
	}
	return ""
}

// handedOn holds that the call which delegated to a run came to its result, or to none.
func (h *house) handedOn(run sdk.Run, done bool) {
	h.t.Helper()
	for _, e := range h.actions(run.Delegator) {
		switch {
		case e.Path != run.DelegatedBy:
		case done != (e.State == sdk.StateResolved), done != strings.HasPrefix(e.Body, "{"):
			h.t.Errorf("the call that delegated came to %s %q", e.State, e.Body)
		}
	}
}

// everyRun are the runs that there are, also those of calls.
func (h *house) everyRun() []sdk.Run {
	h.t.Helper()
	all, err := h.store.Runs(context.Background(), sdk.RunFilter{Hidden: true, Children: true})
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// awaitOver waits for the end of a loop, and has another daemon go on each time that begun says so.
func (h *house) awaitOver(a Accepted, begun <-chan struct{}) {
	h.t.Helper()
	for deadline := time.After(20 * time.Second); ; {
		changed := h.store.Changed()
		if l := h.loop(a); l.Status != sdk.StatusQueued && l.Status != sdk.StatusRunning {
			return
		}
		select {
		case <-changed:
		case <-begun:
			h.cut()
			for tool := range serverTools {
				h.tools.remove("mcp__web__" + tool)
			}
			h.start()
		case <-deadline:
			h.t.Fatal("the loop does not end")
		}
	}
}

// player is the model of all agents of a place.
type player struct {
	gate
	setting
	begun chan<- struct{}

	mu   sync.Mutex
	led  map[string]bool
	hung bool // before the answer that is next
}

func (m *player) next(r sdk.Request) step {
	m.mu.Lock()
	defer m.mu.Unlock()
	prompt, tools := first(r), toolNames(r)
	steps := &m.gives
	switch {
	case slices.Contains(tools, sdk.ToolCreatePlan) && m.mode != "":
		return calls(assigning("worker", "work"))
	case slices.Contains(tools, sdk.ToolCreatePlan):
		return calls(assigning("it", "hand it over"))
	case prompt == "work":
		steps = &m.work
	case prompt != "hand it over":
		return m.leads(prompt, tools)
	}
	if m.restarts && !m.hung {
		m.hung = true
		return silent(m.begun)
	}
	m.hung = false
	if len(*steps) == 0 {
		return say("done with " + prompt)
	}
	s := (*steps)[0]
	*steps = (*steps)[1:]
	return s
}

// leads delegates once, and says then that it is done.
func (m *player) leads(prompt string, tools []string) step {
	if m.led[prompt] || !slices.Contains(tools, sdk.ToolDelegate) {
		return say("done with " + prompt)
	}
	if m.led == nil {
		m.led = map[string]bool{}
	}
	m.led[prompt] = true
	if m.asks.Agent == "far" && prompt == "lead" {
		return calls(giving("lead", "lead further"))
	}
	return calls(giving("it", "hand it over"))
}
