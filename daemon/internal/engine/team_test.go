package engine

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/agent/plan"
	"github.com/bothyd/bothy/sdk"
)

// assigning is a call that gives tasks to agents, in pairs of an agent and its task.
func assigning(pairs ...string) call {
	var all []map[string]string
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, map[string]string{"agent": pairs[i], "task": pairs[i+1]})
	}
	text, _ := json.Marshal(map[string]any{"assignments": all})
	return call{sdk.ToolCreatePlan, string(text)}
}

// teamHouse is a house with the team of a coder and a writer.
func teamHouse(t testing.TB, mode sdk.TeamMode, finish *sdk.FinishSpec, steps map[string][]step) *house {
	h := prepareHouse(t)
	h.withSkills(aSkill("greet", "hello"))
	guards := h.agents["default"].Guards
	h.agents["team"] = sdk.Agent{
		Agents: []string{"coder", "writer"}, Tools: []string{sdk.ToolDelegate}, MCP: []string{}, Mode: sdk.ModeRestricted, Guards: guards, Finish: finish, Team: &sdk.Team{Mode: mode},
	}
	h.agents["coder"] = sdk.Agent{Capabilities: []string{"code"}, Mode: sdk.ModeFull, Guards: guards}
	h.agents["writer"] = sdk.Agent{Capabilities: []string{"docs"}, Mode: sdk.ModeFull, Guards: guards}
	if finish != nil {
		h.config.Results.Done = h.done
	}
	h.plays(steps)
	return h
}

// tasks are the prompts of a run's children, each with its agent.
func (h *house) tasks(run int64) (all []string) {
	for _, r := range h.childrenIn(run) {
		l := h.promptOf(r.ID)
		all = append(all, l.Agent+": "+l.Prompt)
	}
	return all
}

// teamSteps are the lines of a run's plan.
func (h *house) teamSteps(run int64) (all []string) {
	entries, err := h.store.Entries(context.Background(), sdk.EntryQuery{Run: run, Pattern: plan.Pattern})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, s := range sdk.PlanOf(entries) {
		all = append(all, s.Line())
	}
	return all
}

