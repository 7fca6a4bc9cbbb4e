package team

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/schema"
)

var members = []sdk.Agent{
	{Name: "coder", Capabilities: []string{"code", "file_io", "unit tests"}},
	{Name: "tester", Capabilities: []string{"unit tests", "C++"}},
	{Name: "writer", Capabilities: []string{"docs"}},
}

// given are the agents of a plan, in their order.
func given(p Plan) string {
	var all []string
	for _, x := range p.Assignments {
		all = append(all, x.Agent)
	}
	return strings.Join(all, " ")
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		arguments   string
		mode        sdk.TeamMode // of the team; empty is parallel
		agents      string
		then        sdk.TeamMode
		says, fault string
	}{
		"two":            {arguments: `{"assignments":[{"agent":"coder","task":"a","writes":["src/**"],"reasoning":"r"},{"agent":"tester","task":"b"}],"reasoning":"r"}`, agents: "coder tester"},
		"in turn":        {arguments: `{"assignments":[{"agent":"coder","task":"a"}],"mode":"sequential"}`, agents: "coder", then: sdk.TeamSequential},
		"stays in turn":  {arguments: `{"assignments":[{"agent":"coder","task":"a"}],"mode":"parallel"}`, mode: sdk.TeamSequential, agents: "coder", then: sdk.TeamSequential},
		"one twice":      {arguments: `{"assignments":[{"agent":"coder","task":"Do  it"},{"agent":"coder","task":"do it"},{"agent":"coder","task":"more"}]}`, agents: "coder coder", says: "assignment 2 is dropped: coder has the same task already"},
		"unknown":        {arguments: `{"assignments":[{"agent":"boss","task":"a"},{"agent":"writer","task":"b"}]}`, agents: "writer", says: `assignment 1 is dropped: there is no "boss" in the team, which has coder, tester, writer`},
		"no task":        {arguments: `{"assignments":[{"agent":"coder","task":" "},{"agent":"writer","task":"b"}]}`, agents: "writer", says: "the task is empty"},
		"out of project": {arguments: `{"assignments":[{"agent":"coder","task":"a","writes":["../x"]},{"agent":"writer","task":"b"}]}`, agents: "writer", says: "leaves the project"},
		"nobody":         {arguments: `{"assignments":[{"agent":"boss","task":"a"}]}`, fault: "no assignment of the plan can be used: assignment 1"},
		"none":           {arguments: `{"assignments":[]}`, fault: "it has none"},
		"not at all":     {arguments: `[]`, fault: "cannot be read"},
		"no assignments": {arguments: `{"assignments":{}}`, fault: "cannot be read"},
		"something else": {arguments: `{"steps":[]}`, fault: "it has none"},
		"more than is asked": {
			arguments: `{"goal":"g","mode":7,"assignments":[{"agent":"coder","task":"a","id":1},{"agent":"writer","task":"b"}]}`, agents: "coder writer",
			says: `of assignment 1 not all is read: json: unknown field "id"`,
		},
		"one that is none": {
			arguments: `{"assignments":[{"agent":"coder","task":"a","writes":"src/**"},"x",null,{"agent":"writer","task":"b"}]}`, agents: "writer",
			says: "assignment 1 is dropped: it cannot be read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.mode == "" {
				c.mode = sdk.TeamParallel
			}
			if c.then == "" {
				c.then = sdk.TeamParallel
			}
			p, err := Read(json.RawMessage(c.arguments), names(members), c.mode)
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) || sdk.OutcomeOf(err) != sdk.Validation {
					t.Fatal(err)
				}
				return
			}
			if err != nil || given(p) != c.agents || p.Mode != c.then || !strings.Contains(p.Told(), c.says) || c.says == "" && len(p.Dropped) > 0 {
				t.Errorf("%v %q %s\n%s", err, given(p), p.Mode, p.Told())
			}
		})
	}
}

