package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Names that no plugin has: they break the rules for names, or would.
const (
	noTool  = "x_no_such_tool"
	noSkill = "x-no-such-skill"
	noCall  = "never-made"
)

// ToolChecks are the checks of the kind tool. A tool is called only when it is
// read-only, or with Subject.Call.
func ToolChecks(m sdk.Manifest) []Check {
	checks := []Check{
		{"tool: unknown tool", func(ctx context.Context, s Subject) error {
			end, err := invoke(ctx, s, noTool, []byte("{}"))
			return wants(end, err, sdk.NotFound, "a call of a tool that there is not")
		}},
		{"tool: cancel of a call that is over", func(ctx context.Context, s Subject) error {
			return cancelled(ctx, s, canceller(pb.NewToolClient(s.Conn), noCall))
		}},
		{"tool: settle of a call never made", settled},
	}
	for _, spec := range m.Tools {
		checks = append(checks, Check{"tool " + spec.Name, func(ctx context.Context, s Subject) error { return tried(ctx, s, spec) }})
	}
	return checks
}

// invoke makes one call, which must end in time.
func invoke(ctx context.Context, s Subject, name string, arguments []byte) (ending, error) {
	return invokeBy(ctx, s, name, arguments, "conformance", time.Now().Add(patience))
}

func invokeBy(ctx context.Context, s Subject, name string, arguments []byte, id string, deadline time.Time) (end ending, err error) {
	err = within(ctx, "the call of "+name, patience+grace, func(ctx context.Context) (err error) {
		end, err = pieces(pb.NewToolClient(s.Conn).Invoke(ctx, &pb.InvokeRequest{
			Tool: name, ArgumentsJson: arguments, CallId: id, Run: "conformance", Project: s.project(), RunDir: s.RunDir,
			DeadlineUnixMs: deadline.UnixMilli(),
		}))
		return err
	})
	return end, err
}

// tried calls one tool: with arguments that its schema allows, many times at
// once, with too little time, and with arguments that its schema refuses.
func tried(ctx context.Context, s Subject, spec sdk.ToolSpec) error {
	if !spec.Annotations.ReadOnly && !s.Call {
		return Skip("it is not declared read-only: give --call to have it called all the same")
	}
	if _, err := schemaOf(spec); err != nil {
		return Skip("no daemon takes its JSON Schema: the check of the manifest says why")
	}
	arguments, err := Arguments(spec)
	if err != nil {
		return errors.Join(misused(ctx, s, spec), err)
	}
	for _, step := range []func(context.Context, Subject, sdk.ToolSpec, []byte) error{called, inOne, thronged, late, interrupted} {
		if err := step(ctx, s, spec, arguments); err != nil {
			return fmt.Errorf("with the arguments %s: %w", arguments, err)
		}
	}
	return errors.Join(alive(ctx, s), misused(ctx, s, spec))
}

func misused(ctx context.Context, s Subject, spec sdk.ToolSpec) error {
	for _, arguments := range []string{`[1]`, `{"x_undeclared_argument":true}`} {
		end, err := invoke(ctx, s, spec.Name, []byte(arguments))
		if err == nil {
			err = alive(ctx, s)
		}
		if err != nil {
			return fmt.Errorf("a call with the arguments %s, which its schema refuses: %w", arguments, err)
		}
		if err := wants(end, nil, sdk.Validation, "a call with the arguments "+arguments); err != nil {
			return Warn("%v; the daemon refuses such calls before, but who calls otherwise is not told", err)
		}
	}
	return nil
}

func called(ctx context.Context, s Subject, spec sdk.ToolSpec, arguments []byte) error {
	_, err := invoke(ctx, s, spec.Name, arguments)
	return err
}

// inOne makes the call in one answer, where the tool says that it has nothing to send
// before its result and the plugin serves that.
func inOne(ctx context.Context, s Subject, spec sdk.ToolSpec, arguments []byte) error {
	if !spec.Whole {
		return nil
	}
	return within(ctx, "the call of "+spec.Name+" in one answer", patience+grace, func(ctx context.Context) error {
		resp, err := pb.NewToolClient(s.Conn).Call(ctx, &pb.InvokeRequest{
			Tool: spec.Name, ArgumentsJson: arguments, CallId: "conformance", Run: "conformance", Project: s.project(), RunDir: s.RunDir,
			DeadlineUnixMs: time.Now().Add(patience).UnixMilli(),
		})
		switch {
		case absent(err):
			return nil
		case err != nil:
			return fmt.Errorf("calling Call failed: %w", err)
		case (resp.GetResult() == nil) == (resp.GetFailure() == nil):
			return errors.New("the answer of Call has neither a result nor a failure, or both")
		case resp.GetFailure() != nil && resp.GetFailure().GetMessage() == "":
			return fmt.Errorf("the failure %q has no message", resp.GetFailure().GetOutcome())
		}
		return result(resp.GetResult())
	})
}