// TestTeam: a turn plans, the engine gives the tasks out, a turn puts together, and each has the one tool that it is for.
func TestTeam(t *testing.T) {
	both := assigning("coder", "make it", "boss", "watch", "writer", "tell it", "coder", "make it")
	summary := &sdk.FinishSpec{Schema: json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}`)}
	for name, c := range map[string]struct {
		mode         sdk.TeamMode
		finish       *sdk.FinishSpec
		prompt       string
		steps        []step
		tasks, plan  []string
		stop         string
		offered      []string // to the model of the team, turn by turn
		turns        int
		lastIsPrompt string // that the last child's prompt has
	}{
		"together": {
			sdk.TeamParallel, nil, "do it", []step{calls(both), say("all")}, []string{"coder: make it", "writer: tell it"},
			[]string{"✓ 1. coder: make it", "✓ 2. writer: tell it"}, sdk.StopAnswer, []string{"create_plan", ""}, 3, "tell it",
		},
		"in turn, with a result": {
			sdk.TeamSequential, summary, "do it", []step{calls(both), calls(handOver(`{}`)), say("so"), calls(handOver(`{"summary":"s"}`))}, []string{"coder: make it", "writer: tell it\n\nContext:"},
			[]string{"✓ 1. coder: make it", "✓ 2. writer: tell it"}, sdk.StopTerminal, []string{"create_plan", "finish_task", "finish_task", "finish_task"}, 6, "coder, before you, was asked: make it\nIt came to:\ndone with make it",
		},
		"without a plan": {
			sdk.TeamParallel, nil, "the docs of it", []step{say("I would ask the writer"), say("all")}, []string{"writer: the docs of it"},
			[]string{"✓ 1. writer: the docs of it"}, sdk.StopAnswer, []string{"create_plan", ""}, 3, "",
		},
		"with nobody": {
			sdk.TeamParallel, summary, "greet", []step{calls(assigning("boss", "x")), calls(handOver(`{"summary":"s"}`))}, []string{"default: greet"},
			[]string{"✓ 1. default: greet"}, sdk.StopTerminal, []string{"create_plan", "finish_task"}, 3, "",
		},
		"with a tool of others": {
			sdk.TeamParallel, nil, "code", []step{calls(giving("coder", "x"), numbered("write", 1)), say("all")}, []string{"coder: code"},
			[]string{"✓ 1. coder: code"}, sdk.StopAnswer, []string{"create_plan", ""}, 3, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			// what the children of a routed prompt answer is among the steps of that prompt, before the last
			h := teamHouse(t, c.mode, c.finish, nil)
			var mine []sdk.Request
			left := c.steps
			h.models.each = func(r sdk.Request) step {
				if r.Messages == nil || !isTeams(r, c.steps, left) {
					return say("done with " + first(r))
				}
				mine = append(mine, r)
				s := left[0]
				left = left[1:]
				return s
			}
			h.start()
			a := h.submit(Submission{Agent: "team", Prompt: c.prompt})
			l := h.await(a)
			if l.Stop != c.stop || l.Status != sdk.StatusOK {
				t.Fatalf("%+v", l)
			}
			tasks := h.tasks(a.Run.ID)
			for i := range max(len(tasks), len(c.tasks)) {
				if i >= len(tasks) || i >= len(c.tasks) || !strings.HasPrefix(tasks[i], c.tasks[i]) {
					t.Fatalf("the tasks are %q", tasks)
				}
			}
			if !strings.Contains(tasks[len(tasks)-1], c.lastIsPrompt) {
				t.Errorf("the last task is %q", tasks[len(tasks)-1])
			}
			if got := h.teamSteps(a.Run.ID); !slices.Equal(got, c.plan) {
				t.Errorf("the plan is %q", got)
			}
			var offered []string
			for _, r := range mine {
				offered = append(offered, strings.Join(toolNames(r), " "))
			}
			if !slices.Equal(offered, c.offered) {
				t.Errorf("offered were %q", offered)
			}
			if turns, err := h.store.Turns(context.Background(), a.Run.ID); err != nil || len(turns) != c.turns {
				t.Errorf("%d turns, %v", len(turns), err)
			}
			if called := h.tools.calledTools(); len(called) > 0 {
				t.Errorf("called were %v", called)
			}
		})
	}
}

// first is the first prompt of a request.
func first(r sdk.Request) string {
	for _, m := range r.Messages {
		if m.Role == sdk.RoleUser {
			text, _, _ := strings.Cut(m.Text, "\n")
			return text
		}
	}
	return ""
}

// isTeams reports whether the request is of the team's own loop: its first has the tool to plan, and the others
// have had a call of delegate.
func isTeams(r sdk.Request, all, left []step) bool {
	if len(left) == len(all) {
		return slices.Contains(toolNames(r), sdk.ToolCreatePlan)
	}
	return len(left) > 0 && slices.ContainsFunc(r.Messages, func(m sdk.Message) bool {
		return slices.ContainsFunc(m.Calls, func(c sdk.Call) bool { return c.Tool == sdk.ToolDelegate })
	})
}

// TestTeamGoesOn: a team whose daemon stops in any of its turns goes on in the same one, and gives each task out once.
func TestTeamGoesOn(t *testing.T) {
	summary := &sdk.FinishSpec{Schema: json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}`)}
	for name, hangs := range map[string]string{"in the plan": "do it", "in the first task": "make it", "in the second task": "tell it", "at the end": "end"} {
		for _, mode := range sdk.TeamModes() {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				h := teamHouse(t, mode, summary, nil)
				begun := make(chan struct{}, 1)
				var hung atomic.Bool
				h.models.each = func(r sdk.Request) step {
					tools, at := toolNames(r), first(r)
					if slices.Contains(tools, sdk.ToolFinish) {
						at = "end"
					}
					if at == hangs && hung.CompareAndSwap(false, true) {
						return hanging(begun)
					}
					switch {
					case slices.Contains(tools, sdk.ToolCreatePlan):
						return calls(assigning("coder", "make it", "writer", "tell it"))
					case at == "end":
						return calls(handOver(`{"summary":"s"}`))
					}
					return say("done with " + at)
				}
				h.start()
				a := h.submit(Submission{Agent: "team", Prompt: "do it"})
				<-begun
				if mode == sdk.TeamParallel {
					h.cut()
				} else if err := h.engine.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				h.start()
				if l := h.await(a); l.Stop != sdk.StopTerminal || l.Status != sdk.StatusOK {
					t.Fatalf("%+v", l)
				}
				if tasks := h.tasks(a.Run.ID); len(tasks) != 2 || !strings.HasPrefix(tasks[0], "coder: make it") || !strings.HasPrefix(tasks[1], "writer: tell it") {
					t.Errorf("the tasks are %q", tasks)
				}
				if got := h.teamSteps(a.Run.ID); !slices.Equal(got, []string{"✓ 1. coder: make it", "✓ 2. writer: tell it"}) {
					t.Errorf("the plan is %q", got)
				}
			})
		}
	}
}

