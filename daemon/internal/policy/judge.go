package policy

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/policy/shell"
	"github.com/bothyd/bothy/sdk"
)

// Trial is a call that nobody made: of the bundled tool bash, or of web_fetch.
type Trial struct {
	Text    string // the command line, or the address
	Address bool   // the text is one, as a model would write it that had it from nowhere
	Mode    sdk.Mode
	Leaks   func(arguments json.RawMessage) string // the name of a secret in what goes out; nil knows none
}

// Judge says how a call would be decided about in a project, when nobody is there to be asked. links says where the
// paths lead that a command names, as in [Live].
func Judge(set Settings, project string, t Trial, links func(project string, named []string) map[string]string) (sdk.Decision, error) {
	if !utf8.ValidString(t.Text) && !t.Address { // JSON, in which all calls come, could not hold it
		seen := shell.Analyse(t.Text, shell.Place{})
		return sdk.Decision{Verdict: sdk.Deny, Rule: seen.Rule, Source: SourceBuiltIn, Reason: seen.Reason, Instead: seen.Instead}, nil
	}
	tool := trialBash
	if t.Address {
		tool = trialFetch
	}
	arguments, err := json.Marshal(map[string]string{tool.Command + tool.Address: t.Text})
	if err != nil {
		return sdk.Decision{}, err
	}
	p, r := New(set), sdk.PolicyRequest{Tool: tool, Arguments: arguments, Project: project, Mode: t.Mode}
	r.Links = links(project, p.Paths(r))
	if t.Leaks != nil && tool.Annotations.OpenWorld {
		r.Leaks = t.Leaks(arguments)
	}
	return p.Decide(r), nil
}

// What a trial is a call of, as their plugins declare them. Each has one argument that matters here.
var (
	trialBash = sdk.Tool{
		ToolSpec: sdk.ToolSpec{Name: "bash", Command: "command", Annotations: sdk.Annotations{Destructive: true}},
		Plugin:   "bash", Pinned: true, Grants: []string{sdk.GrantSandbox},
	}
	trialFetch = sdk.Tool{
		ToolSpec: sdk.ToolSpec{Name: "web_fetch", Address: "url", Annotations: sdk.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true}},
		Plugin:   "web", Pinned: true, Grants: []string{sdk.GrantEntries},
	}
)
