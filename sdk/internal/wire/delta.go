package wire

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

// Delta writes a piece of a completion. A piece that holds nothing is refused:
// the other side could not tell it from a message of a later version.
func Delta(d sdk.Delta) (*pb.CompleteResponse, error) {
	switch {
	case d.Call != nil:
		return &pb.CompleteResponse{Piece: &pb.CompleteResponse_Call{Call: &pb.CallDelta{
			Index: int32(d.Call.Index), Id: Text(d.Call.ID), Tool: Text(d.Call.Tool), Arguments: Text(d.Call.Arguments),
		}}}, nil
	case d.Usage != nil:
		u, cost := d.Usage, 0.0
		if u.Cost != nil {
			cost = *u.Cost
		}
		return &pb.CompleteResponse{Piece: &pb.CompleteResponse_Usage{Usage: &pb.Usage{
			Prompt: int64(u.Prompt), Cached: int64(u.Cached), Completion: int64(u.Completion),
			Reasoning: int64(u.Reasoning), Total: int64(u.Total), Cost: cost,
		}}}, nil
	case d.Finish != nil:
		return &pb.CompleteResponse{Piece: &pb.CompleteResponse_Finish{Finish: &pb.Finish{
			Reason: Text(d.Finish.Reason), ExtraJson: d.Finish.Extra,
		}}}, nil
	case d.Reasoning != "":
		return &pb.CompleteResponse{Piece: &pb.CompleteResponse_Reasoning{Reasoning: Text(d.Reasoning)}}, nil
	case d.Text != "":
		return &pb.CompleteResponse{Piece: &pb.CompleteResponse_Text{Text: Text(d.Text)}}, nil
	}
	return nil, errors.New("an empty delta was sent")
}

// ReadDelta reads a piece of a completion. known is false for a piece of a
// later version, which is skipped.
func ReadDelta(m *pb.CompleteResponse) (d sdk.Delta, known bool) {
	switch p := m.GetPiece().(type) {
	case *pb.CompleteResponse_Text:
		return sdk.Delta{Text: p.Text}, true
	case *pb.CompleteResponse_Reasoning:
		return sdk.Delta{Reasoning: p.Reasoning}, true
	case *pb.CompleteResponse_Call:
		c := p.Call
		return sdk.Delta{Call: &sdk.CallDelta{Index: int(c.GetIndex()), ID: c.GetId(), Tool: c.GetTool(), Arguments: c.GetArguments()}}, true
	case *pb.CompleteResponse_Usage:
		u := p.Usage
		var cost *float64
		if c := u.GetCost(); c != 0 { // not even a negative one is taken for unknown here
			cost = &c
		}
		return sdk.Delta{Usage: &sdk.Usage{
			Prompt: int(u.GetPrompt()), Cached: int(u.GetCached()), Completion: int(u.GetCompletion()),
			Reasoning: int(u.GetReasoning()), Total: int(u.GetTotal()), Cost: cost,
		}}, true
	case *pb.CompleteResponse_Finish:
		return sdk.Delta{Finish: &sdk.Finish{Reason: p.Finish.GetReason(), Extra: p.Finish.GetExtraJson()}}, true
	}
	return sdk.Delta{}, false
}

// ProviderFailure writes the error that ends a completion. An error that is no
// *sdk.ProviderError is one that no retry helps; an *sdk.Error keeps its
// outcome, and an ended context says which it is.
func ProviderFailure(err error, streamed bool) *pb.CompleteResponse {
	var pe *sdk.ProviderError
	var own *sdk.Error
	outcome := ""
	if !errors.As(err, &pe) {
		pe = &sdk.ProviderError{Class: sdk.ClassNever, Message: plain(err)}
		if o := outcomeOf(err); o != sdk.Internal || errors.As(err, &own) {
			outcome = string(o)
		}
	}
	return &pb.CompleteResponse{Piece: &pb.CompleteResponse_Failure{Failure: &pb.ProviderFailure{
		Class: string(pe.Class), Message: Text(pe.Message), Status: int32(pe.Status),
		RetryAfterMs: pe.RetryAfter.Milliseconds(), Streamed: pe.Streamed || streamed,
		NoTools: pe.NoTools, Replay: pe.Replay, Outcome: outcome,
	}}}
}

// ProviderError reads the error that ended a completion: a *sdk.ProviderError,
// or an *sdk.Error. A class that this side does not know is one that it must
// not retry.
func ProviderError(f *pb.ProviderFailure) error {
	if o := f.GetOutcome(); o != "" {
		return &sdk.Error{Outcome: sdk.Outcome(o), Message: f.GetMessage()}
	}
	class := sdk.FailureClass(f.GetClass())
	switch class {
	case sdk.ClassWarmUp, sdk.ClassRateLimit, sdk.ClassGateway, sdk.ClassServer, sdk.ClassOverflow:
	default:
		class = sdk.ClassNever
	}
	return &sdk.ProviderError{
		Class: class, Message: f.GetMessage(), Status: int(f.GetStatus()),
		RetryAfter: time.Duration(f.GetRetryAfterMs()) * time.Millisecond,
		Streamed:   f.GetStreamed(), NoTools: f.GetNoTools(), Replay: f.GetReplay(),
	}
}

// ErrNoFinish is what Deltas makes of a stream that was cut.
var ErrNoFinish error = &sdk.ProviderError{Class: sdk.ClassGateway, Message: "the provider ended its stream without a finish", Streamed: true}

// Deltas receives a completion's stream and hands its pieces to send. It ends
// without an error only behind a Finish: a stream that was cut is incomplete.
func Deltas(recv func() (*pb.CompleteResponse, error), send func(sdk.Delta) error) error {
	finished := false
	for {
		m, err := recv()
		if errors.Is(err, io.EOF) {
			if !finished {
				return ErrNoFinish
			}
			return nil
		}
		if err != nil {
			return err
		}
		if f := m.GetFailure(); f != nil {
			return ProviderError(f)
		}
		d, known := ReadDelta(m)
		if !known {
			continue
		}
		finished = finished || d.Finish != nil
		if err := send(d); err != nil {
			return fmt.Errorf("pass on a piece of the completion: %w", err)
		}
	}
}
