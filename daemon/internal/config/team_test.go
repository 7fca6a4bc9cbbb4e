package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestTeam: a team is an agent that has no tools but its agents.
func TestTeam(t *testing.T) {
	c, diags := small(t, `
guard {
  max_turns = 7
}
agent "a" {}
agent "lead" {
  agents = ["both"]
}
team "both" {
  description = "Both."
  agents      = ["a", "default"]
  mode        = "sequential"
  synthesis   = { type = "object", properties = { summary = { type = "string" } } }
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	a := c.Agents["both"]
	if a.Team == nil || a.Team.Mode != sdk.TeamSequential || !reflect.DeepEqual(a.Agents, []string{"a", "default"}) || a.Guards.MaxTurns != 7 || a.Mode != c.Policy.Mode || a.Finish == nil {
		t.Errorf("%+v", a)
	}
	if a.Admits(sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "bash"}, Plugin: "bash"}) || a.UsesMCP("notes") {
		t.Error("a team has tools of its own")
	}
	if at := c.Origins["both"]; !strings.HasSuffix(at.Place, ":9") {
		t.Errorf("%+v", at)
	}
}

func TestTeamMistakes(t *testing.T) {
	for text, says := range map[string]string{
		"team \"default\" {\n  agents = [\"default\"]\n}\n":                                `There is an agent "default" too`,
		"team \"a\" {\n  agents = [\"b\"]\n}\nteam \"b\" {\n  agents = [\"default\"]\n}\n": `"b" is in the team "a", and there is no such agent`,
		"team \"a\" {\n}\n": `"agents" is required`,
		"team {\n}\n":       "Missing name",
	} {
		if _, diags := small(t, text); !diags.HasErrors() || !strings.Contains(diags.Error(), says) {
			t.Errorf("%s: %v", text, diags)
		}
	}
}
