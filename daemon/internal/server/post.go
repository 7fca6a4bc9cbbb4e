package server

import (
	"bytes"
	"context"
	"io"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// post is the transport of one request of HTTP: it brings one message and takes the answer to it
// back. What else would be sent on a connection is dropped.
type post struct {
	ctx    context.Context // ends when the client has gone
	text   []byte          // nil when it was taken
	answer []byte          // nil when there is none
}

func (p *post) next() ([]byte, error) {
	text := p.text
	if p.text = nil; blank(text) {
		return nil, io.EOF
	}
	return text, nil
}

func (p *post) write(text []byte) error {
	if !bytes.HasPrefix(text, noteHead) {
		p.answer = text
	}
	return nil
}

func (p *post) joins() bool  { return false }
func (p *post) last([]byte)  {}
func (p *post) deafen()      {}
func (p *post) hungUp() bool { return p.ctx.Err() != nil }
func (p *post) close()       {}

// noteHead is how encodeNote begins, and no answer does.
var noteHead = []byte(`{"jsonrpc":"2.0","method":`)

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// lasting is the handler of a call that is about what is sent over the same connection later, or
// that holds until the connection ends: a POST is none that lasts.
func lasting[P, R any](handle func(context.Context, *conn, P) (R, error)) func(context.Context, *conn, P) (R, error) {
	return func(ctx context.Context, c *conn, p P) (R, error) {
		if _, short := c.line.(*post); short {
			var none R
			return none, rpc.Errorf(rpc.CodeInvalid, sdk.Validation, "this needs a connection that lasts: a WebSocket, or the Unix socket")
		}
		return handle(ctx, c, p)
	}
}
