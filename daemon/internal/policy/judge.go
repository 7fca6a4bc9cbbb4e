package policy

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/policy/shell"
	"github.com/bothyd/bothy/sdk"
)

// Judge says how the bundled tool bash would be decided about with a command line
// in a project, when nobody is there to be asked. links says where the paths lead
// that it names, as in [Live].
func Judge(set Settings, project, command string, mode sdk.Mode, links func(project string, named []string) map[string]string) (sdk.Decision, error) {
	if !utf8.ValidString(command) { // JSON, in which all calls come, could not hold it
		seen := shell.Analyse(command, shell.Place{})
		return sdk.Decision{Verdict: sdk.Deny, Rule: seen.Rule, Source: SourceBuiltIn, Reason: seen.Reason, Instead: seen.Instead}, nil
	}
	arguments, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return sdk.Decision{}, err
	}
	bash := sdk.Tool{
		ToolSpec: sdk.ToolSpec{Name: "bash", Command: "command", Annotations: sdk.Annotations{Destructive: true}},
		Plugin:   "bash", Pinned: true, Grants: []string{sdk.GrantSandbox},
	}
	p, r := New(set), sdk.PolicyRequest{Tool: bash, Arguments: arguments, Project: project, Mode: mode}
	r.Links = links(project, p.Paths(r))
	return p.Decide(r), nil
}
