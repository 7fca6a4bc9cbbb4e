package server

import (
	"context"
	"maps"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Streams are the commands that clients run which accepted them. Each is that of a session.
type Streams interface {
	Stream(ctx context.Context, session string, run int64, p rpc.Stream) error
	StreamCompleted(ctx context.Context, session string, run int64, p rpc.StreamCompleted) ([]rpc.StreamOutput, error)
	StreamAborted(ctx context.Context, session string, run int64, p rpc.StreamAborted) ([]rpc.StreamOutput, error)
	StreamCancel(ctx context.Context, run int64, p rpc.StreamCancel) ([]rpc.StreamOutput, error)
	// LeaveStreams ends those of a session that has ended.
	LeaveStreams(session string)
	// StreamsCancelled says who is told of those that somebody else ends.
	StreamsCancelled(tell func(session string, run int64, p rpc.StreamCancelled))
}

// inOrder are the methods of which the calls of one connection are done one after the other, in the order in which they
// come. All others of a connection are done at the same time.
var inOrder = []string{rpc.MethodStream, rpc.MethodStreamCompleted, rpc.MethodStreamAborted}

// ordered reports whether a message has its place among such calls.
func ordered(calls []call) bool {
	return slices.ContainsFunc(calls, func(x call) bool { return slices.Contains(inOrder, x.Method) })
}

// streaming is the handler of a call about a command of a run, with the session that calls.
func streaming[P any](s *Server, handle func(ctx context.Context, session string, run int64, p P) ([]rpc.StreamOutput, error)) func(context.Context, *conn, P) (rpc.Streamed, error) {
	return func(ctx context.Context, c *conn, p P) (rpc.Streamed, error) {
		return onRun(s, func(ctx context.Context, run sdk.Run, p P) (rpc.Streamed, error) {
			outputs, err := handle(ctx, c.session, run.ID, p)
			return rpc.Streamed{Status: "ok", Channels: outputs}, err
		})(ctx, c, p)
	}
}

func (s *Server) stream(ctx context.Context, session string, run int64, p rpc.Stream) ([]rpc.StreamOutput, error) {
	return nil, s.cfg.Engine.Stream(ctx, session, run, p)
}

func (s *Server) streamCompleted(ctx context.Context, session string, run int64, p rpc.StreamCompleted) ([]rpc.StreamOutput, error) {
	return s.cfg.Engine.StreamCompleted(ctx, session, run, p)
}

func (s *Server) streamAborted(ctx context.Context, session string, run int64, p rpc.StreamAborted) ([]rpc.StreamOutput, error) {
	return s.cfg.Engine.StreamAborted(ctx, session, run, p)
}

func (s *Server) streamCancel(ctx context.Context, _ string, run int64, p rpc.StreamCancel) ([]rpc.StreamOutput, error) {
	return s.cfg.Engine.StreamCancel(ctx, run, p)
}

// streamCancelled tells the client of a session that a command which it runs was ended, unless a watch of its tells
// it that.
func (c *Clients) streamCancelled(session string, run int64, p rpc.StreamCancelled) {
	for _, conn := range c.all() {
		if conn.session == session && !conn.hearsStates(run) {
			conn.out.note(rpc.NoteStreamCancelled, p, nil)
		}
	}
}

// hearsStates reports whether a watch of the connection tells how a run is.
func (c *conn) hearsStates(run int64) bool {
	c.mu.Lock()
	watches := slices.Collect(maps.Values(c.watches))
	c.mu.Unlock()
	return slices.ContainsFunc(watches, func(w *watch) bool { return w.states != nil && w.covers(run) })
}
