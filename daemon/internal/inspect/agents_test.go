package inspect

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// TestTaken: a block has the agents that it names, with no more tools than both sides say.
func TestTaken(t *testing.T) {
	object := json.RawMessage(`{"type":"object"}`)
	m := &sdk.Manifest{Agents: []sdk.AgentSpec{
		{Name: "reviewer", Description: "Reviews.", Persona: "Be kind.", Tools: []string{"read_*", "grep"}, Schema: object},
		{Name: "own", Description: "Has the tools of its plugin."},
		{Name: "array", Description: "d", Schema: json.RawMessage(`[]`)},
		{Name: "mute"},
	}}
	judged := &sdk.FinishSpec{Schema: object, Validator: "team-tools"}
	for name, c := range map[string]struct {
		agents, tools []string
		want          []sdk.Agent
		wrong         string
	}{
		"none": {},
		"one": {agents: []string{"reviewer"}, want: []sdk.Agent{
			{Name: "reviewer", Description: "Reviews.", Persona: "Be kind.", Tools: []string{"read_*", "grep"}, Finish: judged},
		}},
		"its own tools": {agents: []string{"own"}, want: []sdk.Agent{
			{Name: "own", Description: "Has the tools of its plugin.", Tools: []string{"team-tools__*"}},
		}},
		"narrowed": {agents: []string{"reviewer", "reviewer"}, tools: []string{"read_file", "write_file"}, want: []sdk.Agent{
			{Name: "reviewer", Description: "Reviews.", Persona: "Be kind.", Tools: []string{"read_file"}, Finish: judged},
		}},
		"all but none": {agents: []string{"reviewer"}, tools: []string{"write_file"}, wrong: "lets it have none of these"},
		"no tools":     {agents: []string{"reviewer"}, tools: []string{}, wrong: "lets it have none of these"},
		"unknown":      {agents: []string{"reviwer"}, wrong: "It declares: reviewer, own, array, mute."},
		"no schema":    {agents: []string{"array"}, wrong: "JSON Schema"},
		"no words":     {agents: []string{"mute"}, wrong: "no description"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := Spec{Instance: "team-tools", Agents: c.agents, AgentTools: c.tools}
			taken, wrong := spec.Taken(m)
			if !reflect.DeepEqual(taken, c.want) {
				t.Errorf("got  %+v\nwant %+v", taken, c.want)
			}
			if (len(wrong) > 0) != (c.wrong != "") || len(wrong) > 0 && !strings.Contains(wrong[0].Detail, c.wrong) {
				t.Errorf("%+v, want %q", wrong, c.wrong)
			}
		})
	}
}

// TestCommonNarrows: whatever both lists are, what they have in common fits no name that one of them does not.
func TestCommonNarrows(t *testing.T) {
	fits := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(p string) bool { ok, err := path.Match(p, name); return ok && err == nil })
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*?\[\]\\-]{1,5}`)
		a, b := rapid.SliceOfN(pattern, 0, 3).Draw(t, "a"), rapid.SliceOfN(pattern, 0, 3).Draw(t, "b")
		both := common(a, b)
		for range 20 {
			name := rapid.StringMatching(`[ab]{0,5}`).Draw(t, "name")
			if fits(both, name) && !(fits(a, name) && fits(b, name)) {
				t.Fatalf("%q fits %q of %q and %q", name, both, a, b)
			}
		}
	})
	if got := common([]string{"read_*", "grep", "w?"}, []string{"*"}); !slices.Equal(got, []string{"read_*", "grep", "w?"}) {
		t.Errorf("under all: %q", got)
	}
}
