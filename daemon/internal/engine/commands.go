package engine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/command"
	"github.com/bothyd/bothy/sdk"
)

// withCommands puts sh and env before the plugins' tools, for an agent that names them.
func withCommands(agent sdk.Agent, tools []sdk.Tool) []sdk.Tool {
	if own := command.Tools(agent, tools); own != nil {
		return besides(tools, own)
	}
	return tools
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
func (x *action) command() string { return command.Line(x.tool, x.Arguments) }
