package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/deadline"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// errHung ends the connection's side of a call that outlived its cancellation.
var errHung = errors.New("the call did not end after it was cancelled")

// Invoke runs one call of a tool. The error is an *sdk.Error: not_found for an unknown tool,
// validation for wrong arguments, again when call.Digest is not of the binary that runs,
// plugin_crashed when the plugin died, oom when that was for want of memory, timeout when the
// deadline of ctx or of the call passed or the plugin was silent for too long, aborted when
// ctx was cancelled. A call of a pinned plugin's read-only or idempotent tool is tried a
// second time when the plugin crashed under it, and not when it ran out of memory.
func (s *Supervisor) Invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
	name := call.Tool
	o, err := s.fitting(&call)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	if ctx, err = callback.Below(ctx, "the call of "+o.Name); err != nil {
		return sdk.ToolResult{}, err
	}
	if call.CallID == "" {
		call.CallID = uuid.NewString()
	}
	call.Tool = o.remote
	until := call.Deadline
	var crash error // of the first attempt, which was made on the binary before
	before := ""
	for {
		l, end, err := o.owner.calledBy(ctx, until, call.Run, call.RunDir)
		if err != nil {
			return sdk.ToolResult{}, err
		}
		if call.Digest != "" && call.Digest != l.binary.Digest {
			end()
			return sdk.ToolResult{}, sdk.Errorf(sdk.Again, "this call was not made: the binary of the plugin %s is another than when it was agreed to; make the call again, and it is asked about again", o.owner.name)
		}
		if crash != nil && l.binary.Digest != before && !s.repeats(name, call) {
			end()
			return sdk.ToolResult{}, crash
		}
		limited, late, done := l.limited(ctx, until)
		r, err := s.serve(limited, late, l, o.owner, sdk.Caller{Call: call.CallID, Run: call.Run, Project: call.Project, RunDir: call.RunDir}, l.tool, out,
			func(rpc context.Context, deadline time.Time, out sdk.Stream) (sdk.ToolResult, error) {
				call := call
				call.Deadline, call.Project = deadline, l.told(call.Project)
				return l.ask(rpc, call, o.Whole, out)
			})
		if late != nil {
			until = late.Until() // what a person took is no time of the second attempt
		}
		done()
		end()
		if err == nil || crash != nil || !o.repeatable() || sdk.OutcomeOf(err) != sdk.PluginCrashed || ctx.Err() != nil || !until.IsZero() && !time.Now().Before(until) {
			return o.believe(r, crash != nil), err
		}
		crash, before = err, l.binary.Digest
		o.owner.log.Info("the plugin crashed during a call that may be repeated", "tool", o.Name)
		if err := out.Progress("the plugin crashed; the call is repeated", -1); err != nil {
			return sdk.ToolResult{}, sdk.Errorf(sdk.Aborted, "the call was given up: %w", err)
		}
	}
}

// fitting is the tool of a call, whose arguments it takes.
func (s *Supervisor) fitting(call *sdk.Invocation) (*offered, error) {
	o, err := s.tools().find(call.Tool)
	if err == nil {
		call.Arguments, err = o.validate(call.Arguments)
	}
	return o, err
}

// repeatable reports whether a call may be made a second time: somebody vouches
// for what the plugin says of its tool.
func (o *offered) repeatable() bool {
	return o.Pinned && (o.Annotations.ReadOnly || o.Annotations.Idempotent)
}

// repeats reports whether a call may be made a second time by a binary that took
// the place of the one which crashed: it may mean something else by the name.
func (s *Supervisor) repeats(name string, call sdk.Invocation) bool {
	remote := call.Tool
	call.Tool = name
	o, err := s.fitting(&call)
	return err == nil && o.remote == remote && o.repeatable()
}

// told is what the plugin is told of a call's project: nothing unless it is granted the files
// of projects, or the sandbox, whose commands work there.
func (l *link) told(project string) string {
	if l.files {
		return project
	}
	return ""
}

