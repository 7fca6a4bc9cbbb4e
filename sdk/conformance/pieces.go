package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// ending is how a call of a tool or a skill came to its end.
type ending struct {
	result *pb.ToolResult
	failed *sdk.Error
}

// outcome is that of the failure; empty when there was a result.
func (e ending) outcome() sdk.Outcome {
	if e.failed != nil {
		return e.failed.Outcome
	}
	return ""
}

// pieces reads a whole stream and holds it to the order of its pieces: any
// number of progress and chunks, then one result or one failure, then the end.
// An error of the connection is returned as gRPC gave it.
func pieces(stream grpc.ServerStreamingClient[pb.InvokeResponse], err error) (ending, error) {
	var end ending
	over := false
	for err == nil {
		var m *pb.InvokeResponse
		if m, err = stream.Recv(); err != nil {
			break
		}
		if over {
			return end, fmt.Errorf("a piece came behind the last one: %T", m.GetPiece())
		}
		switch p := m.GetPiece().(type) {
		case *pb.InvokeResponse_Result:
			end.result, over = p.Result, true
			if err := result(p.Result); err != nil {
				return end, err
			}
		case *pb.InvokeResponse_Failure:
			over = true
			errors.As(wire.Error(p.Failure), &end.failed)
			if end.failed.Message == "" {
				return end, fmt.Errorf("the failure %q has no message", end.failed.Outcome)
			}
		case *pb.InvokeResponse_Chunk:
			if c := p.Chunk.GetChannel(); c != 1 && c != 2 {
				return end, fmt.Errorf("a chunk is of channel %d: there are 1 and 2", c)
			}
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
		if !over {
			err = errors.New("the call ended without a result and without a failure")
		}
	}
	return end, err
}

// result says what is wrong with a result.
func result(r *pb.ToolResult) error {
	if r.GetSuccess() && r.GetError() != "" {
		return fmt.Errorf("a successful result carries the error %q", r.GetError())
	}
	for name, b := range map[string][]byte{"metadata": r.GetMetadataJson(), "structured": r.GetStructuredJson(), "changes": r.GetChangesJson(), "follow": r.GetFollow().GetArgumentsJson()} {
		if len(b) > 0 && !json.Valid(b) {
			return fmt.Errorf("the %s of the result are no JSON", name)
		}
	}
	return nil
}

// wants checks the outcome with which a call must be refused.
func wants(end ending, err error, want sdk.Outcome, what string) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s broke the connection: %w", what, err)
	case end.result != nil && !end.result.GetSuccess() && sdk.Outcome(end.result.GetOutcome()) == want:
		return nil
	case end.outcome() != want && end.failed != nil:
		return fmt.Errorf("%s was refused with %q (%s), want outcome %s", what, end.outcome(), end.failed.Message, want)
	case end.outcome() != want:
		return fmt.Errorf("%s was answered with a result, want outcome %s", what, want)
	}
	return nil
}
