package rulebook

import (
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestRememberedCommands: a command that is not known by its words alone is no rule's, and
// with it none of its line.
func TestRememberedCommands(t *testing.T) {
	whole := func(argv ...string) *sdk.WholeCommand { return &sdk.WholeCommand{Argv: argv, Dir: "/workspace"} }
	for name, c := range map[string]struct {
		seen []sdk.SeenCommand
		want int
	}{
		"one":              {[]sdk.SeenCommand{{Verdict: sdk.Propose, Whole: whole("make")}, {Verdict: sdk.Allow}}, 1},
		"one twice":        {[]sdk.SeenCommand{{Verdict: sdk.Propose, Whole: whole("make")}, {Verdict: sdk.Deny, Whole: whole("make")}}, 1},
		"two":              {[]sdk.SeenCommand{{Verdict: sdk.Propose, Whole: whole("make")}, {Verdict: sdk.Propose, Whole: whole("rm", "a b")}}, 2},
		"one is not":       {[]sdk.SeenCommand{{Verdict: sdk.Propose, Whole: whole("make")}, {Verdict: sdk.Propose, Text: "$x"}}, 0},
		"nothing to ask":   {[]sdk.SeenCommand{{Verdict: sdk.Allow}}, 0},
		"nothing was seen": {nil, 0},
	} {
		call := Call{Tool: sdk.Tool{ToolSpec: sdk.ToolSpec{Command: "command"}}, Decision: sdk.Decision{Commands: c.seen}}
		if got, err := call.commands(); len(got) != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestARuleOfAnEarlierVersion: the names that modes had are read as those that they have.
func TestARuleOfAnEarlierVersion(t *testing.T) {
	rule, ok := ruleOf(sdk.Entry{Attributes: json.RawMessage(`{"id":"r1","name":"remembered_r1","source":"remembered","verdict":"allow","leaves":["full"],"exact":"e"}`)})
	if !ok || len(rule.Modes) != 1 || rule.Modes[0] != sdk.ModeFull || rule.Exact != "e" {
		t.Errorf("the rule is %+v", rule)
	}
}
