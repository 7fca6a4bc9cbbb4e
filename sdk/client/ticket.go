package client

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Ticket asks, for a channel, for the message that tells people what a run proposes, and for the ticket of one answer to it.
func (c *Client) Ticket(ctx context.Context, p rpc.TicketParams) (rpc.Ticket, error) {
	return ask[rpc.Ticket](ctx, c, rpc.MethodTicket, p)
}

// Answer answers a proposal, for a person of a channel, by the ticket that was sent to them. A ticket is good once: the
// error has the outcome conflict when it was used, when another took its place, and when the proposal was answered
// elsewhere, has expired or is another by now, and permission when whoever answered may not. Only with validation and
// unavailable the ticket is still good.
func (c *Client) Answer(ctx context.Context, p rpc.ChannelAnswer) (rpc.Resolved, error) {
	return ask[rpc.Resolved](ctx, c, rpc.MethodAnswer, p)
}
