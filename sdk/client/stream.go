package client

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Stream sends a piece of what a command printed that this client accepted by run/resolve, and runs. It is kept
// when that returns. The command belongs to the connection: when that is lost, the daemon has ended its output, and
// the error is a conflict from then on.
func (c *Client) Stream(ctx context.Context, p rpc.Stream) error {
	return c.Call(ctx, rpc.MethodStream, p, nil)
}

// StreamCompleted ends such a command by its exit status.
func (c *Client) StreamCompleted(ctx context.Context, p rpc.StreamCompleted) (rpc.Streamed, error) {
	return ask[rpc.Streamed](ctx, c, rpc.MethodStreamCompleted, p)
}

// StreamAborted ends such a command, which the client ended.
func (c *Client) StreamAborted(ctx context.Context, p rpc.StreamAborted) (rpc.Streamed, error) {
	return ask[rpc.Streamed](ctx, c, rpc.MethodStreamAborted, p)
}

// StreamCancel ends a command of sh or env, whoever runs it.
func (c *Client) StreamCancel(ctx context.Context, p rpc.StreamCancel) (rpc.Streamed, error) {
	return ask[rpc.Streamed](ctx, c, rpc.MethodStreamCancel, p)
}

// mostPiece is how much of an output is sent at a time.
const mostPiece = 256 << 10

// Output is what a command prints on the channel that p names, for Stream: the Stdout of an exec.Cmd, or its Stderr. What
// is no UTF-8 is sent as U+FFFD. Close sends what is left of a character that was cut, and does not end the command.
func (c *Client) Output(ctx context.Context, p rpc.Stream) io.WriteCloser {
	return &output{ctx: ctx, c: c, p: p}
}

type output struct {
	ctx  context.Context //nolint:containedctx // of Output, whose Write has none
	c    *Client
	p    rpc.Stream
	left []byte // the beginning of a character
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	text := append(o.left, p...)
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if b := text[len(text)-i:]; utf8.RuneStart(b[0]) {
			if !utf8.FullRune(b) {
				whole -= i
			}
			break
		}
	}
	o.left = append([]byte(nil), text[whole:]...)
	return len(p), o.send(strings.ToValidUTF8(string(text[:whole]), "\uFFFD"))
}

// Close implements io.Closer.
func (o *output) Close() error {
	text := strings.ToValidUTF8(string(o.left), "\uFFFD")
	o.left = nil
	return o.send(text)
}

func (o *output) send(text string) error {
	for text != "" {
		n := min(len(text), mostPiece)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		p := o.p
		p.Chunk, text = text[:n], text[n:]
		if err := o.c.Stream(o.ctx, p); err != nil {
			return err
		}
	}
	return nil
}
