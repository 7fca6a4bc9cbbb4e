package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Told is one notification about the runs of a project. Exactly one field is set.
type Told struct {
	Begun     *rpc.Initialized // the first: what there was before is not told, but for proposals that wait
	State     *rpc.RunState
	Progress  *rpc.Progress
	Proposal  *rpc.Proposed
	Cancelled *rpc.StreamCancelled
	Render    *rpc.Render
	Notify    *rpc.Notify
}

// FollowStates calls each with what the daemon tells of the runs of a project, as the run specification has it,
// until each returns an error (ErrDone for a good end), the connection is lost, or ctx ends. Each run/state has
// only what changed unless p.States asks for the whole. It takes a connection of its own, whose end is
// ErrDisconnected: what happens until it is called again is not told, so that the caller reads then by Run
// what it follows. Follow loses nothing.
func (c *Client) FollowStates(ctx context.Context, p rpc.Init, each func(Told) error) error {
	if p.States == "" {
		p.States = rpc.StatesIncrements
	}
	notes := make(chan rpc.Request, 64)
	l, _, err := c.open(ctx, notes)
	if err != nil {
		return err
	}
	var asking sync.WaitGroup
	defer func() {
		_ = l.close() // the follower's own end is the error that counts
		asking.Wait()
	}()
	type answer struct {
		raw json.RawMessage
		err error
	}
	asked := make(chan answer, 1)
	asking.Go(func() {
		raw, err := l.call(ctx, rpc.MethodInit, p)
		asked <- answer{raw, err}
	})
	for err == nil {
		var told Told
		select {
		case a := <-asked:
			asked = nil
			if err = a.err; err == nil {
				err = toldAs(a.raw, &told.Begun)
			}
		case n, open := <-notes:
			if !open {
				return l.why()
			}
			err = told.read(n)
		case <-ctx.Done():
			return ctx.Err()
		}
		if err == nil && told != (Told{}) {
			err = each(told)
		}
	}
	if errors.Is(err, ErrDone) {
		return nil
	}
	return err
}

// read takes in a notification; one that is about something else leaves it empty.
func (t *Told) read(n rpc.Request) error {
	switch n.Method {
	case rpc.NoteState:
		return toldAs(n.Params, &t.State)
	case rpc.NoteProgress:
		return toldAs(n.Params, &t.Progress)
	case rpc.NoteProposal:
		return toldAs(n.Params, &t.Proposal)
	case rpc.NoteStreamCancelled:
		return toldAs(n.Params, &t.Cancelled)
	case rpc.NoteRender:
		return toldAs(n.Params, &t.Render)
	case rpc.NoteNotify:
		return toldAs(n.Params, &t.Notify)
	}
	return nil
}

func toldAs[T any](raw json.RawMessage, to **T) error {
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("what the daemon tells of its runs: %w", err)
	}
	return nil
}
