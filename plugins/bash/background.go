package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/tool"
)

const (
	// printsWithin is how long the call that starts a background command waits for it to
	// print something, and endsWithin how long it then waits for it to end.
	printsWithin = 2 * time.Second
	endsWithin   = 300 * time.Millisecond
	// mostWait is how long bash_output may wait.
	mostWait = time.Minute
)

const (
	outputDescription = "Shows what a background command of this run (bash with background = true) printed since it was last read, and whether it still runs. " +
		"wait_seconds has it wait for something new or the end, so that you need not ask again and again."
	stopDescription = "Ends a background command of this run (bash with background = true) with all its processes, and shows the rest of what it printed."
)

type outputArguments struct {
	ID          string  `json:"id,omitempty" jsonschema:"of the command, such as bg-1; may be left out where one runs"`
	WaitSeconds float64 `json:"wait_seconds,omitempty" jsonschema:"how long to wait for new output or the end, up to 60; 0 when left out"`
}

type stopArguments struct {
	ID string `json:"id,omitempty" jsonschema:"of the command, such as bg-1; may be left out where one runs"`
}

// jobTools are the tools for background commands.
func (b *bash) jobTools() tool.Set {
	return tool.Set{
		tool.New("bash_output", outputDescription, sdk.Annotations{ReadOnly: true, Live: true}, b.readJob).Whole(),
		tool.New("bash_stop", stopDescription, sdk.Annotations{ReadOnly: true, Live: true}, b.stopJob).Whole(),
	}
}

// startJob starts a command in the background.
func (b *bash) startJob(ctx context.Context, in arguments, command sandbox.Command, call tool.Call) (sdk.ToolResult, error) {
	if in.TimeoutSeconds == 0 {
		command.Timeout = 0
	}
	if call.Project == "" {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Permission, "runs that a channel made have nothing in the background: leave background out, and have the command end by itself")
	}
	if len(call.Writes) > 0 {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Permission, "what runs in the background writes what git ignores straight into the project, and this run was given only %s to change: leave background out, and have the command end by itself", strings.Join(call.Writes, ", "))
	}
	manager, err := b.open(ctx)
	if err != nil {
		return sdk.ToolResult{}, classified(err)
	}
	b.protections.heard(call.Invocation)
	j := newJob(in.Command, call.RunDir, call.Network)
	if err := b.jobs.book(call.Run, j); err != nil {
		return sdk.ToolResult{}, err
	}
	run := b.runSpec(call.Run, call.Project, call.RunDir)
	run.Network = call.Network
	command.StdoutCap, command.StderrCap = 1<<40, 1<<40 // it is read while it runs
	started, asked, err := manager.Start(ctx, run, command, j.add)
	if err != nil {
		b.jobs.drop(call.Run, j)
		return sdk.ToolResult{}, classified(err)
	}
	if !b.jobs.started(j, started) {
		started.Stop()
		<-started.Done()
		return sdk.ToolResult{}, sdk.Errorf(sdk.Aborted, "the run came to rest, or was reset, while the command was started: it was ended")
	}
	b.firstSigns(ctx, j)
	if ctx.Err() != nil { // nobody hears its name
		started.Stop()
		<-started.Done()
		return sdk.ToolResult{}, classified(ctx.Err())
	}
	answer := b.shown(j)
	if !j.ended() {
		answer.Output = joined(answer.Output, "", "", "", fmt.Sprintf(startedNote, j.id, b.writableNote(run, started)))
	}
	return b.earlier(b.special(answer, call, asked.Direct), asked, call.Project), nil
}

// firstSigns waits until a command that was just started has printed something, and a moment
// more whether it ends: what fails at once is told at once.
func (b *bash) firstSigns(ctx context.Context, j *job) {
	first, cancel := context.WithTimeout(ctx, b.printsWithin)
	defer cancel()
	j.await(first)
	select {
	case <-j.Done():
	case <-time.After(b.endsWithin):
	case <-ctx.Done():
	}
}

// earlier adds to the answer what the command that the sandbox made before this one tells
// of commands before it.
func (b *bash) earlier(answer sdk.ToolResult, asked sandbox.Result, project string) sdk.ToolResult {
	if len(asked.Changes)+len(asked.Held)+len(asked.Violations)+len(asked.Conflicts) == 0 {
		asked.Release()
		return answer
	}
	told := b.changes(answer, asked, project)
	optional(told.Metadata, asked)
	told.Output = joined(told.Output, "", "", "", notes(asked))
	return told
}

