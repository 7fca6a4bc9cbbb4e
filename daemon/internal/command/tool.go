// Package command knows sh and env, the daemon's own names for the tool that runs commands in the sandbox: what tools
// they are, what a call of theirs came to, and the entries in which its output is, whoever runs it: the sandbox, or a
// client that accepted it as its own. It knows search too, the name by which models know the search of a plugin.
package command

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// Policy, proposals, hooks and the plugin know a call of sh or env as one of the tool that makes it; what is otherwise
// is that its output is two entries of its own (output.go), that a client may run it (clients.go), and that env is
// there where a loop may only read.

// declared are sh and env, before it is known which tool makes their calls.
var declared = []sdk.Tool{
	{Named: true, ToolSpec: sdk.ToolSpec{Name: sdk.ToolSh, Description: "Runs a command line. " + outputsText}},
	{Named: true, Looks: true, ToolSpec: sdk.ToolSpec{Name: sdk.ToolEnv, Description: "Runs a command line that looks at something: files, versions, what git says. It is also there where you may only read; " +
		"then only commands that are known to change nothing run. " + outputsText}},
}

const outputsText = "It runs in the sandbox, where the project is /workspace. What it prints is kept as two entries, which the result names: _1 is standard output, _2 standard error. " +
	"The result has how it ended, and what it printed where that is short; read more of it with get, by line and limit (line -20: the last 20), also while it still runs."

// Tools are sh, env and search for an agent that names them, when there is a tool among some that makes their calls.
func Tools(agent sdk.Agent, tools []sdk.Tool) (own []sdk.Tool) {
	own = running(agent, tools)
	if found := searching(tools); found != nil && agent.Admits(*found) {
		own = append(own, *found)
	}
	return own
}

// running are sh and env, of a tool that runs commands in the sandbox.
func running(agent sdk.Agent, tools []sdk.Tool) (own []sdk.Tool) {
	at := slices.IndexFunc(tools, func(t sdk.Tool) bool {
		return t.Command != "" && !t.Staged && t.Pinned && !t.Unlisted && !t.People && t.Source == "" && slices.Contains(t.Grants, sdk.GrantSandbox)
	})
	if at < 0 {
		return nil
	}
	for _, c := range declared {
		if c.Plugin = tools[at].Plugin; agent.Admits(c) {
			own = append(own, madeBy(c, tools[at]))
		}
	}
	return own
}

// madeBy is sh or env, whose calls another tool makes.
func madeBy(c, by sdk.Tool) sdk.Tool {
	t := by
	t.Name, t.Description, t.Named, t.Looks = c.Name, c.Description, c.Named, c.Looks
	t.Runs, t.Declared = by.Name, cmp.Or(by.Declared, by.Name)
	var takes struct{ Properties map[string]json.RawMessage }
	_ = json.Unmarshal(by.Parameters, &takes) // what it does not say is left out
	kept := map[string]json.RawMessage{by.Command: json.RawMessage(`{"type":"string"}`)}
	for _, name := range []string{by.Command, "timeout_seconds", "dir"} {
		if p, is := takes.Properties[name]; is {
			kept[name] = p
		}
	}
	t.Parameters = encode(map[string]any{"type": "object", "properties": kept, "required": []string{by.Command}, "additionalProperties": false})
	return t
}

// Exceeds refuses a call of sh, env or search with arguments that only the tool takes which makes it. Nil is that there are none.
func Exceeds(t sdk.Tool, arguments json.RawMessage) error {
	if t.Runs == "" {
		return nil
	}
	var takes struct{ Properties map[string]json.RawMessage }
	var given map[string]json.RawMessage
	if json.Unmarshal(t.Parameters, &takes) != nil || json.Unmarshal(arguments, &given) != nil {
		return nil // whoever validates says so
	}
	for name := range given {
		if _, is := takes.Properties[name]; !is {
			return sdk.Errorf(sdk.Validation, "%s takes no %.80q", t.Name, name)
		}
	}
	return nil
}

// Line is the command line in the arguments of a call of a tool.
func Line(t sdk.Tool, arguments json.RawMessage) string {
	var all map[string]any
	if json.Unmarshal(arguments, &all) != nil {
		return ""
	}
	line, _ := all[cmp.Or(t.Command, "command")].(string)
	return line
}

// encode makes the JSON of what always has one.
func encode(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}
