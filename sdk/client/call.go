package client

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func ask[R any](ctx context.Context, c *Client, method string, params any) (R, error) {
	var result R
	err := c.Call(ctx, method, params, &result)
	return result, err
}

// Ping asks whether the daemon answers.
func (c *Client) Ping(ctx context.Context) error { return c.Call(ctx, rpc.MethodPing, nil, nil) }

// Status asks how the daemon is.
func (c *Client) Status(ctx context.Context) (rpc.Status, error) {
	return ask[rpc.Status](ctx, c, rpc.MethodStatus, nil)
}

// Stop asks the daemon to end. It answers before it does: wait for the process.
func (c *Client) Stop(ctx context.Context) error { return c.Call(ctx, rpc.MethodStop, nil, nil) }

// StopNow asks the daemon to end without waiting for what it works on, which
// is taken up at its next start.
func (c *Client) StopNow(ctx context.Context) error {
	return c.Call(ctx, rpc.MethodStop, rpc.StopParams{Now: true}, nil)
}

// Ask queues a prompt that may change nothing.
func (c *Client) Ask(ctx context.Context, p rpc.Prompt) (rpc.Accepted, error) {
	return ask[rpc.Accepted](ctx, c, rpc.MethodAsk, p)
}

// Act queues a prompt. The answer means that the prompt is durable, not that
// anything was done: Follow tells that. Without an answer nobody knows: who set Prompt.Key
// may call again with the same prompt, which is then queued once.
func (c *Client) Act(ctx context.Context, p rpc.Prompt) (rpc.Accepted, error) {
	return ask[rpc.Accepted](ctx, c, rpc.MethodAct, p)
}

// Inject queues a prompt in a run that is there, given as its last one was. Like Act, it answers at once.
func (c *Client) Inject(ctx context.Context, p rpc.Inject) (rpc.Accepted, error) {
	return ask[rpc.Accepted](ctx, c, rpc.MethodInject, p)
}

// StartRun makes a run without a prompt.
func (c *Client) StartRun(ctx context.Context, p rpc.StartRun) (rpc.Started, error) {
	return ask[rpc.Started](ctx, c, rpc.MethodStartRun, p)
}

// Abort ends a run's loop. The status it answers may still be 102: the end
// comes in the journal.
func (c *Client) Abort(ctx context.Context, p rpc.RunRef) (rpc.Aborted, error) {
	return ask[rpc.Aborted](ctx, c, rpc.MethodAbort, p)
}

// AbortHeld is Abort that begins none of the prompts that wait, until Release or until
// they are taken back.
func (c *Client) AbortHeld(ctx context.Context, p rpc.RunRef) (rpc.Aborted, error) {
	return ask[rpc.Aborted](ctx, c, rpc.MethodAbort, rpc.Abort{Run: p.Run, Project: p.Project, Hold: true})
}

// Release lets the prompts go on that AbortHeld held.
func (c *Client) Release(ctx context.Context, p rpc.RunRef) (rpc.Released, error) {
	return ask[rpc.Released](ctx, c, rpc.MethodRelease, p)
}

// Prompts lists the prompts of a run, newest first.
func (c *Client) Prompts(ctx context.Context, p rpc.PromptsParams) (rpc.Prompts, error) {
	return ask[rpc.Prompts](ctx, c, rpc.MethodPrompts, p)
}

// PromptFiles tells which files the work on a prompt changed.
func (c *Client) PromptFiles(ctx context.Context, p rpc.PromptRef) (rpc.PromptFiles, error) {
	return ask[rpc.PromptFiles](ctx, c, rpc.MethodPromptFiles, p)
}

// TakeBack takes a prompt back that waits. That it was too late is no error: look at
// Taken.
func (c *Client) TakeBack(ctx context.Context, p rpc.PromptRef) (rpc.TakenBack, error) {
	return ask[rpc.TakenBack](ctx, c, rpc.MethodTakeBack, p)
}

// Resume goes on with a run whose last loop was cut short. Like Act, it answers
// before anything was done.
func (c *Client) Resume(ctx context.Context, p rpc.RunRef) (rpc.Accepted, error) {
	return ask[rpc.Accepted](ctx, c, rpc.MethodResume, p)
}

// Compact has a run's model summarize what was said in it, as a new loop. Like Act, it answers before anything was done.
func (c *Client) Compact(ctx context.Context, p rpc.RunRef) (rpc.Accepted, error) {
	return ask[rpc.Accepted](ctx, c, rpc.MethodCompact, p)
}

// Fork makes a run that begins with what another one knows.
func (c *Client) Fork(ctx context.Context, p rpc.Fork) (rpc.Forked, error) {
	return ask[rpc.Forked](ctx, c, rpc.MethodFork, p)
}

// Configure changes what a run has of its own, from its next prompt on, and answers with
// what is in force; without a change it only answers.
func (c *Client) Configure(ctx context.Context, p rpc.RunConfig) (rpc.Configured, error) {
	return ask[rpc.Configured](ctx, c, rpc.MethodRunConfig, p)
}

// Reset drops a run's sandbox and its home. It may take 10 s.
func (c *Client) Reset(ctx context.Context, p rpc.RunRef) (rpc.Changed, error) {
	return ask[rpc.Changed](ctx, c, rpc.MethodReset, p)
}

// Leave says that nobody goes on with a run now, as a front end does that ends or begins another one: it rests.
func (c *Client) Leave(ctx context.Context, p rpc.RunRef) (rpc.Left, error) {
	return ask[rpc.Left](ctx, c, rpc.MethodLeave, p)
}