// TestTasksAreMarkedAsTheyEnd: of tasks that are worked on together each is marked when it has ended, and not with the last.
func TestTasksAreMarkedAsTheyEnd(t *testing.T) {
	goOn := make(chan struct{})
	h := teamHouse(t, sdk.TeamParallel, nil, map[string][]step{
		"do it":   {calls(assigning("coder", "make it", "writer", "tell it", "coder", "break it"))},
		"make it": {say("made")}, "break it": {failing(sdk.Errorf(sdk.Internal, "no answer today"))},
		"tell it": {func(ctx context.Context, r sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
			select {
			case <-goOn:
				return say("told")(ctx, r, send, retry)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}},
	})
	h.start()
	a := h.submit(Submission{Agent: "team"})
	shown := func() string { return strings.Join(h.teamSteps(a.Run.ID), "\n") }
	h.until("those that have ended are marked", func() bool {
		got := shown()
		return strings.Contains(got, "✓ 1. coder: make it\n⧗ 2. writer: tell it (in progress)\n✗ 3. coder: break it (dropped): ") && strings.Contains(got, "no answer today")
	})
	before := shown()
	close(goOn)
	h.await(a)
	if got, want := shown(), strings.Replace(before, "⧗ 2. writer: tell it (in progress)", "✓ 2. writer: tell it", 1); got != want {
		t.Errorf("the plan is %s\nwant %s", got, want)
	}
	h.check(a.Run.ID)
}

// TestPlainTextOfATeam: who puts a team's work together is not told to do what it has no tool for.
func TestPlainTextOfATeam(t *testing.T) {
	h := teamHouse(t, sdk.TeamParallel, &sdk.FinishSpec{Schema: json.RawMessage(`{"type":"object"}`)}, nil)
	var told []string
	h.models.each = func(r sdk.Request) step {
		tools := toolNames(r)
		switch {
		case slices.Contains(tools, sdk.ToolCreatePlan):
			return calls(assigning("coder", "make it"))
		case slices.Contains(tools, sdk.ToolFinish):
			told = append(told, r.Messages[len(r.Messages)-1].Text)
		}
		return say("so")
	}
	h.start()
	a := h.submit(Submission{Agent: "team", Prompt: "do it"})
	if l := h.await(a); l.Stop != sdk.StopNotFinished || len(told) != 3 {
		t.Fatalf("%+v, told %q", l, told)
	}
	for _, text := range told[1:] {
		if !strings.Contains(text, "call finish_task with its result") || !strings.Contains(text, "no other tool") && !strings.Contains(text, "the only tool") {
			t.Errorf("told %q", text)
		}
	}
	h.check(a.Run.ID)
}

// TestStepsOfATeamThatWasStopped: they say what ended, also where no turn is opened any more to mark it.
func TestStepsOfATeamThatWasStopped(t *testing.T) {
	for _, mode := range sdk.TeamModes() {
		for name, c := range map[string]struct {
			turns int
			want  []string
		}{
			"an abort": {99, []string{"✓ 1. coder: make it", "○ 2. writer: tell it", "○ 3. coder: sell it"}},
			"a guard":  {2, []string{"✓ 1. coder: make it", "○ 2. writer: tell it", "○ 3. coder: sell it"}},
		} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				begun := make(chan struct{}, 2)
				h := teamHouse(t, mode, nil, nil)
				team := h.agents["team"]
				team.Guards.MaxTurns = c.turns
				h.agents["team"] = team
				h.models.each = func(r sdk.Request) step {
					switch at := first(r); {
					case slices.Contains(toolNames(r), sdk.ToolCreatePlan):
						return calls(assigning("coder", "make it", "writer", "tell it", "coder", "sell it"))
					case c.turns > 2 && (at == "tell it" || at == "sell it" && mode == sdk.TeamParallel):
						return hanging(begun)
					default:
						return say("done with " + at)
					}
				}
				h.start()
				a := h.submit(Submission{Agent: "team", Prompt: "do it"})
				want := c.want
				switch {
				case c.turns > 2:
					<-begun
					h.until("the first task is marked", func() bool { return strings.HasPrefix(h.teamSteps(a.Run.ID)[0], "✓") })
					if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
						t.Fatal(err)
					}
				case mode == sdk.TeamParallel: // all were given out in that turn
					want = []string{"✓ 1. coder: make it", "✓ 2. writer: tell it", "✓ 3. coder: sell it"}
				}
				h.await(a)
				if got := h.teamSteps(a.Run.ID); !slices.Equal(got, want) {
					t.Errorf("the plan is %q", got)
				}
				h.check(a.Run.ID)
			})
		}
	}
}