// thronged makes several calls at the same time. A tool that may have effects
// is spared: nobody asked for them sixteen times.
func thronged(ctx context.Context, s Subject, spec sdk.ToolSpec, arguments []byte) error {
	if !spec.Annotations.ReadOnly {
		return nil
	}
	errs := together(func() error { return called(ctx, s, spec, arguments) })
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%d calls at the same time: %w", crowd, err)
	}
	return nil
}

// grace is how long a call may go on behind its deadline or its cancel. The
// daemon kills a plugin that takes longer.
const grace = 2 * time.Second

// late makes a call whose deadline is over soon: it must end by itself.
func late(ctx context.Context, s Subject, spec sdk.ToolSpec, arguments []byte) error {
	const soon = 50 * time.Millisecond
	began := time.Now()
	if _, err := invokeBy(ctx, s, spec.Name, arguments, "conformance-late", began.Add(soon)); err != nil {
		return err
	}
	if took := time.Since(began); took > soon+grace {
		return fmt.Errorf("the call ended %v after its deadline: the daemon waits %v and kills the plugin", took-soon, grace)
	}
	return nil
}

// interrupted cancels a call as the daemon does: by Cancel, until it has ended.
func interrupted(ctx context.Context, s Subject, spec sdk.ToolSpec, arguments []byte) error {
	return stopped(ctx, pb.NewToolClient(s.Conn), func(id string) error {
		_, err := invokeBy(ctx, s, spec.Name, arguments, id, time.Now().Add(patience))
		return err
	})
}

// stopped begins a call and stops it on its way.
func stopped(ctx context.Context, kind cancels, call func(id string) error) error {
	const id = "conformance-cancel"
	over := make(chan error, 1)
	go func() { over <- call(id) }()
	return stop(ctx, over, canceller(kind, id))
}

// cancels is a kind whose calls have ids by which they are cancelled.
type cancels interface {
	Cancel(context.Context, *pb.CancelRequest, ...grpc.CallOption) (*pb.CancelResponse, error)
}

// canceller cancels the call with an id.
func canceller(kind cancels, id string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := kind.Cancel(ctx, &pb.CancelRequest{CallId: id})
		return err
	}
}

// errNoCancel is what it costs that a plugin cannot cancel.
var errNoCancel = Warn("the plugin does not serve Cancel: a call that is aborted costs the whole process")

// stop cancels until the call is over: it may not have begun when it is first
// cancelled.
func stop(ctx context.Context, over <-chan error, cancel func(context.Context) error) error {
	limit := time.NewTimer(grace)
	defer limit.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if err := cancel(ctx); absent(err) {
			return errNoCancel
		} else if err != nil {
			return fmt.Errorf("calling Cancel failed: %w", err)
		}
		select {
		case err := <-over:
			return err
		case <-limit.C:
			return fmt.Errorf("the call was not over %v after it was cancelled: the daemon kills the plugin then", grace)
		case <-again.C:
		}
	}
}

func cancelled(ctx context.Context, s Subject, cancel func(context.Context) error) error {
	err := within(ctx, "Cancel", patience, cancel)
	switch {
	case absent(err):
		return errNoCancel
	case err != nil:
		return fmt.Errorf("a call that is over already cannot be cancelled: %w", err)
	}
	return alive(ctx, s)
}

// settled asks what a call came to that nobody made. A plugin that answers with
// a result guesses, and a model would take it for what happened.
func settled(ctx context.Context, s Subject) error {
	for _, spec := range slices.Concat(s.Manifest.Tools, s.Manifest.Tools) { // a second answer must not be another
		resp, err := pb.NewToolClient(s.Conn).Settle(ctx, &pb.InvokeRequest{
			Tool: spec.Name, ArgumentsJson: []byte("{}"), CallId: noCall, Run: noCall, Project: s.project(), RunDir: s.RunDir,
		})
		if absent(err) {
			return Skip("the plugin does not serve Settle, and need not")
		}
		if err != nil {
			return fmt.Errorf("calling Settle failed: %w", err)
		}
		var own *sdk.Error
		if !errors.As(wire.Error(resp.GetFailure()), &own) || own.Outcome != sdk.Interrupted {
			return fmt.Errorf("%s: a call that was never made came to something (%v), want outcome %s", spec.Name, own, sdk.Interrupted)
		}
	}
	return nil
}