// TestPlansOfOneAnswer: a plan for each task is a plan for all.
func TestPlansOfOneAnswer(t *testing.T) {
	var p Plan
	for i, arguments := range []string{
		`{"assignments":[{"agent":"coder","task":"a"}]}`, `{"assignments":[{"agent":"writer","task":"b"},{"agent":"boss","task":"c"}],"mode":"sequential"}`,
		`{"assignments":[{"agent":"coder","task":"A"},{"agent":"coder","task":"d"}]}`,
	} {
		more, err := Read(json.RawMessage(arguments), names(members), sdk.TeamParallel)
		if err != nil {
			t.Fatal(err)
		}
		if p = p.And(more); i == 0 {
			p = more
		}
	}
	if given(p) != "coder writer coder" || p.Mode != sdk.TeamSequential || len(p.Dropped) != 2 || !strings.Contains(p.Told(), "coder has the same task already") {
		t.Errorf("%q %s\n%s", given(p), p.Mode, p.Told())
	}
}

// TestParameters: what models are shown can be compiled, and takes what Read takes.
func TestParameters(t *testing.T) {
	s, err := schema.Compile(Parameters(append(slices.Clone(members), sdk.Agent{Name: `od"d\`})))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Validate(json.RawMessage(`{"assignments":[{"agent":"boss","task":"a","writes":[]}],"mode":"sequential"}`)); err != nil {
		t.Error(err)
	}
}

func TestRoute(t *testing.T) {
	for name, c := range map[string]struct{ prompt, agents string }{
		"a word":                {"Write the docs, please.", "writer"},
		"in capitals":           {"DOCS!", "writer"},
		"within a word":         {"decode the latest docstring", "default"},
		"two words":             {"Add unit tests", "coder"},
		"of which one is there": {"Add tests to the unit", "default"},
		"as few as it takes":    {"code with unit tests", "coder"},
		"in the team's order":   {"docs and code", "coder writer"},
		"with signs":            {"port it to C++", "tester"},
		"a part of a name":      {"file io", "default"},
		"the name":              {"do file_io", "coder"},
		"nothing":               {"", "default"},
	} {
		t.Run(name, func(t *testing.T) {
			p, why := Route(c.prompt, "in full", members, sdk.TeamParallel)
			if given(p) != c.agents || why == "" || p.Assignments[0].Task.Task != "in full" {
				t.Errorf("%q: %q, %s", c.prompt, given(p), why)
			}
			if again := Routed("in full", p.Steps(nil), p.Mode); !reflect.DeepEqual(again, p) {
				t.Errorf("%q: %+v, by its steps %+v", c.prompt, p, again)
			}
		})
	}
}

// TestRouteCovers: whatever agents are good at, each capability that is named has one of them, and none could be left out.
func TestRouteCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var members []sdk.Agent
		for i := range rapid.IntRange(1, 6).Draw(t, "agents") {
			members = append(members, sdk.Agent{Name: fmt.Sprint("a", i), Capabilities: rapid.SliceOfN(rapid.StringMatching("[A-Cd-f]"), 0, 4).Draw(t, "capabilities")})
		}
		p, _ := Route("a b c d e", "x", members, sdk.TeamParallel)
		if given(p) == sdk.DefaultAgent {
			p.Assignments = nil
		}
		asked := map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true}
		chosen := slices.DeleteFunc(slices.Clone(members), func(a sdk.Agent) bool { return !slices.Contains(strings.Fields(given(p)), a.Name) })
		if good(asked, chosen...) != good(asked, members...) {
			t.Fatalf("%v has not all of %+v", chosen, members)
		}
		for i := range chosen {
			if good(asked, slices.Concat(chosen[:i], chosen[i+1:])...) == good(asked, members...) {
				t.Fatalf("%s could be left out of %+v", chosen[i].Name, chosen)
			}
		}
	})
	var many []sdk.Agent
	for i := range 2 * mostAssignments {
		many = append(many, sdk.Agent{Name: fmt.Sprint("a", i), Capabilities: []string{fmt.Sprint("c", i)}})
	}
	var all []string
	for _, a := range many {
		all = append(all, a.Capabilities...)
	}
	if p, _ := Route(strings.Join(all, " "), "x", many, sdk.TeamParallel); len(p.Assignments) != mostAssignments {
		t.Errorf("it has %d", len(p.Assignments))
	}
}

func TestSequentialHasWhatCameBefore(t *testing.T) {
	p := Plan{Mode: sdk.TeamSequential, Assignments: []Assignment{
		{Task: delegate.Task{Agent: "coder", Task: "make it"}}, {Task: delegate.Task{Agent: "tester", Task: "try it", Context: "carefully", Writes: []string{}}},
	}}
	if calls := p.Next(nil); len(calls) != 1 || string(calls[0]) != `{"agent":"coder","task":"make it"}` {
		t.Fatalf("%s", calls)
	}
	calls := p.Next([]Report{{Ended: true, Done: true, Text: strings.Repeat("ä", mostContext)}})
	if len(calls) != 1 {
		t.Fatal(len(calls))
	}
	task, err := delegate.Read(calls[0])
	if err != nil || task.Writes == nil || !strings.HasPrefix(task.Context, "carefully\n\ncoder, before you, was asked: make it\nIt came to:\nää") || !strings.HasSuffix(task.Context, "[the rest is left out]") {
		t.Errorf("%v %.100s", err, task.Context)
	}
}

// TestSequentialHasRoom: what went before leaves room for a long task, and is left out where there is none.
func TestSequentialHasRoom(t *testing.T) {
	reports := []Report{{Ended: true, Done: true, Text: strings.Repeat("a", mostContext)}, {Ended: true, Text: strings.Repeat("b", mostContext)}}
	for _, length := range []int{1, delegate.LongestText - mostContext, delegate.LongestText - 10<<10, delegate.LongestText} {
		long := delegate.Task{Agent: "coder", Task: strings.Repeat("x", length)}
		p := Plan{Mode: sdk.TeamSequential, Assignments: []Assignment{{Task: delegate.Task{Agent: "coder", Task: strings.Repeat("y", 9999)}}, {Task: delegate.Task{Agent: "writer", Task: "z"}}, {Task: long}}}
		task, err := delegate.Read(p.Next(reports)[0])
		if err != nil || (task.Context == "") != (length == delegate.LongestText) {
			t.Errorf("%d: %v, %.100q", length, err, task.Context)
		}
	}
}

// TestEveryAssignmentIsGivenOutOnce, in each mode, and its steps say so.
func TestEveryAssignmentIsGivenOutOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Plan{Mode: rapid.SampledFrom(sdk.TeamModes()).Draw(t, "mode")}
		for i := range rapid.IntRange(1, mostAssignments).Draw(t, "assignments") {
			p.Assignments = append(p.Assignments, Assignment{Task: delegate.Task{Agent: "coder", Task: fmt.Sprint(i)}})
		}
		var reports []Report
		var got []string
		for calls := p.Next(nil); len(calls) > 0; calls = p.Next(reports) {
			for _, c := range calls {
				task, err := delegate.Read(c)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, task.Task)
				reports = append(reports, Report{Ended: true, Done: rapid.Bool().Draw(t, "done"), Text: "x"})
			}
			for i, s := range p.Steps(reports) {
				over := s.Status == sdk.PlanDone || s.Status == sdk.PlanDropped
				if over != (i < len(reports)) || s.Number != i+1 {
					t.Fatalf("%d reports: %+v", len(reports), s)
				}
			}
		}
		for i, x := range p.Assignments {
			if len(got) != len(p.Assignments) || got[i] != x.Task.Task {
				t.Fatal(got)
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(`{"assignments":[{"agent":"coder","task":"a","writes":["src/**"]}],"mode":"sequential"}`)
	f.Add(`{"assignments":[{"agent":"coder"},{}]}`)
	f.Add(`{"assignments":7}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Read(json.RawMessage(text), names(members), sdk.TeamParallel)
		if err != nil {
			return
		}
		for _, c := range p.Next(nil) {
			if _, err := delegate.Read(c); err != nil {
				t.Error(err)
			}
		}
	})
}
