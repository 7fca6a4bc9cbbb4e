package client

import (
	"bytes"
	"context"
	"io"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// PutFile puts a file of a size into the folder of a private run, and returns the name that it has there: safe, and no
// other file's, so that it may be another one. One that is cut short leaves a beginning.
func (c *Client) PutFile(ctx context.Context, run, project, name string, size int64, from io.Reader) (string, error) {
	if size > rpc.MaxWorkspaceFile { // before anything is read
		return "", sdk.Errorf(sdk.Overflow, "the file has %d bytes, and one may have %d", size, rpc.MaxWorkspaceFile)
	}
	piece := make([]byte, min(size, rpc.MaxWorkspacePiece))
	for written := int64(0); ; {
		n, err := io.ReadFull(from, piece[:min(size-written, int64(len(piece)))])
		if err != nil {
			return name, err
		}
		done, err := ask[rpc.WorkspaceWritten](ctx, c, rpc.MethodWorkspaceWrite, rpc.WorkspaceWrite{Run: run, Project: project, Name: name, Offset: written, Size: size, Data: piece[:n]})
		if err != nil {
			return name, err
		}
		if name, written = done.Name, done.Written; written >= size {
			return name, nil
		}
	}
}

// FetchFile is a file in the folder of a private run, by its path there. One of more than rpc.MaxWorkspaceFile is an
// error of outcome overflow, and one that is written meanwhile an error of outcome conflict.
func (c *Client) FetchFile(ctx context.Context, run, project, name string) ([]byte, error) {
	var all bytes.Buffer
	for size := int64(-1); ; {
		p, err := ask[rpc.WorkspacePiece](ctx, c, rpc.MethodWorkspaceRead, rpc.WorkspaceRead{Run: run, Project: project, Name: name, Offset: int64(all.Len())})
		if err != nil {
			return nil, err
		}
		all.Write(p.Data)
		switch had := int64(all.Len()); {
		case size >= 0 && p.Size != size || len(p.Data) == 0 && had != p.Size:
			return nil, sdk.Errorf(sdk.Conflict, "%s is being written; fetch it again", name)
		case had >= p.Size:
			return all.Bytes(), nil
		}
		size = p.Size
	}
}
