package main

import (
	"context"
	"os/exec"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/tool"
)

type command struct {
	Argv []string `json:"argv"`
}

// spawn runs a program as a child of the plugin's and answers with all that it
// printed.
func spawn(ctx context.Context, in command, _ tool.Call) (sdk.ToolResult, error) {
	out, err := exec.CommandContext(ctx, in.Argv[0], in.Argv[1:]...).CombinedOutput()
	res := tool.Text(string(out))
	if err != nil {
		res.Error = err.Error()
	}
	return res, nil
}
