package host

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// stageTimeout bounds how long a tool may work out what a call would change: a
// person waits for it.
const stageTimeout = 10 * time.Second

// Stage asks a tool's plugin what a call would change in files. Nothing is
// changed by it. The error is an *sdk.Error: validation for wrong arguments, of
// any tool; unavailable when the tool cannot say, else why the call could not be
// made at all.
func (s *Supervisor) Stage(ctx context.Context, call sdk.Invocation) (sdk.Staged, error) {
	o, err := s.tools().find(call.Tool)
	if err != nil {
		return sdk.Staged{}, err
	}
	if call.Arguments, err = o.validate(call.Arguments); err != nil {
		return sdk.Staged{}, err
	}
	if !o.Staged {
		return sdk.Staged{}, sdk.Errorf(sdk.Unavailable, "the tool %s cannot say beforehand what it would change", call.Tool)
	}
	l, err := o.owner.callableFor(ctx, call.Run, call.RunDir)
	if err != nil {
		return sdk.Staged{}, err
	}
	defer l.endCall(call.Run)
	call.Tool = o.remote
	ctx, cancel := context.WithTimeout(ctx, stageTimeout)
	defer cancel()
	var staged sdk.Staged
	err = l.bound(ctx, func(rpc context.Context) (err error) {
		staged, err = l.tool.Stage(rpc, call)
		return err
	})
	return staged, err
}
