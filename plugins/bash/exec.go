package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
	"github.com/bothyd/bothy/sdk/tool"
)

// exec runs a command line to its end, and sends what it prints as it comes. The output is what it printed in all.
func (b *bash) exec(ctx context.Context, line string, command sandbox.Command, call tool.Call, send func(channel int, data []byte) error) (sdk.ToolResult, *output, error) {
	out := &output{network: call.Network}
	ways, err := ways(line, call.Argv, b.sandbox(call.Project).Shell)
	if err != nil {
		return sdk.ToolResult{}, out, err
	}
	b.heedNetwork(ctx, call.Run, call.Network)
	manager, err := b.open(ctx)
	if err != nil {
		return sdk.ToolResult{}, out, classified(err)
	}
	b.protections.heard(call.Invocation)
	run := b.runSpec(call.Run, call.Project, call.RunDir)
	run.Network, run.Viewed, run.Writes = call.Network, call.View, call.Writes
	command.Call = call.CallID
	sink := func(channel int, data []byte) {
		out.add(channel, data)
		if err := send(channel, data); err != nil {
			b.logger.Debug("nobody takes the output any more", "error", err)
		}
	}
	var result sandbox.Result
	for _, command.Argv = range ways {
		result, err = manager.Exec(ctx, run, command, sink)
		if sandbox.Code(err) != sandbox.CodeNotStarted {
			break
		}
	}
	if sandbox.Code(err) == sandbox.CodeNotStarted {
		return answer(notStarted(command.Argv, out, err), out), out, nil
	}
	if sandbox.Code(err) == sandbox.CodeSwapped {
		return swapped(result, err), out, nil
	}
	if err != nil {
		result.Release() // nothing was applied
		return sdk.ToolResult{}, out, stopped(err, result)
	}
	return b.changes(b.special(answer(result, out), call, result.Direct), result, call.Project), out, nil
}

// special adds to a result that its command worked on the project itself, and why. The
// first of a run says it in words, and the limits that are the run's own.
func (b *bash) special(answer sdk.ToolResult, call tool.Call, reason string) sdk.ToolResult {
	if names := lost(call.RunDir); names != "" {
		answer.Output = joined(answer.Output, "", "", "", fmt.Sprintf(lostNote, names))
	}
	note := b.ownLimits(call.Project)
	if reason != "" {
		answer.Metadata["view"], answer.Metadata["view_reason"] = false, reason
		note = fmt.Sprintf(directNote, reason) + note
	}
	if note == "" {
		return answer
	}
	b.mu.Lock()
	told := b.told[call.Run]
	b.told[call.Run] = true
	b.mu.Unlock()
	if !told {
		answer.Output = joined(answer.Output, "", "", "", note)
	}
	return answer
}

// directNote names what is otherwise for a command that works on the project itself.
const directNote = "[commands of this run work on the project itself, not on a copy: %s. Git repositories (.git) and protected paths that are there are read-only; what a command makes in the place of others is seen by everybody until the command ends, and is removed then]\n"

// changes adds to a result what the command changed, so that it can be taken back.
func (b *bash) changes(answer sdk.ToolResult, r sandbox.Result, project string) sdk.ToolResult {
	b.mu.Lock()
	store := kept.In(b.settings.DataDir)
	answer.Told = r.Viewed || b.configured().For(project).Workspace == sdk.WorkspacePrivate // there it has nothing of the project
	b.mu.Unlock()
	unkept, err := tell(&answer, r.Changes, project, store)
	if err != nil {
		b.logger.Warn("what a command changed cannot be taken back: it could not be kept", "error", err)
		answer.Untold = true
	}
	replaced := slices.ContainsFunc(r.Changes, func(c sandbox.Change) bool { return c.Old != "" })
	if replaced && (err != nil || len(unkept) > 0) {
		answer = b.retain(answer, r, unkept)
	} else {
		r.Release()
	}
	next, err := follow(r.Held)
	if err != nil {
		b.logger.Warn("nobody can be asked about what a command changed", "error", err)
	}
	answer.Follow = next
	return answer
}

// retain leaves the only copy of what a command replaced where it lies, and says where.
func (b *bash) retain(answer sdk.ToolResult, r sandbox.Result, unkept []string) sdk.ToolResult {
	folder, err := r.Retain()
	for _, c := range r.Changes {
		if folder == "" && c.Old != "" {
			folder = filepath.Dir(c.Old)
		}
	}
	b.logger.Warn("what a command replaced is kept nowhere but in the folder of its view, which stays until the run is reset",
		"folder", folder, "files", len(unkept), "first", strings.Join(unkept[:min(len(unkept), 5)], ", "), "error", err)
	answer.Output = joined(answer.Output, "", "", "", fmt.Sprintf(retainNote, folder))
	return answer
}

// retainNote says where the only copy lies of what could not be kept.
const retainNote = "[not all that the command replaced or removed could be kept for undo; what was there before lies in %s until the run is reset]\n"

// stopped is the error of a command that did not come to its end: nothing that it
// changed was applied.
func stopped(err error, r sandbox.Result) error {
	if r.Kept == "" {
		return classified(err)
	}
	return fmt.Errorf("%w; nothing that it had changed was applied, and all of it is kept in %s", classified(err), r.Kept)
}

// classified gives an error of the sandbox the outcome that the daemon knows.
func classified(err error) error {
	outcomes := map[string]sdk.Outcome{
		sandbox.CodeUnavailable: sdk.Unavailable, sandbox.CodeNoView: sdk.Unavailable, sandbox.CodeInvalid: sdk.Validation,
		sandbox.CodeNotStarted: sdk.Validation, sandbox.CodeLost: sdk.Interrupted, sandbox.CodeFailed: sdk.Internal,
	}
	if outcome, ok := outcomes[sandbox.Code(err)]; ok {
		return sdk.Errorf(outcome, "%w", err)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return sdk.Errorf(sdk.Timeout, "the call's time was up before the command had ended; it was killed: %w", err)
	case errors.Is(err, context.Canceled):
		return sdk.Errorf(sdk.Aborted, "the command was stopped before it had ended: %w", err)
	}
	return err
}