// TestForkOfATeam: a team can be forked after each of its turns, at work and later, with the plan as it was then.
func TestForkOfATeam(t *testing.T) {
	begun := make(chan struct{}, 1)
	var hung atomic.Bool
	h := teamHouse(t, sdk.TeamSequential, nil, nil)
	h.models.each = func(r sdk.Request) step {
		switch at := first(r); {
		case slices.Contains(toolNames(r), sdk.ToolCreatePlan):
			return calls(assigning("coder", "make it", "writer", "tell it"))
		case at == "tell it" && hung.CompareAndSwap(false, true):
			return hanging(begun)
		default:
			return say("done with " + at)
		}
	}
	h.start()
	a := h.submit(Submission{Agent: "team", Prompt: "do it"})
	<-begun
	forks := func(want ...string) {
		t.Helper()
		for i, want := range want {
			fork, err := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID, Turn: i + 1})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(h.teamSteps(fork.ID), ", "); got != want {
				t.Errorf("after turn %d it has %s", i+1, got)
			}
		}
	}
	first := "⧗ 1. coder: make it (in progress), ○ 2. writer: tell it"
	forks("", first)
	h.cut()
	h.start()
	h.await(a)
	all := "✓ 1. coder: make it, ✓ 2. writer: tell it"
	forks("", first, "✓ 1. coder: make it, ⧗ 2. writer: tell it (in progress)", all)
	h.check(a.Run.ID)
}

// TestRoutingHolds: who a prompt went to without a plan stays so, whatever the agents are good at when a daemon goes on.
func TestRoutingHolds(t *testing.T) {
	h := teamHouse(t, sdk.TeamSequential, nil, nil)
	begun := make(chan struct{}, 1)
	var hung atomic.Bool
	h.models.each = func(r sdk.Request) step {
		if first(r) == "code and docs" && !slices.Contains(toolNames(r), sdk.ToolCreatePlan) && hung.CompareAndSwap(false, true) {
			return hanging(begun)
		}
		return say("done")
	}
	h.start()
	a := h.submit(Submission{Agent: "team", Prompt: "code and docs"})
	<-begun
	h.cut()
	h.agents = maps.Clone(h.agents)
	coder, writer := h.agents["coder"], h.agents["writer"]
	coder.Capabilities, writer.Capabilities = nil, []string{"code", "docs"}
	h.agents["coder"], h.agents["writer"] = coder, writer
	h.start()
	if l := h.await(a); l.Stop != sdk.StopAnswer || l.Status != sdk.StatusOK {
		t.Fatalf("%+v", l)
	}
	if tasks := h.tasks(a.Run.ID); len(tasks) != 2 || tasks[0] != "coder: code and docs" || !strings.HasPrefix(tasks[1], "writer: code and docs\n") {
		t.Errorf("the tasks are %q", tasks)
	}
	if got := h.teamSteps(a.Run.ID); !slices.Equal(got, []string{"✓ 1. coder: code and docs", "✓ 2. writer: code and docs"}) {
		t.Errorf("the plan is %q", got)
	}
	h.check(a.Run.ID)
}

