package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	agentplan "github.com/bothyd/bothy/daemon/internal/agent/plan"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// planned is a run with a plan of three steps, the last of which is not asked for, and the own tools of an agent.
type planned struct {
	*bench
	own   *Builtin
	agent sdk.Agent
}

func newPlanned(t *testing.T, steps ...string) *planned {
	t.Helper()
	b := newBench(t)
	p := &planned{bench: b, own: New(Config{
		Catalogue: func(context.Context, string) (*skill.Catalogue, error) { return skill.NewCatalogue(nil), nil },
		Budget:    func() float64 { return 2 },
		Entries:   b.s,
	}), agent: sdk.Agent{Name: "a", Tools: []string{"read_file"}}}
	all := agentplan.Plan{Goal: "g"}
	for _, s := range steps {
		all.Steps = append(all.Steps, agentplan.Step{Action: s})
	}
	b.commit(agentplan.Replace(nil, all.InRun(agentplan.Range{Until: 2}))...)
	return p
}

func (p *planned) turn() sdk.TurnTools {
	p.t.Helper()
	commit := func(ctx context.Context, c sdk.Change) (sdk.Receipt, error) { return p.s.Commit(ctx, c) }
	turn, err := p.own.Turn(p.t.Context(), sdk.TurnContext{Run: p.use.Run, Loop: sdk.Loop{ID: 0}, Admits: p.agent.Admits, Commit: commit})
	if err != nil {
		p.t.Fatal(err)
	}
	return turn
}

func (p *planned) call(arguments string) string {
	p.t.Helper()
	r, err := p.turn().Invoke(p.t.Context(), sdk.Invocation{Tool: sdk.ToolPlan, Arguments: json.RawMessage(arguments)}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return r.Output + r.Error
}

func (p *planned) offered() (names []string) {
	for _, t := range p.turn().Tools() {
		if p.agent.Admits(t) {
			names = append(names, t.Name)
		}
	}
	return names
}

// TestPlanIsOffered in a run with a plan to whichever agent works there, and else to one that names it.
func TestPlanIsOffered(t *testing.T) {
	with, without := newPlanned(t, "a", "b", "c"), newPlanned(t)
	if got := with.offered(); fmt.Sprint(got) != "[plan]" {
		t.Errorf("an agent with other tools has %v", got)
	}
	if text := with.turn().System(); !strings.Contains(text, "This run has a plan") {
		t.Errorf("the system text says %q", text)
	}
	with.agent.Excluded = []string{"plan"}
	if got := with.offered(); got != nil {
		t.Errorf("an agent that must not have it has %v", got)
	}
	if got := without.offered(); got != nil {
		t.Errorf("without a plan an agent has %v", got)
	}
	without.agent.Tools = nil // all that globs name
	if got := without.offered(); got != nil {
		t.Errorf("without a plan an agent that names nothing has %v", got)
	}
	without.agent.Tools = []string{"plan"}
	if got := without.offered(); fmt.Sprint(got) != "[plan]" {
		t.Errorf("an agent that names it has %v", got)
	}
	if got := without.call(`{"steps":[{"text":"first"}]}`); got != "Completed 0/1 steps:\n○ 1. first" {
		t.Errorf("a plan of its own is %q", got)
	}
}

func TestPlanIsMarked(t *testing.T) {
	p := newPlanned(t, "a", "b", "c")
	for _, c := range []struct{ arguments, want string }{
		{`{}`, "Completed 0/2 steps:\n○ 1. a\n○ 2. b\n- 3. c (not asked for)"},
		{`{"steps":[{"number":1,"status":"doing"}]}`, "Completed 0/2 steps:\n⧗ 1. a (in progress)\n○ 2. b\n- 3. c (not asked for)"},
		{`{"steps":[{"number":1,"status":"done","note":"it holds"},{"number":2,"text":"B"},{"text":"d"}]}`, "Completed 1/3 steps:\n✓ 1. a: it holds\n○ 2. B\n- 3. c (not asked for)\n○ 4. d"},
		{`{"steps":[{"text":" d"}]}`, "Completed 1/3 steps:\n✓ 1. a: it holds\n○ 2. B\n- 3. c (not asked for)\n○ 4. d"}, // the call is made again
		{`{"steps":[{"number":2,"status":"done"},{"number":3,"status":"done"}]}`, "step 3 is not asked for: leave it as it is"},
		{`{"steps":[{"nummer":2}]}`, "the arguments of plan cannot be read"},
		{`{"steps":[]}`, "Completed 1/3 steps:\n✓ 1. a: it holds\n○ 2. B\n- 3. c (not asked for)\n○ 4. d"},
	} {
		if got := p.call(c.arguments); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s gives\n%s\nand not\n%s", c.arguments, got, c.want)
		}
	}
}

// TestPlanIsMarkedAtTheSameTime: no mark and no step is lost.
func TestPlanIsMarkedAtTheSameTime(t *testing.T) {
	p := newPlanned(t, "a", "b")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { p.call(fmt.Sprintf(`{"steps":[{"text":"new %d"},{"number":%d,"status":"done"}]}`, i, i%2+1)) })
	}
	all.Wait()
	if got := p.call(`{}`); !strings.HasPrefix(got, "Completed 2/10 steps:") {
		t.Errorf("the plan is\n%s", got)
	}
}