// serve makes one call of a tool or a skill, which its plugin may call back for and
// which ends at its deadline or when the plugin is silent for too long. Late is nil where the
// deadline does not move.
func (s *Supervisor) serve(ctx context.Context, late *deadline.Deadline, l *link, i *instance, c sdk.Caller, kind canceller, out sdk.Stream,
	do func(context.Context, time.Time, sdk.Stream) (sdk.ToolResult, error)) (r sdk.ToolResult, err error) {
	ctx, done := l.unhurried(ctx)
	defer done()
	var quiet *deadline.Deadline
	if !l.attached {
		limit, heard := s.cfg.Silence, context.CancelFunc(nil)
		if i.current().Granted(sdk.GrantSandbox) {
			limit = 0 // it bounds its commands
		}
		ctx, quiet, heard = i.heeded(ctx, limit)
		defer heard()
	}
	c.Instance, c.Depth = i.name, callback.Depth(ctx)
	defer s.calls.Begin(ctx, c, clocks{quiet, late})()
	deadline, _ := ctx.Deadline()
	err = l.guarded(ctx, c.Call, kind, func(rpc context.Context) (err error) {
		r, err = do(rpc, deadline, heard{out, quiet})
		return err
	})
	return l.keep(r), err
}

// keep is a result with the entries that it brings as they may be written. One that brings others has failed.
func (l *link) keep(r sdk.ToolResult) sdk.ToolResult {
	kept, err := l.back.Keep(r.Writes)
	if err != nil {
		return sdk.Failed(fmt.Errorf("what the call brought is not kept: %w", err))
	}
	r.Writes = kept
	return r
}

// ask makes the call without a stream where the tool needs none. A plugin that
// serves no such call is asked for one once.
func (l *link) ask(ctx context.Context, call sdk.Invocation, whole bool, out sdk.Stream) (sdk.ToolResult, error) {
	if whole && !l.streams.Load() {
		r, err := l.tool.Call(ctx, call)
		if status.Code(err) != codes.Unimplemented {
			return r, err
		}
		l.streams.Store(true)
	}
	return l.tool.Invoke(host.Outgoing(ctx), call, out)
}

// canceller is the kind whose call can be asked to stop: tool, skill, or a channel, which
// has no id.
type canceller interface {
	Cancel(ctx context.Context, callID string) error
}

// guarded runs one streaming call on a context of its own, which outlives ctx
// by the grace that a cancelled call has to end in order. A plugin that does
// not end it is killed.
func (l *link) guarded(ctx context.Context, callID string, kind canceller, do func(context.Context) error) error {
	rpc, hangUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer hangUp(nil)
	defer context.AfterFunc(l.alive, func() { hangUp(context.Cause(l.alive)) })()

	ended, over := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		l.cancel(callID, kind, ended, hangUp)
	})
	err := do(host.WithCall(rpc, callID))
	close(ended)
	if !stop() {
		<-over
	}
	if err == nil || !errors.Is(context.Cause(rpc), errHung) {
		return l.mapped(ctx, err)
	}
	why, end := gaveUp(ctx), "it was killed"
	if l.attached {
		end = "its author's process was left alone"
	}
	return sdk.Errorf(sdk.OutcomeOf(why), "%w, and the plugin did not stop within %v: %s", why, l.cfg.CancelGrace, end)
}

// cancel asks the plugin to end the call, waits for the grace, then kills it.
func (l *link) cancel(callID string, kind canceller, ended <-chan struct{}, hangUp context.CancelCauseFunc) {
	grace := time.After(l.cfg.CancelGrace)
	ctx, done := context.WithTimeout(l.alive, l.cfg.CancelGrace)
	defer done()
	asked := make(chan error, 1)
	go func() { asked <- kind.Cancel(ctx, callID) }() // ends with ctx
	for {
		select {
		case <-ended:
			return
		case err := <-asked:
			if status.Code(err) == codes.Unimplemented {
				hangUp(err) // the plugin's only way to hear of it
				return
			}
			asked = nil
		case <-grace:
			hangUp(errHung)
			what := "a call"
			if callID == "" {
				what = "its channel"
			}
			l.finish(fmt.Sprintf("%s did not end within %v of its cancellation", what, l.cfg.CancelGrace), true)
			return
		}
	}
}
