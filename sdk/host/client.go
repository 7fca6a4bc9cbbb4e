package host

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Client is the Host at the other end of a connection. All its errors are
// *sdk.Error, or *sdk.ProviderError where a completion failed.
type Client struct {
	rpc   pb.HostClient
	token string // of Configure; empty when the metadata of each context has it
}

// NewClient calls the services that are served on conn.
func NewClient(conn grpc.ClientConnInterface) *Client { return &Client{rpc: pb.NewHostClient(conn)} }

// outgoing names the call that a request serves, and shows the token.
func (c *Client) outgoing(ctx context.Context) context.Context {
	id := Call(ctx)
	switch {
	case c.token == "":
		return Outgoing(ctx)
	case id == "":
		return metadata.AppendToOutgoingContext(ctx, TokenKey, c.token)
	}
	return metadata.AppendToOutgoingContext(ctx, TokenKey, c.token, CallKey, id)
}

// Entry implements Host.
func (c *Client) Entry(ctx context.Context, path string) (sdk.Entry, error) {
	resp, err := c.rpc.Entries(c.outgoing(ctx), &pb.EntriesRequest{Path: path})
	entries, err := readEntries(ctx, resp, err)
	if err != nil {
		return sdk.Entry{}, err
	}
	if len(entries) != 1 {
		return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "%s is not in view", path)
	}
	return entries[0], nil
}

// Entries implements Host.
func (c *Client) Entries(ctx context.Context, pattern string) ([]sdk.Entry, error) {
	resp, err := c.rpc.Entries(c.outgoing(ctx), &pb.EntriesRequest{Glob: pattern})
	return readEntries(ctx, resp, err)
}

// Write implements Host.
func (c *Client) Write(ctx context.Context, writes ...sdk.Write) ([]sdk.Entry, error) {
	b, err := json.Marshal(writes)
	if err != nil {
		return nil, fmt.Errorf("encode the writes: %w", err)
	}
	resp, err := c.rpc.Write(c.outgoing(ctx), &pb.WriteRequest{WritesJson: b})
	return readEntries(ctx, resp, err)
}

// Do implements Host.
func (c *Client) Do(ctx context.Context, calls ...sdk.EntryCall) ([]sdk.EntryDone, error) {
	b, err := json.Marshal(calls)
	if err != nil {
		return nil, sdk.Errorf(sdk.Validation, "encode the calls: %w", err)
	}
	resp, err := c.rpc.Do(c.outgoing(ctx), &pb.DoRequest{CallsJson: b})
	switch {
	case status.Code(err) == codes.Unimplemented:
		return nil, sdk.Errorf(sdk.Unavailable, "this daemon is older than the verbs on entries; read and write them with Entry, Entries and Write, or run a newer one")
	case err != nil:
		return nil, wire.Transport(ctx, err)
	case resp.GetFailure() != nil:
		return nil, wire.Error(resp.GetFailure())
	}
	return wire.ReadDone(resp.GetDone()), nil
}

func readEntries(ctx context.Context, resp *pb.EntriesResponse, err error) ([]sdk.Entry, error) {
	if err != nil {
		return nil, wire.Transport(ctx, err)
	}
	if f := resp.GetFailure(); f != nil {
		return nil, wire.Error(f)
	}
	return wire.ReadEntries(resp.GetEntries()), nil
}

// Invoke implements Host.
func (c *Client) Invoke(ctx context.Context, tool string, arguments []byte) (sdk.ToolResult, error) {
	resp, err := c.rpc.InvokeTool(c.outgoing(ctx), &pb.InvokeToolRequest{Tool: tool, ArgumentsJson: arguments})
	if err != nil {
		return sdk.ToolResult{}, wire.Transport(ctx, err)
	}
	return wire.End(resp.GetResult(), resp.GetFailure())
}

// Complete implements Host.
func (c *Client) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	b, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.Complete(c.outgoing(ctx), &pb.CompleteRequest{RequestJson: b})
	if err != nil {
		return wire.Transport(ctx, err)
	}
	recv := func() (*pb.CompleteResponse, error) {
		m, err := stream.Recv()
		return m, wire.StreamError(ctx, err)
	}
	return wire.Deltas(recv, send)
}

// Secret implements Host.
func (c *Client) Secret(ctx context.Context, name string) (string, error) {
	resp, err := c.rpc.Secret(c.outgoing(ctx), &pb.SecretRequest{Name: name})
	if err != nil {
		return "", wire.Transport(ctx, err)
	}
	return resp.GetValue(), wire.Error(resp.GetFailure())
}

// Login implements Host.
func (c *Client) Login(ctx context.Context) (string, error) {
	resp, err := c.rpc.Login(c.outgoing(ctx), &pb.LoginRequest{})
	if err != nil {
		return "", wire.Transport(ctx, err)
	}
	return resp.GetLogin(), wire.Error(resp.GetFailure())
}

// KeepLogin implements Host.
func (c *Client) KeepLogin(ctx context.Context, was, now string) error {
	resp, err := c.rpc.KeepLogin(c.outgoing(ctx), &pb.KeepLoginRequest{Was: was, Now: now})
	if err != nil {
		return wire.Transport(ctx, err)
	}
	return wire.Error(resp.GetFailure())
}

// Log implements Host.
func (c *Client) Log(ctx context.Context, level, message string, fields map[string]string) error {
	clean := make(map[string]string, len(fields))
	for k, v := range fields {
		clean[wire.Text(k)] = wire.Text(v)
	}
	_, err := c.rpc.Log(c.outgoing(ctx), &pb.LogRequest{Level: level, Message: wire.Text(message), Fields: clean})
	return wire.Transport(ctx, err)
}

var _ Host = (*Client)(nil)
