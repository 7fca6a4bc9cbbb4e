package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// sh and env are the daemon's own names for the tool that runs commands in the sandbox. Policy, proposals,
// hooks and the plugin know the call as one of that tool; what is otherwise is that its output is two
// entries of its own (outputs.go), that a client may run it (handover.go), and that env is there where
// a loop may only read.

// commandTools are sh and env, before it is known which tool makes their calls.
var commandTools = []sdk.Tool{
	{Named: true, ToolSpec: sdk.ToolSpec{Name: sdk.ToolSh, Description: "Runs a command line. " + outputsText}},
	{Named: true, Looks: true, ToolSpec: sdk.ToolSpec{Name: sdk.ToolEnv, Description: "Runs a command line that looks at something: files, versions, what git says. It is also there where you may only read; " +
		"then only commands that are known to change nothing run. " + outputsText}},
}

const outputsText = "It runs in the sandbox, where the project is /workspace. What it prints is kept as two entries, which the result names: _1 is standard output, _2 standard error. " +
	"The result has how it ended, and what it printed where that is short; read more of it with get, by line and limit (line -20: the last 20), also while it still runs."

// withCommands puts sh and env before the plugins' tools, for an agent that names them, when there is a tool
// that runs commands in the sandbox.
func withCommands(agent sdk.Agent, tools []sdk.Tool) []sdk.Tool {
	at := slices.IndexFunc(tools, func(t sdk.Tool) bool {
		return t.Command != "" && !t.Staged && t.Pinned && !t.Unlisted && !t.People && t.Source == "" && slices.Contains(t.Grants, sdk.GrantSandbox)
	})
	if at < 0 {
		return tools
	}
	var own []sdk.Tool
	for _, c := range commandTools {
		if c.Plugin = tools[at].Plugin; agent.Admits(c) {
			own = append(own, commandTool(c, tools[at]))
		}
	}
	if own == nil {
		return tools
	}
	return besides(tools, own)
}

// commandTool is sh or env, whose calls another tool makes.
func commandTool(c, by sdk.Tool) sdk.Tool {
	t := by
	t.Name, t.Description, t.Named, t.Looks = c.Name, c.Description, c.Named, c.Looks
	t.Runs, t.Declared = by.Name, cmp.Or(by.Declared, by.Name)
	var declared struct{ Properties map[string]json.RawMessage }
	_ = json.Unmarshal(by.Parameters, &declared) // what it does not say is left out
	kept := map[string]json.RawMessage{by.Command: json.RawMessage(`{"type":"string"}`)}
	for _, name := range []string{by.Command, "timeout_seconds", "dir"} {
		if p, is := declared.Properties[name]; is {
			kept[name] = p
		}
	}
	t.Parameters = encode(map[string]any{"type": "object", "properties": kept, "required": []string{by.Command}, "additionalProperties": false})
	return t
}

// exceeds refuses a call of sh or env with arguments that only the tool takes which makes it.
func (x *action) exceeds() bool {
	if x.tool.Runs == "" {
		return false
	}
	var takes struct{ Properties map[string]json.RawMessage }
	var given map[string]json.RawMessage
	if json.Unmarshal(x.tool.Parameters, &takes) != nil || json.Unmarshal(x.Arguments, &given) != nil {
		return false // whoever validates says so
	}
	for name := range given {
		if _, is := takes.Properties[name]; !is {
			x.refuse(sdk.Errorf(sdk.Validation, "%s takes no %.80q", x.tool.Name, name))
			return true
		}
	}
	return false
}

