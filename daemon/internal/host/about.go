package host

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// answering bounds what a plugin may take, once it is ready, to say something about
// a call that it does not make: a person, or a run, waits for it.
const answering = 10 * time.Second

// Stage asks a tool's plugin what a call would change in files. Nothing is
// changed by it. The error is an *sdk.Error: validation for wrong arguments, of
// any tool; unavailable when the tool cannot say, else why the call could not be
// made at all.
func (s *Supervisor) Stage(ctx context.Context, call sdk.Invocation) (staged sdk.Staged, err error) {
	o, err := s.tools().find(call.Tool)
	if err != nil {
		return staged, err
	}
	if call.Arguments, err = o.validate(call.Arguments); err != nil {
		return staged, err
	}
	if !o.Staged {
		return staged, sdk.Errorf(sdk.Unavailable, "the tool %s cannot say beforehand what it would change", call.Tool)
	}
	err = o.about(ctx, call, func(rpc context.Context, l *link, call sdk.Invocation) (err error) {
		staged, err = l.tool.Stage(rpc, call)
		return err
	})
	return staged, err
}

// Settle asks a tool's plugin what a call came to that an earlier daemon had
// begun. A result is what Invoke would have answered, and says recovered in its
// metadata. The error is an *sdk.Error: not_found for an unknown tool, and
// interrupted when nobody knows, which says nothing about what the call did.
// Asking is no attempt to make the call, and may be done again.
func (s *Supervisor) Settle(ctx context.Context, call sdk.Invocation) (r sdk.ToolResult, err error) {
	o, err := s.tools().find(call.Tool)
	if err != nil {
		return r, err
	}
	err = o.about(ctx, call, func(rpc context.Context, l *link, call sdk.Invocation) (err error) {
		r, err = l.tool.Settle(rpc, call)
		return err
	})
	if err != nil {
		o.owner.log.Info("nobody knows what a call came to that was cut short", "tool", o.Name, "call", call.CallID, "reason", err)
		return sdk.ToolResult{}, &sdk.Error{Outcome: sdk.Interrupted, Message: "the daemon ended while this call ran; what it did is unknown", Cause: err}
	}
	if r.Metadata == nil {
		r.Metadata = map[string]any{}
	}
	r.Metadata["recovered"] = true
	return o.believe(r, false), nil
}

// about asks something about a call, by the name that the tool has in its plugin.
func (o *offered) about(ctx context.Context, call sdk.Invocation, ask func(context.Context, *link, sdk.Invocation) error) error {
	l, end, err := o.owner.called(ctx, call.Run, call.RunDir)
	if err != nil {
		return err
	}
	defer end()
	call.Tool, call.Project = o.remote, l.told(call.Project)
	ctx, cancel := context.WithTimeout(ctx, answering)
	defer cancel()
	return l.bound(ctx, func(rpc context.Context) error { return ask(rpc, l, call) })
}

// Prepare has a tool's plugin make ready what calls of the tool in a run need, and
// keeps what it says for [Supervisor.Prepared]. It bounds nothing: a plugin that
// is started for it, and its work, may take as long as ctx. The error is an
// *sdk.Error: unavailable when the tool prepares nothing.
func (s *Supervisor) Prepare(ctx context.Context, at sdk.Place) (p sdk.Prepared, err error) {
	o, err := s.tools().find(at.Tool)
	if err != nil {
		return p, err
	}
	if !o.Prepares {
		return p, sdk.Errorf(sdk.Unavailable, "the tool %s makes nothing ready beforehand", at.Tool)
	}
	at.Tool = o.remote
	err = o.owner.once(ctx, at.Run, at.RunDir, func(rpc context.Context, l *link) error {
		places := l.places.Load() // of the settings that it has now
		told := at
		told.Project = l.told(at.Project)
		if p, err = l.tool.Prepare(rpc, told); err == nil {
			places.Store(preparedPlace{at.Tool, at.Project}, p)
		}
		return err
	})
	return p, err
}

// Prepared is what a tool's plugin last said of a project when it made a place in
// it ready. False is that it has said nothing since it was started or configured.
func (s *Supervisor) Prepared(tool, project string) (sdk.Prepared, bool) {
	o, err := s.tools().find(tool)
	if err != nil {
		return sdk.Prepared{}, false
	}
	o.owner.mu.Lock()
	l := o.owner.link
	o.owner.mu.Unlock()
	if l == nil {
		return sdk.Prepared{}, false
	}
	said, ok := l.places.Load().Load(preparedPlace{o.remote, project})
	p, _ := said.(sdk.Prepared)
	return p, ok
}

// preparedPlace is what an answer to Prepare holds for.
type preparedPlace struct{ tool, project string }
