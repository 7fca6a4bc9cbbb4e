package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Client is a Provider at the other end of a connection.
type Client struct{ rpc pb.ProviderClient }

// NewClient calls the provider that is served on conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pb.NewProviderClient(conn)}
}

// Models implements Provider. An error of the connection is returned as gRPC
// gave it; one of the plugin is an *sdk.Error.
func (c *Client) Models(ctx context.Context) ([]sdk.Model, error) {
	resp, err := c.rpc.Models(ctx, &pb.ModelsRequest{})
	if err != nil {
		return nil, err
	}
	if f := resp.GetFailure(); f != nil {
		return nil, wire.Error(f)
	}
	var models []sdk.Model
	if b := resp.GetModelsJson(); len(b) > 0 {
		if err := json.Unmarshal(b, &models); err != nil {
			return nil, fmt.Errorf("decode the provider's models: %w", err)
		}
	}
	return models, nil
}

// Complete implements Provider. The plugin's own failure is an
// *sdk.ProviderError, as is a stream that ended without a Finish.
func (c *Client) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	b, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.Complete(ctx, &pb.CompleteRequest{RequestJson: b})
	if err != nil {
		return err
	}
	return wire.Deltas(stream.Recv, send)
}

// Pull implements Puller. A provider that cannot is an *sdk.Error with outcome
// not_found, and so is a plugin that was built before there was Pull.
func (c *Client) Pull(ctx context.Context, model string, progress func(sdk.PullProgress) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.Pull(ctx, &pb.PullRequest{Model: model})
	if err != nil {
		return err
	}
	for {
		m, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case status.Code(err) == codes.Unimplemented:
			return ErrCannotPull
		case err != nil:
			return err
		case m.GetFailure() != nil:
			return wire.Error(m.GetFailure())
		}
		p := m.GetProgress()
		if err := progress(sdk.PullProgress{Status: p.GetStatus(), Done: p.GetDone(), Total: p.GetTotal()}); err != nil {
			return err
		}
	}
}

// Authenticate implements Authenticator. A plugin whose provider is none, or that was built
// before there was Authenticate, answers with the outcome unavailable; a stream that ended
// without Done is an error.
func (c *Client) Authenticate(ctx context.Context, show func(sdk.AuthStep) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.Authenticate(ctx, &pb.AuthenticateRequest{})
	if err != nil {
		return err
	}
	err = wire.AuthSteps(stream.Recv, show)
	if status.Code(err) == codes.Unimplemented {
		return ErrCannotAuthenticate
	}
	return err
}

var _ interface {
	Provider
	Puller
	Authenticator
} = (*Client)(nil)
