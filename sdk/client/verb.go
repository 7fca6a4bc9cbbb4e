package client

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// SetEntry creates or changes an entry of a run, or all that a pattern fits. With the path run://ALIAS it gives a run of
// the project a prompt, makes, configures or aborts it.
func (c *Client) SetEntry(ctx context.Context, p rpc.Set) (sdk.EntryDone, error) {
	return ask[sdk.EntryDone](ctx, c, rpc.MethodSet, p)
}

// GetEntry makes entries of a run visible to its model and answers with their bodies; to
// read without that, use Entries. With the path run://ALIAS, or a pattern of such, it reads runs.
func (c *Client) GetEntry(ctx context.Context, p rpc.Get) (sdk.EntryDone, error) {
	return ask[sdk.EntryDone](ctx, c, rpc.MethodGet, p)
}

// RemoveEntry takes entries out of a run's view.
func (c *Client) RemoveEntry(ctx context.Context, p rpc.Remove) (sdk.EntryDone, error) {
	return ask[sdk.EntryDone](ctx, c, rpc.MethodRemove, p)
}

// CopyEntry copies an entry of a run, over what is at the destination.
func (c *Client) CopyEntry(ctx context.Context, p rpc.Move) (sdk.EntryDone, error) {
	return ask[sdk.EntryDone](ctx, c, rpc.MethodCopy, p)
}

// MoveEntry gives an entry of a run another path, over what is there; from run://ALIAS to run://NAME it renames a run.
func (c *Client) MoveEntry(ctx context.Context, p rpc.Move) (sdk.EntryDone, error) {
	return ask[sdk.EntryDone](ctx, c, rpc.MethodMove, p)
}

// StoreFiles says what a project makes of some of its files, and takes them out of the sight of a run.
func (c *Client) StoreFiles(ctx context.Context, p rpc.Store) (rpc.Stored, error) {
	return ask[rpc.Stored](ctx, c, rpc.MethodStore, p)
}

// Progress notes how far the work of a run has come. It ends nothing.
func (c *Client) Progress(ctx context.Context, p rpc.Update) (sdk.EntryDone, error) {
	return ask[sdk.EntryDone](ctx, c, rpc.MethodProgress, p)
}
