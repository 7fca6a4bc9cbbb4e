package client

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/bothyd/bothy/sdk/rpc"
)

// heard makes a call that the daemon tells of while it lasts, by notes of the
// method note: hear, when not nil, gets them. The call has a connection of its
// own; the end of ctx closes it, which gives up what was asked for.
func heard[Done, Note any](ctx context.Context, c *Client, method string, p any, note string, hear func(Note)) (Done, error) {
	var done Done
	notes := make(chan rpc.Request, 16)
	l, _, err := c.open(ctx, notes)
	if err != nil {
		return done, err
	}
	var telling sync.WaitGroup
	defer func() {
		_ = l.close() // the answer is what counts
		telling.Wait()
	}()
	telling.Go(func() { // until the connection ends
		for n := range notes {
			var told Note
			if hear != nil && n.Method == note && json.Unmarshal(n.Params, &told) == nil {
				hear(told)
			}
		}
	})
	raw, err := l.call(ctx, method, p)
	if err != nil {
		return done, err
	}
	if err := json.Unmarshal(raw, &done); err != nil {
		return done, fmt.Errorf("answer of %s: %w", method, err)
	}
	return done, nil
}
