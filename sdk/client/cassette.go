package client

import (
	"context"
	"io"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Cassette writes to w what was recorded of a prompt that was given with Record. It is
// conflict until the work has ended.
func (c *Client) Cassette(ctx context.Context, p rpc.PromptRef, w io.Writer) error {
	for at := int64(0); ; {
		piece, err := ask[rpc.CassettePiece](ctx, c, rpc.MethodCassette, rpc.CassetteOf{Run: p.Run, Project: p.Project, Prompt: p.Prompt, Offset: at})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, piece.Text); err != nil {
			return err
		}
		before := at
		if at = piece.Next; at >= piece.Size {
			return nil
		}
		if at <= before {
			return sdk.Errorf(sdk.Internal, "the cassette ends after %d of %d bytes", at, piece.Size)
		}
	}
}