// fixCommand puts the command line into a fresh call of a tool that finds it itself, so that hooks, policy and people judge
// what runs. A call that names one is refused: what it ran would not be what the tool stands for.
func (e *Engine) fixCommand(ctx context.Context, run sdk.Run, x *action) {
	var given map[string]json.RawMessage
	name := x.tool.Command
	if !x.tool.FindsCommand() || x.fault != nil || x.own != nil || json.Unmarshal(x.Arguments, &given) != nil {
		return // whoever validates says what is wrong with them
	}
	if _, named := given[name]; named {
		x.fault = sdk.Errorf(sdk.Validation, "%s finds its command itself, so leave %s out; for another command there are other tools", x.tool.Name, name)
		return
	}
	staged, err := settle(ctx, e, "asking which command "+x.tool.Name+" runs", func() (sdk.Staged, error) {
		return e.cfg.Tools.Stage(ctx, e.invocation(run, x))
	})
	switch {
	case err != nil:
		x.fault = err
	case staged.Command == "":
		x.fault = sdk.Errorf(sdk.Unavailable, "%s does not say which command it runs", x.tool.Name)
	default:
		if given == nil {
			given = map[string]json.RawMessage{}
		}
		given[name] = encode(staged.Command)
		x.use(encode(given))
	}
}

// lacksCommand refuses an edit that leaves out the line which a tool found: it is found for fresh calls only, so that what a
// person agreed to is what runs.
func (x *action) lacksCommand() error {
	if !x.tool.FindsCommand() || strings.TrimSpace(x.command()) != "" {
		return nil
	}
	return sdk.Errorf(sdk.Validation, "the edit has no %s, and the proposal stays as it was: %s does not find the line that it runs again, so keep it (%s) or write another",
		x.tool.Command, x.tool.Name, sdk.Excerpt(x.Proposal.Command))
}

// command is the line that a call runs.
func (x *action) command() string {
	var all map[string]any
	if json.Unmarshal(x.Arguments, &all) != nil {
		return ""
	}
	line, _ := all[cmp.Or(x.tool.Command, "command")].(string)
	return line
}

// Of what a command printed, its action has so much; the rest is in its entries.
const (
	mostTold     = 4 << 10
	mostToldHead = 1 << 10
)

// ranText is what the action of sh or env says of a command: the line, how it ended, where its output is, and
// of that as much as is short.
func ranText(command, ended string, outputs []string, bytes [2]int, printed string) string {
	var where []string
	for i, path := range outputs {
		size := "empty"
		if bytes[i] > 0 {
			size = fmt.Sprintf("%d bytes", bytes[i])
		}
		where = append(where, fmt.Sprintf("%s (%s)", path, size))
	}
	text := fmt.Sprintf("ran '%s', %s, Output: %s", sdk.Excerpt(command), ended, strings.Join(where, ", "))
	if printed = strings.TrimRight(printed, "\n"); printed == "" {
		return text
	}
	if len(printed) > mostTold {
		head, tail := sdk.Head(printed, mostToldHead), sdk.Tail(printed, mostTold-mostToldHead)
		printed = fmt.Sprintf("%s\n[... %d bytes are left out here ...]\n%s", head, len(printed)-len(head)-len(tail), tail)
	}
	return text + "\n" + printed
}

// ranAs is what a call of sh or env came to, as its action keeps it: whole has what the command printed, where the
// result itself says it.
func (x *action) ranAs(r sdk.ToolResult, bytes [2]int) (as sdk.ToolResult, whole *[2]string) {
	if !x.Streams {
		return r, nil
	}
	ended := "exit=none"
	switch code, is := r.Metadata["exit_code"]; {
	case is:
		ended = fmt.Sprintf("exit=%v", code)
	case r.Success:
		ended = "exit=0"
	}
	if r.Error != "" && !strings.HasPrefix(r.Error, "exit status ") {
		ended += " (" + sdk.Excerpt(r.Error) + ")"
	}
	out, hasOut := r.Metadata["stdout"].(string)
	failed, hasErr := r.Metadata["stderr"].(string)
	if _, partly := r.Metadata["repeated_in_part"]; hasOut && hasErr && !partly {
		whole = &[2]string{out, failed}
		bytes = [2]int{len(out), len(failed)}
	}
	r.Output = ranText(x.command(), ended, x.outputs(), bytes, r.Output)
	metadata := map[string]any{"output_bytes": bytes}
	for name, value := range r.Metadata {
		if name != "stdout" && name != "stderr" && name != "repeated_in_part" {
			metadata[name] = value
		}
	}
	r.Metadata = metadata
	return r, whole
}
