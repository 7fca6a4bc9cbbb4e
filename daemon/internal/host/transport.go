package host

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/sdk"
)

// reaping is how long after its connection broke a process may take to be seen
// dead, on a machine that is busy: how it ended is what people are told.
const reaping = 3 * time.Second

// mapped is the one place where an error of a call to a plugin is told apart:
// the plugin's own answer is kept, unless that only says that the call was to end; otherwise
// the plugin died, the caller gave up, or the message itself was refused. What is left is a
// mistake of either side. It is nil for nil.
func (l *link) mapped(ctx context.Context, err error) error {
	var own *sdk.Error
	var provider *sdk.ProviderError
	late := errors.Is(ctx.Err(), context.DeadlineExceeded) || fellSilent(ctx) != nil
	switch {
	case err == nil || errors.As(err, &provider):
		return err
	case errors.As(err, &own) && (ctx.Err() == nil || own.Outcome != sdk.Internal && (own.Outcome != sdk.Aborted || !late)):
		return err
	}
	s, ok := status.FromError(err)
	if ctx.Err() == nil && s.Code() == codes.Unavailable {
		select { // so that the error can say how it ended
		case <-l.alive.Done():
		case <-time.After(reaping):
		}
	}
	switch cause := context.Cause(l.alive); {
	case cause != nil:
		return cause
	case ctx.Err() != nil:
		return gaveUp(ctx)
	case !ok:
		return sdk.Errorf(sdk.Internal, "%w", err)
	}
	switch s.Code() {
	case codes.Unavailable:
		return &sdk.Error{Outcome: sdk.Unavailable, Message: "the plugin cannot be reached: " + s.Message(), Cause: err}
	case codes.ResourceExhausted:
		return &sdk.Error{Outcome: sdk.Overflow, Message: "a message of the plugin is too large and was refused: one may have 16 MiB; its author answers with a part and says how to get the rest, or writes the whole into a file of the run's folder (RunDir) and names it (" + s.Message() + ")", Cause: err}
	case codes.Unimplemented:
		return &sdk.Error{Outcome: sdk.Unavailable, Message: "the plugin does not serve this: " + s.Message(), Cause: err}
	case codes.DeadlineExceeded:
		return &sdk.Error{Outcome: sdk.Timeout, Message: "the plugin gave up in time: " + s.Message(), Cause: err}
	}
	return &sdk.Error{Outcome: sdk.Internal, Message: "the plugin failed: " + s.Message(), Cause: err}
}

// gaveUp says why a caller's context ended.
func gaveUp(ctx context.Context) error {
	if late := fellSilent(ctx); late != nil {
		return late
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &sdk.Error{Outcome: sdk.Timeout, Message: "the call did not end before its deadline", Cause: ctx.Err()}
	}
	return &sdk.Error{Outcome: sdk.Aborted, Message: "the call was aborted", Cause: ctx.Err()}
}
