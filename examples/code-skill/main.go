// Command bothy-plugin-outline executes the skill outline, which stands in
// skills/outline/SKILL.md: it collects the headings of a project's Markdown
// files with a tool of the daemon, asks the run's model in which order to read
// them, and keeps the answer as an entry of the run.
package main

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/skill"
)

func main() {
	plugin.Serve(plugin.Options{
		Name: "outline", Version: "1.0.0",
		Skill:  skill.Set{skill.New("outline", outline)},
		Grants: []string{sdk.GrantModels}, // the model of the run, and no other
		Calls:  sdk.Calls{Tools: []string{"grep"}, Schemes: []string{"known"}},
	})
}

func outline(ctx context.Context, call skill.Call) (sdk.ToolResult, error) {
	if err := call.Progress("collecting headings", 0.2); err != nil {
		return sdk.ToolResult{}, err
	}
	found, err := host.Use(ctx, "grep", map[string]any{"pattern": "^#{1,2} ", "glob": "*.md"})
	if err != nil || !found.Success {
		return found, err // a refusal says why, and the model reads it
	}
	if err := call.Progress("asking for the order", 0.6); err != nil {
		return sdk.ToolResult{}, err
	}
	order, err := host.Ask(ctx, sdk.Request{Messages: []sdk.Message{
		{Role: sdk.RoleSystem, Text: "You are shown the headings of Markdown files as path:line:heading. Say in which order to read the files, and why, a line each."},
		{Role: sdk.RoleUser, Text: call.Input + "\n\n" + found.Output},
	}})
	if err != nil {
		return sdk.ToolResult{}, err
	}
	if _, err := host.From(ctx).Write(ctx, sdk.Write{Path: "known://outline", Body: &order}); err != nil {
		return sdk.ToolResult{}, err
	}
	return skill.Text(order), nil
}