// TestPlannerOfATeam: another model may plan, and the prompt's own puts together.
func TestPlannerOfATeam(t *testing.T) {
	h := teamHouse(t, sdk.TeamParallel, nil, nil)
	team := h.agents["team"]
	team.Team.Planner = "planner"
	h.models.each = func(r sdk.Request) step {
		if slices.Contains(toolNames(r), sdk.ToolCreatePlan) {
			return calls(assigning("coder", "make it"))
		}
		return say("done with " + first(r))
	}
	h.start()
	a := h.submit(Submission{Agent: "team", Prompt: "do it"})
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Fatalf("%+v", l)
	}
	turns, err := h.store.Turns(t.Context(), a.Run.ID)
	if err != nil || len(turns) != 3 || turns[0].Model != "planner" || turns[2].Model != a.Model {
		t.Errorf("%+v, %v", turns, err)
	}
	if says := mayDo(team, sdk.ModeRestricted, 0); says != "plans, gives the work to coder, writer, and puts together what they come to" {
		t.Error(says)
	}
}

// TestChildOfATeam: a team may be asked by another agent, and those that it asks are two delegations below the prompt.
func TestChildOfATeam(t *testing.T) {
	h := teamHouse(t, sdk.TeamParallel, nil, nil)
	h.agents["lead"] = sdk.Agent{Agents: []string{"team"}, Mode: sdk.ModeRestricted, Guards: h.agents["default"].Guards}
	var asked atomic.Bool
	h.models.each = func(r sdk.Request) step {
		switch tools := toolNames(r); {
		case slices.Contains(tools, sdk.ToolCreatePlan):
			return calls(assigning("writer", "tell it"))
		case slices.Contains(tools, sdk.ToolDelegate) && asked.CompareAndSwap(false, true):
			return calls(giving("team", "do it all"))
		}
		return say("done with " + first(r))
	}
	h.start()
	a := h.submit(Submission{Agent: "lead", Prompt: "lead it"})
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Fatalf("%+v", l)
	}
	children := h.childrenIn(a.Run.ID)
	if len(children) != 1 || h.promptOf(children[0].ID).Stop != sdk.StopAnswer {
		t.Fatalf("%+v", children)
	}
	if tasks := h.tasks(children[0].ID); !slices.Equal(tasks, []string{"writer: tell it"}) {
		t.Errorf("the tasks are %q", tasks)
	}
}

// TestTeamHasWhatGoesWithThePrompt: files and images that are attached to a team's prompt are read by who plans, by each
// member, and by who puts together; also without a plan, and by a daemon that goes on.
func TestTeamHasWhatGoesWithThePrompt(t *testing.T) {
	const whole = "the docs\n\ntext of a.go"
	for name, c := range map[string]struct {
		plan step
		task string // as the member reads it
	}{
		"planned": {calls(assigning("writer", "tell it")), "tell it\n\nThe prompt that your team works on, with what goes with it:\n" + whole},
		"routed":  {say("no plan"), whole},
	} {
		t.Run(name, func(t *testing.T) {
			h := teamHouse(t, sdk.TeamParallel, nil, nil)
			h.config.Attachments = fakeAttachments{}
			begun := make(chan struct{}, 1)
			var asked []string
			h.models.each = func(r sdk.Request) step {
				m := r.Messages[slices.IndexFunc(r.Messages, func(m sdk.Message) bool { return m.Role == sdk.RoleUser })]
				if asked = append(asked, m.Text); len(m.Media) != 1 || m.Media[0].Data != dot {
					t.Errorf("request %d has the images %+v", len(asked), m.Media)
				}
				switch len(asked) {
				case 1:
					return hanging(begun)
				case 2:
					return c.plan
				}
				return say("done")
			}
			h.start()
			a := h.submit(Submission{Agent: "team", Prompt: "the docs", Attachments: []sdk.Attachment{{Path: "a.go"}}, Media: images(dot)})
			<-begun
			h.cut()
			h.start()
			if l := h.await(a); l.Stop != sdk.StopAnswer || l.Status != sdk.StatusOK {
				t.Fatalf("%+v", l)
			}
			if want := []string{whole, whole, c.task, whole}; !slices.Equal(asked, want) {
				t.Errorf("read was %q", asked)
			}
			child := h.childrenIn(a.Run.ID)[0]
			if l := h.promptOf(child.ID); l.Prompt != "tell it" && l.Prompt != "the docs" {
				t.Errorf("people see the task as %q", l.Prompt)
			}
			h.check(a.Run.ID, child.ID)
		})
	}
}
