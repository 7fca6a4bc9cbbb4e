package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

type callKey struct{}

// WithCall notes the call that work done with the context serves.
func WithCall(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

// CallOf returns the call that the context serves; empty when there is none.
func CallOf(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}

// Deadline writes a deadline, 0 for none. It is rounded up: the daemon's own must
// pass first, so that what it serves runs out of time and is not broken off by the
// plugin.
func Deadline(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Add(time.Millisecond - 1).UnixMilli()
}

// ReadDeadline reads a deadline; the zero time is none.
func ReadDeadline(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// mostStack is how much of a stack a line of the log takes: the daemon cuts longer ones.
const mostStack = 4 << 10

// Rescue, deferred, turns a panic into the error of the call: what a plugin's
// author wrote takes neither the plugin nor its neighbours down. The error is one
// line; the stack is for the log alone.
func Rescue(what string, err *error) {
	if p := recover(); p != nil {
		said, _, _ := strings.Cut(fmt.Sprint(p), "\n")
		stack := debug.Stack()
		slog.Error(what+" panicked", "panic", said, "stack", string(stack[:min(len(stack), mostStack)]))
		*err = fmt.Errorf("%s panicked: %s", what, said)
	}
}

// Running are the calls that a server serves, so that Cancel finds them. Its
// zero value is ready.
type Running struct {
	mu    sync.Mutex
	calls map[string]context.CancelFunc // by call id; a call without one cannot be cancelled alone
}

// Begin makes the context of a call, which ends with its deadline or by Cancel,
// and keeps the call until done is called.
func (r *Running) Begin(ctx context.Context, id string, deadline time.Time) (call context.Context, done context.CancelFunc) {
	var cancel context.CancelFunc
	if deadline.IsZero() {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithDeadline(ctx, deadline)
	}
	if id == "" {
		return ctx, cancel
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[string]context.CancelFunc{}
	}
	r.calls[id] = cancel
	return WithCall(ctx, id), func() { // the metadata need not repeat the id
		r.mu.Lock()
		delete(r.calls, id)
		r.mu.Unlock()
		cancel()
	}
}

// Cancel ends a call's context. A call that is over already is no error.
func (r *Running) Cancel(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel, ok := r.calls[id]; ok {
		cancel()
	}
}

// Pieces is the plugin's end of one call. It serialises the senders and
// refuses those that come after the end.
type Pieces struct {
	mu    sync.Mutex
	send  func(*pb.InvokeResponse) error
	ended bool
}

// NewPieces sends what a call brings forth.
func NewPieces(send func(*pb.InvokeResponse) error) *Pieces { return &Pieces{send: send} }

// largestChunk keeps a chunk well below the cap of a message.
const largestChunk = 1 << 20

// Chunk implements Stream; a large one is sent in pieces.
func (s *Pieces) Chunk(channel int, p []byte) error {
	for len(p) > 0 {
		n := min(len(p), largestChunk)
		err := s.write(&pb.InvokeResponse{Piece: &pb.InvokeResponse_Chunk{Chunk: &pb.Chunk{Channel: int32(channel), Data: p[:n]}}}, false)
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// Progress implements Stream.
func (s *Pieces) Progress(message string, fraction float64) error {
	return s.write(&pb.InvokeResponse{Piece: &pb.InvokeResponse_Progress{
		Progress: &pb.Progress{Message: Text(message), Fraction: fraction},
	}}, false)
}

// End sends the last piece: the result, or why there is none.
func (s *Pieces) End(result sdk.ToolResult, err error) error {
	r, failure := Ended(result, err)
	if failure != nil {
		return s.write(&pb.InvokeResponse{Piece: &pb.InvokeResponse_Failure{Failure: failure}}, true)
	}
	return s.write(&pb.InvokeResponse{Piece: &pb.InvokeResponse_Result{Result: r}}, true)
}

func (s *Pieces) write(m *pb.InvokeResponse, last bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return sdk.Errorf(sdk.Aborted, "the call has ended: nothing can be sent any more")
	}
	s.ended = last
	return s.send(m)
}

// Receive reads the pieces of a call at the daemon's end and passes them to out
// as they come, until there is a result. An error of the connection is returned
// as gRPC gave it.
func Receive(recv func() (*pb.InvokeResponse, error), out sdk.Stream) (sdk.ToolResult, error) {
	for {
		m, err := recv()
		if errors.Is(err, io.EOF) {
			return sdk.ToolResult{}, sdk.Errorf(sdk.Internal, "the plugin ended the call without a result")
		}
		if err != nil {
			return sdk.ToolResult{}, err
		}
		switch p := m.GetPiece().(type) {
		case *pb.InvokeResponse_Chunk:
			err = out.Chunk(int(p.Chunk.GetChannel()), p.Chunk.GetData())
		case *pb.InvokeResponse_Progress:
			err = out.Progress(p.Progress.GetMessage(), p.Progress.GetFraction())
		case *pb.InvokeResponse_Result:
			return readResult(p.Result)
		case *pb.InvokeResponse_Failure:
			return sdk.ToolResult{}, Error(p.Failure)
		}
		if err != nil {
			return sdk.ToolResult{}, fmt.Errorf("pass on a piece of the call: %w", err)
		}
	}
}

var _ sdk.Stream = (*Pieces)(nil)
