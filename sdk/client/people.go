package client

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// People lists those whose prompts channels may bring, and of a channel that is named whether a code is waited for.
// A channel is told its own; it asks before it does anything for whoever wrote to it.
func (c *Client) People(ctx context.Context, p rpc.PeopleParams) (rpc.People, error) {
	return ask[rpc.People](ctx, c, rpc.MethodPeople, p)
}

// AddPerson writes a person block into the user's configuration, and returns when it is in force. A person of whom
// another block tells is an error of outcome conflict.
func (c *Client) AddPerson(ctx context.Context, p rpc.PersonAdd) (rpc.PersonAdded, error) {
	return ask[rpc.PersonAdded](ctx, c, rpc.MethodAddPerson, p)
}

// RemovePerson takes a person block out of the user's configuration, and returns when that is in force.
func (c *Client) RemovePerson(ctx context.Context, p rpc.PersonRef) (rpc.PersonRemoved, error) {
	return ask[rpc.PersonRemoved](ctx, c, rpc.MethodRemovePerson, p)
}

// SetLearning says of whom, of which agent or in which project something is learned, and returns when that is in force.
func (c *Client) SetLearning(ctx context.Context, p rpc.Learning) (rpc.LearningSet, error) {
	return ask[rpc.LearningSet](ctx, c, rpc.MethodLearning, p)
}

// Pair makes a code for a channel, tells show of it, and waits until somebody sends it there. The call has a connection
// of its own; the end of ctx closes it, after which the code is none any more. Whoever sent it is not listed by that:
// ask, and then AddPerson.
func (c *Client) Pair(ctx context.Context, p rpc.PairParams, show func(rpc.PairCode)) (rpc.Paired, error) {
	return heard[rpc.Paired](ctx, c, rpc.MethodPair, p, rpc.NoteCode, show)
}

// Claim passes a code on that somebody sent to a channel. It is taken when there is no error; the person at this
// machine is asked then.
func (c *Client) Claim(ctx context.Context, p rpc.Claim) error {
	_, err := ask[rpc.Empty](ctx, c, rpc.MethodClaim, p)
	return err
}