// Changes tells what a run, or a part of it, changed in its project's files.
func (c *Client) Changes(ctx context.Context, p rpc.ChangesOf) (rpc.Changes, error) {
	return ask[rpc.Changes](ctx, c, rpc.MethodChanges, p)
}

// Packet renders what the model of a turn was sent, and says whether that is what was sent.
func (c *Client) Packet(ctx context.Context, p rpc.PacketParams) (rpc.Packet, error) {
	return ask[rpc.Packet](ctx, c, rpc.MethodPacket, p)
}

// Undo takes back what a run changed. Unless p.Partial is set it takes back all
// or, when something else touched a part of it, nothing and answers conflict.
func (c *Client) Undo(ctx context.Context, p rpc.Undo) (rpc.Undone, error) {
	return ask[rpc.Undone](ctx, c, rpc.MethodUndo, p)
}

// Redo takes the last Undo of a run back that was not taken back yet. Unless
// p.Partial is set it makes all of it again or, when something else touched a part of
// it since, nothing and answers conflict.
func (c *Client) Redo(ctx context.Context, p rpc.Redo) (rpc.Undone, error) {
	return ask[rpc.Undone](ctx, c, rpc.MethodRedo, p)
}

// Delete removes a run with all it knows, for good. It may take 10 s.
func (c *Client) Delete(ctx context.Context, p rpc.RunRef) (rpc.Changed, error) {
	return ask[rpc.Changed](ctx, c, rpc.MethodDelete, p)
}

// Rename gives a run another alias.
func (c *Client) Rename(ctx context.Context, p rpc.Rename) (rpc.Changed, error) {
	return ask[rpc.Changed](ctx, c, rpc.MethodRename, p)
}

// Journal reads a page of the journal; Follow reads what comes.
func (c *Client) Journal(ctx context.Context, p rpc.JournalParams) (rpc.JournalPage, error) {
	return ask[rpc.JournalPage](ctx, c, rpc.MethodJournal, p)
}

// Runs lists runs, newest first.
func (c *Client) Runs(ctx context.Context, p rpc.RunsParams) ([]rpc.RunSummary, error) {
	return ask[[]rpc.RunSummary](ctx, c, rpc.MethodRuns, p)
}

// Run describes one run.
func (c *Client) Run(ctx context.Context, p rpc.RunRef) (rpc.RunDetail, error) {
	return ask[rpc.RunDetail](ctx, c, rpc.MethodRun, p)
}

// Entries reads a page of a run's entries.
func (c *Client) Entries(ctx context.Context, p rpc.EntriesParams) (rpc.Entries, error) {
	return ask[rpc.Entries](ctx, c, rpc.MethodEntries, p)
}

// Models lists the models that a prompt may name.
func (c *Client) Models(ctx context.Context, p rpc.ModelsParams) (rpc.Models, error) {
	return ask[rpc.Models](ctx, c, rpc.MethodModels, p)
}

// Tools lists the tools that are there now.
func (c *Client) Tools(ctx context.Context) ([]sdk.Tool, error) {
	return ask[[]sdk.Tool](ctx, c, rpc.MethodTools, nil)
}

// PeopleTools lists the tools of plugins that run which only people call.
func (c *Client) PeopleTools(ctx context.Context) ([]sdk.Tool, error) {
	return ask[[]sdk.Tool](ctx, c, rpc.MethodTools, rpc.ToolsParams{People: true})
}

// CallTool calls one tool and waits for it. To cancel the call, call CancelCall or
// close the client: the end of ctx only ends the waiting.
func (c *Client) CallTool(ctx context.Context, p rpc.ToolCall) (rpc.ToolDone, error) {
	return ask[rpc.ToolDone](ctx, c, rpc.MethodCallTool, p)
}

// CancelCall ends calls of CallTool that are under way in a run.
func (c *Client) CancelCall(ctx context.Context, p rpc.ToolCancel) (rpc.ToolCancelled, error) {
	return ask[rpc.ToolCancelled](ctx, c, rpc.MethodCancelCall, p)
}

// Plugins lists plugins and their state.
func (c *Client) Plugins(ctx context.Context) ([]rpc.Plugin, error) {
	return ask[[]rpc.Plugin](ctx, c, rpc.MethodPlugins, nil)
}

// ReloadPlugin makes the daemon load one plugin anew. A plugin that cannot be had
// is no error: the answer says that the old one was kept, and why.
func (c *Client) ReloadPlugin(ctx context.Context, p rpc.PluginReload) (rpc.PluginReloaded, error) {
	return ask[rpc.PluginReloaded](ctx, c, rpc.MethodPluginLoad, p)
}

// Reload makes the daemon read its configuration again. Files with a mistake are
// no error: the answer says that they were not applied.
func (c *Client) Reload(ctx context.Context) (rpc.Reloaded, error) {
	return ask[rpc.Reloaded](ctx, c, rpc.MethodReload, nil)
}

// Mistakes lists what of the configuration, and of a project's own file, is wrong and so
// not in force.
func (c *Client) Mistakes(ctx context.Context, p rpc.MistakesParams) (rpc.Mistakes, error) {
	return ask[rpc.Mistakes](ctx, c, rpc.MethodMistakes, p)
}

// CheckConfig tells what is wrong with the configuration as its files are now.
func (c *Client) CheckConfig(ctx context.Context, p rpc.ConfigCheck) (rpc.ConfigChecked, error) {
	return ask[rpc.ConfigChecked](ctx, c, rpc.MethodCheckConfig, p)
}

// Settings lists every setting in force with where it comes from.
func (c *Client) Settings(ctx context.Context) ([]rpc.Setting, error) {
	return ask[[]rpc.Setting](ctx, c, rpc.MethodShowConfig, nil)
}
