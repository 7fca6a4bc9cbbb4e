package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/skill"
)

// skills are executions that fail in every way an execution can.
func skills() skill.Set {
	return skill.Set{
		skill.New("echo", echoSkill),
		skill.New("crash", func(context.Context, skill.Call) (sdk.ToolResult, error) {
			if marks := os.Getenv("FAULT_MARKS"); marks != "" {
				_ = mark(marks, "executed\n") // a test that looks for it fails without
			}
			os.Exit(5)
			return sdk.ToolResult{}, nil
		}),
		skill.New("hang", func(_ context.Context, c skill.Call) (sdk.ToolResult, error) {
			err := c.Progress("hanging", -1)
			if err == nil {
				forever()
			}
			return sdk.ToolResult{}, err
		}),
		skill.New("wait", func(ctx context.Context, c skill.Call) (sdk.ToolResult, error) {
			if err := c.Progress("waiting", 0.5); err != nil {
				return sdk.ToolResult{}, err
			}
			<-ctx.Done()
			return sdk.ToolResult{}, ctx.Err()
		}),
		skill.New("panics", func(context.Context, skill.Call) (sdk.ToolResult, error) { panic("at the disco") }),
		skill.New("changes", func(context.Context, skill.Call) (sdk.ToolResult, error) {
			r := skill.Text("changed")
			after := &sdk.FileState{Kind: "file", Hash: strings.Repeat("a", 64)}
			r.Changes, r.Untold = []sdk.FileChange{{Path: "made", After: after}}, true
			return r, nil
		}),
		skill.New("back", backSkill),
	}
}

// echoSkill answers with what it was given.
func echoSkill(_ context.Context, c skill.Call) (sdk.ToolResult, error) {
	if err := c.Chunk(1, []byte("chunk")); err != nil {
		return sdk.ToolResult{}, err
	}
	b, err := json.Marshal(c.SkillCall)
	return sdk.ToolResult{Success: true, Output: c.Input, Structured: b}, err
}

// backSkill calls the service that its input names: invoke or complete, and
// what of it.
func backSkill(ctx context.Context, c skill.Call) (sdk.ToolResult, error) {
	service, name, _ := strings.Cut(c.Input, " ")
	switch service {
	case "invoke":
		return host.Use(ctx, name, map[string]any{})
	case "complete":
		text, err := host.Ask(ctx, sdk.Request{Model: name})
		return skill.Text(text), err
	}
	return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "unknown service %s", service)
}
