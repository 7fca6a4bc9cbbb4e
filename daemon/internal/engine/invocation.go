package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/command"
	"github.com/bothyd/bothy/daemon/internal/deadline"
	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/guard"
	"github.com/bothyd/bothy/sdk"
)

// runTogether runs started actions and waits for all.
func (e *Engine) runTogether(ctx context.Context, a *activeLoop, running []*action) {
	for _, x := range running {
		e.cfg.Hooks.ToolBefore.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: x.told(x.entry)})
	}
	e.plan(ctx, a, which(running, (*action).touchesEntries))
	running = which(running, func(x *action) bool { return !x.touchesEntries() })
	if len(running) == 1 {
		_ = e.run(ctx, a, running[0]) // the action says it
		return
	}
	var all sync.WaitGroup
	for _, x := range running {
		all.Go(func() { _ = e.run(ctx, a, x) })
	}
	all.Wait()
}

// run calls the tool and concludes the action. It returns soon after ctx ends,
// whatever the tool does, and after the calls that its plugin makes on its way. A
// call that a stop of the daemon cut has no end: the next daemon finds out what it
// came to. The error is that of a call which could not be made.
func (e *Engine) run(ctx context.Context, a *activeLoop, x *action) error {
	if x.Child != nil {
		return e.awaitChild(ctx, a, x)
	}
	var places []string
	if x.Streams {
		places = command.Outputs(x.Path)
	}
	out := e.streams.Output(a.run.ID, x.Action, places)
	began := time.Now()
	call := e.invocation(a.run, x)
	bounded, late, cancel := deadline.With(ctx, toolTime+toolTime/10, context.DeadlineExceeded)
	defer cancel()
	if x.Streams {
		var end context.CancelCauseFunc
		bounded, end = context.WithCancelCause(bounded)
		defer end(nil)
		defer e.commands.begin(a.run.ID, x.Path, end)()
	}
	e.askEditor(bounded, a.run, x, &call)
	endServing := e.serves.begin(bounded, late, call.CallID, a, x)
	var judge func(context.Context, sdk.Invocation) (sdk.ToolResult, error)
	if x.finishes() {
		judge = e.judging(a)
	}
	failpoint.Hit(failpoint.EffectBefore)
	result, err := settle(bounded, e, "the call of "+x.tool.Name, func() (sdk.ToolResult, error) {
		if judge != nil {
			return judge(bounded, call)
		}
		if x.own != nil {
			return x.own.Invoke(bounded, call, out)
		}
		return e.besideSiblings(bounded, a, x, func() (sdk.ToolResult, error) { return e.cfg.Tools.Invoke(bounded, call, out) })
	})
	if err == nil {
		failpoint.Hit(failpoint.EffectAfter)
	}
	if call.View && sdk.OutcomeOf(err) == sdk.Unavailable { // there may be no view any more: the next call is decided by that
		for _, at := range e.places([]sdk.Tool{x.tool}, a.project, a.run) {
			e.prepareTool(bounded, at)
		}
	}
	endServing()
	cause := context.Cause(ctx)
	if ended := context.Cause(bounded); cause == nil && errors.Is(ended, errAborted) { // this command alone was
		cause = ended
	}
	cut := errors.Is(cause, errStopping) && (err != nil || !result.Success)
	sent := out.Close(cut)
	if cut {
		return err
	}
	why := concluded
	if err != nil {
		if wasMade(err) {
			why = unknown
		}
		result = callFailed(cutShort(cause, err), sent)
	}
	if !result.Success && x.own == nil {
		e.sayUnopened(x.tool.Plugin, &result)
	}
	if x.own == nil && x.stands == nil {
		result = e.bring(a, x, result)
	}
	result, x.printed = x.ranAs(result, out.Bytes())
	x.rest = out.Uncommitted()
	x.conclude(why, result, time.Since(began))
	if cause != nil && !errors.Is(err, errUnsettled) {
		x.cancel(sdk.Aborted)
	}
	return err
}

