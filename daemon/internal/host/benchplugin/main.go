// Command benchplugin is a plugin as an author would write it, for the host's
// benchmarks: a tool that answers at once, and one that calls back first.
package main

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/tool"
)

type text struct {
	Text string `json:"text"`
}

func main() {
	plugin.Serve(plugin.Options{
		Name: "bench", Version: "1", Calls: sdk.Calls{Schemes: []string{"known"}},
		Tool: tool.Set{
			tool.New("echo", "Answers with its argument.", sdk.Annotations{ReadOnly: true}, echo).Whole(),
			tool.New("back", "Answers with an entry.", sdk.Annotations{ReadOnly: true}, back).Whole(),
		},
	})
}

func echo(_ context.Context, in text, _ tool.Call) (sdk.ToolResult, error) {
	return tool.Text(in.Text), nil
}

func back(ctx context.Context, in text, _ tool.Call) (sdk.ToolResult, error) {
	e, err := host.From(ctx).Entry(ctx, in.Text)
	return tool.Text(e.Body), err
}
