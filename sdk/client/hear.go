package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/sdk/rpc"
)

// HearSkills calls each whenever skills changed, until each returns an error
// (ErrDone for a good end), the connection is lost, or ctx ends. It is called
// once at the begin with nothing in it: whoever asks for the skills there misses
// no change after that. A lost connection is ErrDisconnected; what changed
// meanwhile is not told, so that whoever calls again asks again.
func (c *Client) HearSkills(ctx context.Context, each func(rpc.SkillsChanged) error) error {
	notes := make(chan rpc.Request, 64)
	l, _, err := c.open(ctx, notes)
	if err != nil {
		return err
	}
	defer func() { _ = l.close() }() // the listener's own end is the error that counts
	err = each(rpc.SkillsChanged{})
	for err == nil {
		select {
		case n, open := <-notes:
			if !open {
				return l.why()
			}
			if n.Method != rpc.NoteSkills {
				continue
			}
			var p rpc.SkillsChanged
			if err := json.Unmarshal(n.Params, &p); err != nil {
				return fmt.Errorf("what changed of the skills: %w", err)
			}
			err = each(p)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if errors.Is(err, ErrDone) {
		return nil
	}
	return err
}