// wasMade reports whether a call that came to an error may have reached its tool.
func wasMade(err error) bool {
	return !slices.Contains([]sdk.Outcome{sdk.NotFound, sdk.Misnamed, sdk.Validation, sdk.Permission, sdk.Unavailable, sdk.Conflict, sdk.Again}, sdk.OutcomeOf(err))
}

// invocation is the call as tools get it. Its CallID is unique among all runs,
// and the same whenever the call is made or asked about.
func (e *Engine) invocation(run sdk.Run, x *action) sdk.Invocation {
	call := sdk.Invocation{
		Tool: cmp.Or(x.tool.Runs, x.tool.Name, x.Tool), Arguments: e.localArguments(x),
		CallID: fmt.Sprintf("%s-%d-%d", run.Key, x.Turn, x.Index),
		Run:    run.Key, Project: e.workplace(x.tool, run, x.project), RunDir: e.runDir(run), Deadline: time.Now().Add(toolTime),
		Argv: x.decision().Argv, View: x.decision().View, SameHost: x.decision().SameHost, NotHosts: x.decision().NotHosts, Writes: run.Writes,
	}
	if !x.until.IsZero() && x.until.Before(call.Deadline) {
		call.Deadline = x.until
	}
	if x.Proposal != nil {
		call.Base, call.Digest = x.Proposal.Base, x.Proposal.Digest
	}
	if e.cfg.Access != nil {
		call.Network = !run.Private && !run.Offline && e.cfg.Access.Network(x.project)
		call.Protection = e.warily(run, x, e.cfg.Access.Protection(x.project))
	}
	return call
}

// workplace is the project that a tool works in. Of a private run that is a folder of its own, which commands are told as
// no project.
func (e *Engine) workplace(tool sdk.Tool, run sdk.Run, project string) string {
	switch {
	case !run.Private:
		return project
	case slices.Contains(tool.Grants, sdk.GrantSandbox):
		return ""
	}
	_ = os.MkdirAll(e.folder(run), 0o700) // who finds none says so
	return e.folder(run)
}

// localArguments are the arguments as the tool gets them; the action keeps them as they
// were written.
func (e *Engine) localArguments(x *action) json.RawMessage {
	meant := x.meant()
	if e.cfg.Access != nil && len(meant) > 0 {
		if local := e.cfg.Access.Arguments(x.request()); local != nil {
			return local
		}
	}
	return meant
}

// cutShort says in plain words why a call ended that was told to. What its
// plugin says beyond that is kept.
func cutShort(cause, err error) error {
	if cause == nil || sdk.OutcomeOf(err) != sdk.Aborted && !errors.Is(err, context.Canceled) {
		return err
	}
	reason := "aborted"
	if late := (*guard.Late)(nil); errors.Is(cause, errAborted) || errors.As(cause, &late) {
		reason = cause.Error()
	}
	said := strings.TrimSuffix(strings.TrimSuffix(err.Error(), context.Canceled.Error()), ": ")
	if said != "" && said != "the call was aborted" {
		reason += ": " + said
	}
	return &sdk.Error{Outcome: sdk.Aborted, Message: reason, Cause: err}
}

// callFailed is the result of a call that could not be made or did not come to
// its end, with what it had sent by then.
func callFailed(err error, sent string) sdk.ToolResult {
	r := sdk.Failed(err)
	if errors.Is(err, errUnsettled) {
		r.Outcome = sdk.Interrupted
		r.Error += "; what it did is unknown"
		r.Output = r.Error
	}
	if sent != "" {
		r.Output = sent + "\n\n" + r.Error
	}
	return r
}

// sayUnopened adds to a failure that a confined plugin was never given the file that it
// misses, for the model and for people.
func (e *Engine) sayUnopened(plugin string, r *sdk.ToolResult) {
	if e.cfg.Unopened == nil {
		return
	}
	why := e.cfg.Unopened(plugin, cmp.Or(r.Error, r.Output))
	if why == "" {
		return
	}
	alone := r.Output == r.Error
	r.Error += "; " + why
	if r.Output += "\n[" + why + "]"; alone {
		r.Output = r.Error
	}
}
