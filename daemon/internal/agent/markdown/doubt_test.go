package markdown

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestDoubtGivesLess: what a file says in a way that nobody can read, or twice in two ways, gives its agent no more than
// the strictest reading.
func TestDoubtGivesLess(t *testing.T) {
	type is struct {
		bash   bool     // it has the tool
		asks   bool     // its mode is the one that asks
		agents []string // to whom it may delegate
		skills []string // nil is all
	}
	for head, want := range map[string]is{
		"permission:\n  bash: [deny]":                                                   {},
		"permission:\n  bash: no":                                                       {},
		"permission:\n  bash: {\"*\": allow, \"rm *\": [deny]}":                         {bash: true, asks: true},
		"permission:\n  bash: {\"*\": allow, \"rm *\": forbid}":                         {bash: true, asks: true},
		"permission:\n  bash: {\"rm *\": false}":                                        {bash: true, asks: true},
		"permission:\n  bash: {\"*\": {x: allow}}":                                      {},
		"permission:\n  bash: {\"*\": ask}":                                             {bash: true, asks: true},
		"permission:\n  bash: {\"ls *\": allow, \"*\": true}":                           {bash: true},
		"permission:\n  bash:":                                                          {bash: true},
		"permissions:\n  bash: deny\npermission:\n  read: allow":                        {},
		"tools: [Bash]\npermission: [Bash]":                                             {},
		"tools: [Bash]\ndisallowedTools: {Read: true}":                                  {},
		"tools: [Bash]\ndisallowedTools: [{Read: true}]":                                {},
		"tools: [\"*\", \"!Bash\"]":                                                     {},
		"disallowedTools: \"[Bash\"":                                                    {},
		"disallowedTools: \"(rm *)\"":                                                   {},
		"permission:\n  \"[bash\": deny":                                                {},
		"disallowedTools: NotebookEdit":                                                 {bash: true},
		"tools: [Bash, Read, \"!Bash\"]":                                                {},
		"agents: [a, b]\npermission:\n  task: deny":                                     {bash: true},
		"agents: [a, b]\npermission:\n  task: {\"*\": deny}":                            {bash: true},
		"agents: [a, b]\npermission:\n  task: {\"*\": false, a: allow}":                 {bash: true, agents: []string{"a"}},
		"agents: [a, b, b2]\npermission:\n  task: {\"*\": allow, \"b*\": deny}":         {bash: true, agents: []string{"a"}},
		"agents: [a, b]\npermission:\n  task: {\"[\": deny}":                            {bash: true},
		"permission:\n  task: {a: allow}\npermissions:\n  agent: {\"*\": deny, b: ask}": {bash: true, agents: []string{"b"}},
		"permission:\n  skill: {\"*\": false, a: allow}":                                {bash: true, skills: []string{"a"}},
		"permission:\n  skill: {\"*\": allow, a: allow, b: deny}":                       {bash: true, skills: []string{"a"}},
		"permission:\n  skill: {\"*\": allow, a: ask}":                                  {bash: true},
	} {
		x := Parse([]byte("---\nname: x\ndescription: d\n"+head+"\n---\nhi\n"), "x.md")
		a := x.Agent
		got := is{bash: a.Admits(sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "bash"}, Plugin: "bash"}), asks: a.Mode == sdk.ModeInteractive, agents: a.Agents, skills: a.Skills}
		same := got.bash == want.bash && got.asks == want.asks && strings.Join(got.agents, " ") == strings.Join(want.agents, " ") &&
			(got.skills == nil) == (want.skills == nil) && strings.Join(got.skills, " ") == strings.Join(want.skills, " ")
		if !x.Loaded || !same {
			t.Errorf("%s\nis %+v, want %+v; %v", head, got, want, x.notes)
		}
	}
	for head, want := range map[string]string{
		"finish:": "finish",
		"finish:\n  schema: {type: object}\nfinish:":                                               "finish",
		"finish:\n  schema: {type: object, properties: {summary: {type: string}}}\n  prove: tests": "tests_verified",
	} {
		if x := Parse([]byte("---\nname: x\ndescription: d\n"+head+"\n---\nhi\n"), "x.md"); x.Loaded || !strings.Contains(strings.Join(x.notes, "\n"), want) {
			t.Errorf("%s\nis read: %v", head, x.notes)
		}
	}
	x := Parse([]byte("---\nname: x\ndescription: d\ntools: Read\nallowed-tools: Bash\n---\nhi\n"), "x.md")
	if !strings.Contains(strings.Join(x.notes, "\n"), "the field allowed-tools says what tools says; tools counts") {
		t.Errorf("nobody is told that one of two spellings counts: %v", x.notes)
	}
}

// TestNetwork: a file takes the network away, also where it cannot be read what it says of it, and never gives it.
func TestNetwork(t *testing.T) {
	for head, offline := range map[string]bool{
		"network: false": true, "network: off": true, "network: [a]": true, "network: perhaps": true, "network: {}": true,
		"network: true": false, "network:": false, "color: red": false,
	} {
		x := Parse([]byte("---\nname: x\ndescription: d\n"+head+"\n---\nhi\n"), "x.md")
		if !x.Loaded || x.Agent.Offline() != offline || !offline && x.Agent.Network != nil {
			t.Errorf("%s: it is offline: %t; %v", head, x.Agent.Offline(), x.notes)
		}
	}
}
