package host

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/tool"
)

// answering bounds what a plugin may take, once it is ready, to say something about
// a call that it does not make: a person, or a run, waits for it.
const answering = 10 * time.Second

// Stage asks a tool's plugin what a call would change in files. Nothing is
// changed by it. The error is an *sdk.Error: validation for wrong arguments, of
// any tool; unavailable when the tool cannot say, else why the call could not be
// made at all.
func (s *Supervisor) Stage(ctx context.Context, call sdk.Invocation) (staged sdk.Staged, err error) {
	o, err := s.fitting(&call)
	if err != nil {
		return staged, err
	}
	if !o.Staged {
		return staged, sdk.Errorf(sdk.Unavailable, "the tool %s cannot say beforehand what it would change", call.Tool)
	}
	return askAbout(ctx, o, call, (*tool.Client).Stage)
}

// Settle asks a tool's plugin what a call came to that an earlier daemon had begun, which is
// no attempt to make it and may be done again. A result is what Invoke would have answered,
// and says recovered in its metadata. The error is an *sdk.Error: not_found for an unknown
// tool, and interrupted when nobody knows, which says nothing about what the call did.
func (s *Supervisor) Settle(ctx context.Context, call sdk.Invocation) (r sdk.ToolResult, err error) {
	o, err := s.tools().find(call.Tool)
	if err != nil {
		return r, err
	}
	if r, err = askAbout(ctx, o, call, (*tool.Client).Settle); err != nil {
		o.owner.log.Info("nobody knows what a call came to that was cut short", "tool", o.Name, "call", call.CallID, "reason", err)
		return sdk.ToolResult{}, &sdk.Error{Outcome: sdk.Interrupted, Message: "the daemon ended while this call ran; what it did is unknown", Cause: err}
	}
	if r.Metadata == nil {
		r.Metadata = map[string]any{}
	}
	r.Metadata["recovered"] = true
	r.Writes = nil // an entry is brought by the call itself
	return o.believe(r, false), nil
}

// askAbout asks something about a call, by the name that the tool has in its plugin.
func askAbout[T any](ctx context.Context, o *offered, call sdk.Invocation, ask func(*tool.Client, context.Context, sdk.Invocation) (T, error)) (answer T, err error) {
	l, end, err := o.owner.called(ctx, call.Run, call.RunDir)
	if err != nil {
		return answer, err
	}
	defer end()
	call.Tool, call.Project = o.remote, l.told(call.Project)
	ctx, cancel := context.WithTimeout(ctx, answering)
	defer cancel()
	return bound(ctx, l, func(rpc context.Context) (T, error) { return ask(l.tool, rpc, call) })
}

// Prepare has a tool's plugin make ready what calls of the tool in a run need, and
// keeps what it says for [Supervisor.Prepared]. It bounds nothing: a plugin that
// is started for it, and its work, may take as long as ctx. The error is an
// *sdk.Error: unavailable when the tool prepares nothing.
func (s *Supervisor) Prepare(ctx context.Context, at sdk.Place) (sdk.Prepared, error) {
	o, err := s.tools().find(at.Tool)
	if err != nil {
		return sdk.Prepared{}, err
	}
	if !o.Prepares {
		return sdk.Prepared{}, sdk.Errorf(sdk.Unavailable, "the tool %s makes nothing ready beforehand", at.Tool)
	}
	at.Tool = o.remote
	return once(ctx, o.owner, at.Run, at.RunDir, func(rpc context.Context, l *link) (sdk.Prepared, error) {
		places := l.places.Load() // of the settings that it has now
		told := at
		told.Project = l.told(at.Project)
		p, err := l.tool.Prepare(rpc, told)
		if err == nil {
			places.Store(preparedPlace{at.Tool, at.Project}, p)
		}
		return p, err
	})
}

// Prepared is what a tool's plugin last said of a project when it made a place in
// it ready. False is that it has said nothing since it was started or configured.
func (s *Supervisor) Prepared(name, project string) (sdk.Prepared, bool) {
	o, err := s.tools().find(name)
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
