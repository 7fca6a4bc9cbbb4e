package conformance

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// plain is a connection whose errors are sentences that say what to do, in the place
// of gRPC's. Their codes stay.
type plain struct{ grpc.ClientConnInterface }

// Invoke implements grpc.ClientConnInterface.
func (p plain) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return inWords(p.ClientConnInterface.Invoke(ctx, method, args, reply, opts...))
}

// NewStream implements grpc.ClientConnInterface.
func (p plain) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := p.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	if err != nil {
		return nil, inWords(err)
	}
	return plainStream{s}, nil
}

type plainStream struct{ grpc.ClientStream }

// SendMsg implements grpc.ClientStream.
func (s plainStream) SendMsg(m any) error { return inWords(s.ClientStream.SendMsg(m)) }

// RecvMsg implements grpc.ClientStream.
func (s plainStream) RecvMsg(m any) error { return inWords(s.ClientStream.RecvMsg(m)) }

// said is an error of the connection.
type said struct {
	words string
	of    *status.Status
}

// Error implements error.
func (s said) Error() string { return s.words }

// GRPCStatus has package status find the code.
func (s said) GRPCStatus() *status.Status { return s.of }

// inWords says what is wrong where gRPC says with which code a call ended. Errors that
// are none of a connection, such as the end of a stream, stay.
func inWords(err error) error {
	of, is := status.FromError(err)
	if err == nil || !is {
		return err
	}
	words, text := "", of.Message()
	switch code := of.Code(); {
	case code == codes.DeadlineExceeded, code == codes.Canceled:
		words = "it did not answer before its time was over: what hangs, or takes long, must end with the call's deadline and with its cancellation"
	case code == codes.Unavailable && strings.Contains(text, "draining"):
		words = "it is draining and takes no new calls"
	case code == codes.Unavailable:
		words = fmt.Sprintf("the connection broke, so the plugin has ended or closed it: run it by hand, its last words are on standard error (%s)", text)
	case code == codes.Unimplemented:
		words = fmt.Sprintf("it does not serve this method (%s)", text)
	case code == codes.ResourceExhausted && strings.Contains(text, "larger than max"):
		words = fmt.Sprintf("a message is larger than the other side takes: raise gRPC's limit to 16 MiB in both directions, and answer with less than that (%s)", text)
	case strings.Contains(text, "RST_STREAM"):
		words = fmt.Sprintf("it broke the call off without an answer: what hangs, or takes long, must end with the call's deadline and with its cancellation (%s)", text)
	default:
		words = fmt.Sprintf("it ended the call with the gRPC status %v in the place of an answer: catch what goes wrong, and answer with a Failure that has an outcome (%s)", code, text)
	}
	return said{words, of}
}
