package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Hear calls each with every notification of the daemon, in their order, until each returns an
// error (ErrDone for a good end), the connection is lost, or ctx ends. It is called once at the
// begin with an empty one: whoever asks there for what there is misses no change after that. A
// lost connection is ErrDisconnected; what changed meanwhile is not told, so that whoever calls
// again asks again.
func (c *Client) Hear(ctx context.Context, each func(rpc.Request) error) error {
	notes := make(chan rpc.Request, 64)
	l, _, err := c.open(ctx, notes)
	if err != nil {
		return err
	}
	defer func() { _ = l.close() }() // the listener's own end is the error that counts
	err = each(rpc.Request{})
	for err == nil {
		select {
		case n, open := <-notes:
			if !open {
				return l.why()
			}
			err = each(n)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if errors.Is(err, ErrDone) {
		return nil
	}
	return err
}

// HearSkills is Hear for changes of skills alone; at the begin it calls each with nothing in it.
func (c *Client) HearSkills(ctx context.Context, each func(rpc.SkillsChanged) error) error {
	return c.Hear(ctx, func(n rpc.Request) error {
		var p rpc.SkillsChanged
		switch n.Method {
		case "":
		case rpc.NoteSkills:
			if err := json.Unmarshal(n.Params, &p); err != nil {
				return fmt.Errorf("what changed of the skills: %w", err)
			}
		default:
			return nil
		}
		return each(p)
	})
}