// lostNote tells of background commands that ended with the process that ran them.
const lostNote = "[since the bash plugin was changed or the daemon stopped, no longer in the background: %s]\n"

// startedNote is told when a background command was started.
const startedNote = "[it runs in the background as %[1]s; read it with bash_output, end it with bash_stop. Other commands of this run reach what it serves on 127.0.0.1. It ends with the work on this prompt.%[2]s]\n"

// writableNote says what a background command has of the project.
func (b *bash) writableNote(run sandbox.RunSpec, j *sandbox.Background) string {
	switch {
	case run.Project == "":
		return ""
	case len(j.Writable) == 0:
		return " It cannot write to the project, and sees each change that is applied there; of the project it could write, for itself, to folders that git ignores and that are there when it starts"
	}
	list := strings.Join(j.Writable[:min(len(j.Writable), 8)], ", ")
	if len(j.Writable) > 8 {
		list += ", ..."
	}
	return fmt.Sprintf(" It cannot write to the project, and sees each change that is applied there; what it writes to folders that git ignores (%s) is its own and goes with it", list)
}

func (b *bash) readJob(ctx context.Context, in outputArguments, call tool.Call) (sdk.ToolResult, error) {
	if in.WaitSeconds < 0 || in.WaitSeconds > mostWait.Seconds() {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "wait_seconds is %g; it can be up to %g", in.WaitSeconds, mostWait.Seconds())
	}
	j, err := b.jobs.find(call.Run, call.RunDir, in.ID)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	wait, cancel := context.WithTimeout(ctx, time.Duration(in.WaitSeconds*float64(time.Second)))
	defer cancel()
	j.await(wait)
	return b.shown(j), nil
}

func (b *bash) stopJob(ctx context.Context, in stopArguments, call tool.Call) (sdk.ToolResult, error) {
	j, err := b.jobs.find(call.Run, call.RunDir, in.ID)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	ran := !j.ended()
	j.Stop()
	select {
	case <-j.Done():
	case <-ctx.Done():
		return sdk.ToolResult{}, classified(ctx.Err())
	}
	if !ran {
		return b.shown(j), nil
	}
	j.endTold()
	printed, dropped := j.read()
	return sdk.ToolResult{
		Success: true, Told: true, Metadata: map[string]any{"id": j.id, sdk.MetadataRunning: false},
		Output: joined(text([]byte(printed)), "", "", "", unreadNote(dropped)+fmt.Sprintf("[%s was ended after %s]\n", j.id, time.Since(j.began).Round(time.Second))),
	}, nil
}

// shown is what a background command printed since it was last read, and its state.
func (b *bash) shown(j *job) sdk.ToolResult {
	ended := j.ended() // before what it printed last is read
	printed, dropped := j.read()
	metadata := map[string]any{"id": j.id, sdk.MetadataRunning: !ended}
	note := unreadNote(dropped)
	if dropped > 0 {
		metadata["dropped"] = dropped
	}
	answer := sdk.ToolResult{Success: true, Metadata: metadata, Told: true} // it can change nothing of the project
	switch {
	case ended:
		j.endTold()
		result, err := j.Result()
		if err != nil {
			answer.Success, answer.Error, answer.Outcome = false, err.Error(), sdk.OutcomeOf(classified(err))
			break
		}
		metadata["exit_code"] = result.ExitCode
		note += fmt.Sprintf("[%s has ended with exit status %d after %s]\n", j.id, result.ExitCode, result.Duration.Round(time.Second))
		if result.ExitCode != 0 || result.TimedOut {
			answer.Success = false
			answer.Error, answer.Outcome = verdict(result)
		}
	case printed == "":
		note += fmt.Sprintf("[%s has run for %s and printed nothing new]\n", j.id, time.Since(j.began).Round(time.Second))
	}
	answer.Output = joined(text([]byte(printed)), "", "", "", note)
	if short := sdk.Head(answer.Output, shownBytes); short != answer.Output {
		answer.Output, answer.Truncated = short, true
	}
	return answer
}

// unreadNote says how much was printed and never read.
func unreadNote(dropped int64) string {
	if dropped == 0 {
		return ""
	}
	return fmt.Sprintf("[%d bytes before this were not read in time and are gone]\n", dropped)
}

// heedNetwork ends background commands that have a network which a person has closed, or
// have none though there is one now: they would not share the loopback of other commands.
func (b *bash) heedNetwork(ctx context.Context, run string, network bool) {
	b.jobs.stopAll(ctx, run, func(j *job) bool { return j.network != network })
}
