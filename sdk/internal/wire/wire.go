// Package wire turns the nouns of package sdk into the messages of the plugin
// protocol and back. Every kind needs the same handful of conversions on both
// of its sides; they stand here once.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

// MaxMessage is the most bytes that one message may have in either direction,
// on both sides. What is larger is refused with Overflow, never truncated.
const MaxMessage = 16 << 20

// Failure writes err as it crosses the wire: an outcome and a message. The
// cause stays behind. It is nil for nil.
func Failure(err error) *pb.Failure {
	if err == nil {
		return nil
	}
	return &pb.Failure{Outcome: string(outcomeOf(err)), Message: Text(plain(err))}
}

// plain is an error's text for people: what Go says of an ended context is
// said in words.
func plain(err error) string {
	text := err.Error()
	for of, words := range map[error][2]string{
		context.Canceled:         {"the call was aborted", "aborted"},
		context.DeadlineExceeded: {"the call ran out of time", "out of time"},
	} {
		if text == of.Error() {
			return words[0]
		}
		if errors.Is(err, of) {
			text = strings.ReplaceAll(text, of.Error(), words[1])
		}
	}
	return text
}

// outcomeOf is sdk.OutcomeOf, which also knows an ended context.
func outcomeOf(err error) sdk.Outcome {
	var e *sdk.Error
	switch {
	case errors.As(err, &e):
		return e.Outcome
	case errors.Is(err, context.DeadlineExceeded):
		return sdk.Timeout
	case errors.Is(err, context.Canceled):
		return sdk.Aborted
	}
	return sdk.Internal
}

// Error reads a failure; nil when there is none.
func Error(f *pb.Failure) error {
	if f == nil {
		return nil
	}
	o := sdk.Outcome(f.GetOutcome())
	if o == "" {
		o = sdk.Internal
	}
	return &sdk.Error{Outcome: o, Message: f.GetMessage()}
}

// Transport gives an error of the connection to the daemon an outcome, as a
// plugin that calls its host sees it.
func Transport(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return &sdk.Error{Outcome: outcomeOf(cause), Message: "the call ended before the daemon answered", Cause: cause}
	}
	s := status.Convert(err)
	o := sdk.Unavailable
	switch s.Code() {
	case codes.ResourceExhausted:
		o = sdk.Overflow
	case codes.DeadlineExceeded:
		o = sdk.Timeout
	case codes.Canceled:
		o = sdk.Aborted
	case codes.PermissionDenied, codes.Unauthenticated:
		o = sdk.Permission
	}
	return &sdk.Error{Outcome: o, Message: "the daemon did not answer: " + s.Message(), Cause: err}
}

// Text makes s fit for a string field, which must be UTF-8.
func Text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Ended writes how a call came to its end: its result, or why there is none.
func Ended(result sdk.ToolResult, err error) (*pb.ToolResult, *pb.Failure) {
	if err == nil {
		var r *pb.ToolResult
		if r, err = writeResult(result); err == nil {
			return r, nil
		}
	}
	return nil, Failure(err)
}

// End reads how a call came to its end.
func End(r *pb.ToolResult, f *pb.Failure) (sdk.ToolResult, error) {
	switch {
	case f != nil:
		return sdk.ToolResult{}, Error(f)
	case r == nil:
		return sdk.ToolResult{}, sdk.Errorf(sdk.Internal, "the call ended without a result")
	}
	return readResult(r)
}

func writeResult(r sdk.ToolResult) (*pb.ToolResult, error) {
	out := &pb.ToolResult{
		Success: r.Success, Output: Text(r.Output), Error: Text(r.Error),
		Truncated: r.Truncated, StructuredJson: r.Structured, Outcome: string(r.Outcome),
	}
	if len(r.Metadata) > 0 {
		b, err := json.Marshal(r.Metadata)
		if err != nil {
			return nil, fmt.Errorf("encode the result's metadata: %w", err)
		}
		out.MetadataJson = b
	}
	if len(r.Structured) > 0 && !json.Valid(r.Structured) {
		return nil, errors.New("the result's structured part is no JSON")
	}
	if len(r.Changes) > 0 {
		b, err := json.Marshal(r.Changes)
		if err != nil {
			return nil, fmt.Errorf("encode the result's changes: %w", err)
		}
		out.ChangesJson = b
	}
	if len(r.Writes) > 0 {
		b, err := json.Marshal(r.Writes)
		if err != nil {
			return nil, fmt.Errorf("encode the entries that the result brings: %w", err)
		}
		out.WritesJson = b
	}
	out.ChangesKept, out.Told = r.ChangesKept, r.Told
	if f := r.Follow; f != nil {
		if !json.Valid(f.Arguments) {
			return nil, errors.New("the arguments of the call that is to follow are no JSON")
		}
		out.Follow = &pb.FollowUp{Tool: f.Tool, ArgumentsJson: f.Arguments, Otherwise: Text(f.Otherwise)}
	}
	return out, nil
}

// readResult reads a tool's result.
func readResult(p *pb.ToolResult) (sdk.ToolResult, error) {
	r := sdk.ToolResult{
		Success: p.GetSuccess(), Output: p.GetOutput(), Error: p.GetError(),
		Truncated: p.GetTruncated(), Outcome: sdk.Outcome(p.GetOutcome()),
	}
	if b := p.GetMetadataJson(); len(b) > 0 {
		if err := json.Unmarshal(b, &r.Metadata); err != nil {
			return r, fmt.Errorf("decode the result's metadata: %w", err)
		}
	}
	if b := p.GetStructuredJson(); len(b) > 0 {
		if !json.Valid(b) {
			return r, errors.New("the result's structured part is no JSON")
		}
		r.Structured = b
	}
	if b := p.GetChangesJson(); len(b) > 0 {
		if err := json.Unmarshal(b, &r.Changes); err != nil {
			return r, fmt.Errorf("decode the result's changes: %w", err)
		}
	}
	if b := p.GetWritesJson(); len(b) > 0 {
		if err := json.Unmarshal(b, &r.Writes); err != nil {
			return r, fmt.Errorf("decode the entries that the result brings: %w", err)
		}
	}
	r.ChangesKept, r.Told = p.GetChangesKept(), p.GetTold()
	if f := p.GetFollow(); f != nil {
		if !json.Valid(f.GetArgumentsJson()) {
			return r, errors.New("the arguments of the call that is to follow are no JSON")
		}
		r.Follow = &sdk.FollowUp{Tool: f.GetTool(), Arguments: f.GetArgumentsJson(), Otherwise: f.GetOtherwise()}
	}
	return r, nil
}

// StreamError is Transport for a stream's Recv, whose end is no failure.
func StreamError(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return Transport(ctx, err)
}
