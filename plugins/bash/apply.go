package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
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
	return b.told(result, r, call.Project), nil
}

// applied tells in a line what was applied, and what was not.
func applied(r sandbox.Result) string {
	var lines []string
	for _, c := range r.Changes {
		lines = append(lines, c.Path+" was applied to the project")
	}
	for _, c := range r.Conflicts {
		lines = append(lines, c.Path+" was not applied: something else changed it meanwhile")
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

// mostShown is how much of a file is compared to show a difference.
const mostShown = 1 << 20

// stage shows the difference between the project and what would be applied.
func stage(ctx context.Context, m *sandbox.Manager, run sandbox.RunSpec, in applyArguments) (sdk.Staged, error) {
	waiting, err := m.Waiting(ctx, run)
	if err != nil {
		return sdk.Staged{}, classified(err)
	}
	var diff strings.Builder
	base := sha256.New()
	for _, p := range in.Paths {
		i := slices.IndexFunc(waiting, func(h sandbox.Held) bool { return h.Path == p.Path && h.Digest == p.Digest })
		if i < 0 {
			return sdk.Staged{}, sdk.Errorf(sdk.Conflict, "%s is no longer what the command made of it: a later command changed it, or the run was reset", p.Path)
		}
		old, oldText := shownState(filepath.Join(run.Project, filepath.FromSlash(p.Path)))
		now, nowText := shownState(waiting[i].New)
		fmt.Fprintf(base, "%q %s %+v\n", p.Path, p.Digest, old)
		if utf8.Valid(oldText) && utf8.Valid(nowText) && old.Kind+now.Kind != "" && isText(old) && isText(now) {
			diff.WriteString(match.DiffFiles(named(old, p.Path), named(now, p.Path), string(oldText), string(nowText)))
		}
		if old.Kind != now.Kind || old.Target != now.Target || old.Mode != now.Mode {
			fmt.Fprintf(&diff, "%s: %s becomes %s\n", p.Path, described(old), described(now))
		}
	}
	return sdk.Staged{Diff: diff.String(), Base: hex.EncodeToString(base.Sum(nil))}, nil
}

// named is the path of a file that is there; of none it is empty.
func named(s sdk.FileState, path string) string {
	if s.Kind == "" {
		return ""
	}
	return path
}

func isText(s sdk.FileState) bool { return s.Kind == "" || s.Kind == "file" }

// shownState reads what lies at a path, with contents that can be shown. An empty
// path, or one at which nothing lies, is nothing.
func shownState(at string) (sdk.FileState, []byte) {
	if at == "" {
		return sdk.FileState{}, nil
	}
	if info, err := os.Lstat(at); err != nil || info.Mode().IsRegular() && info.Size() > mostShown {
		if err != nil {
			return sdk.FileState{}, nil
		}
		state, _, _ := stateOf(at)
		return state, nil
	}
	state, text, _ := stateOf(at)
	return state, text
}

func described(s sdk.FileState) string {
	switch s.Kind {
	case "":
		return "nothing"
	case "link":
		return "a link to " + s.Target
	case "directory":
		return "a folder"
	}
	return fmt.Sprintf("a file of mode %o", s.Mode)
}
