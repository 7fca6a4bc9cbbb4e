package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/tool"
)

// applyName is the tool that applies what a command changed and a person has to
// agree to. Results of bash ask for it; nobody else calls it.
const applyName = "apply"

const applyDescription = "Applies changes that a command made in its view of the project, once a person has agreed to them."

// applyArguments name the changes with what the person is asked about.
type applyArguments struct {
	Paths []applyPath `json:"paths" jsonschema:"the changes"`
}

type applyPath struct {
	Path   string `json:"path" jsonschema:"relative to the project"`
	Digest string `json:"digest" jsonschema:"of what the command made of it"`
	Reason string `json:"reason" jsonschema:"why a person is asked"`
}

// follow asks for the call that applies what is held, when a command left any.
func follow(held []sandbox.Held) (*sdk.FollowUp, error) {
	if len(held) == 0 {
		return nil, nil
	}
	var a applyArguments
	for _, h := range held {
		a.Paths = append(a.Paths, applyPath{Path: h.Path, Digest: h.Digest, Reason: h.Reason})
	}
	arguments, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return &sdk.FollowUp{Tool: applyName, Arguments: arguments,
		Otherwise: "these changes were not applied to the project; later commands of this run still see them"}, nil
}

func (b *bash) applyTool() tool.Func {
	return tool.New(applyName, applyDescription, sdk.Annotations{Destructive: true}, b.apply).Unlisted().Whole().StagedBy(b.stageApply)
}

// apply applies held changes that are still what the person saw.
func (b *bash) apply(ctx context.Context, in applyArguments, call tool.Call) (sdk.ToolResult, error) {
	b.protections.heard(call.Invocation)
	manager, err := b.open(ctx)
	if err != nil {
		return sdk.ToolResult{}, classified(err)
	}
	run := b.runSpec(call.Run, call.Project, call.RunDir)
	if call.Base != "" {
		staged, err := stage(ctx, manager, run, in)
		if err != nil {
			return sdk.ToolResult{}, err
		}
		if staged.Base != call.Base {
			return sdk.ToolResult{}, sdk.Errorf(sdk.Conflict, "what would be applied, or what is in the project, is no longer what was shown; nothing was applied")
		}
	}
	agreed := make([]sandbox.Agreed, len(in.Paths))
	for i, p := range in.Paths {
		agreed[i] = sandbox.Agreed{Path: p.Path, Digest: p.Digest}
	}
	r, err := manager.Apply(ctx, run, agreed)
	if err != nil {
		return sdk.ToolResult{}, classified(err)
	}
	result := sdk.ToolResult{Success: len(r.Conflicts) == 0, Output: applied(r)}
	if !result.Success {
		result.Error, result.Outcome = verdict(r)
	}
	return b.changes(result, r, call.Project), nil
}

// applied tells in a line what was applied, and what was not.
func applied(r sandbox.Result) string {
	var lines []string
	for _, c := range r.Changes {
		lines = append(lines, c.Path+" was applied to the project")
	}
	for _, c := range r.Conflicts {
		reason := "something else changed it meanwhile"
		if c.Reason != "" {
			reason = c.Reason
		}
		lines = append(lines, c.Path+" was not applied: "+reason)
	}
	return strings.Join(lines, "\n")
}

// stageApply implements the tool's Stage.
func (b *bash) stageApply(ctx context.Context, call sdk.Invocation) (sdk.Staged, error) {
	var in applyArguments
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return sdk.Staged{}, sdk.Errorf(sdk.Validation, "the arguments of %s: %w", applyName, err)
	}
	manager, err := b.open(ctx)
	if err != nil {
		return sdk.Staged{}, classified(err)
	}
	return stage(ctx, manager, b.runSpec(call.Run, call.Project, call.RunDir), in)
}
