package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// The clients of a daemon that dies again and again. What they are told goes
// into the site's history.

// submit queues a plan in a run of its own. When the answer is lost it gives it again
// under the same key.
func (s *site) submit(ctx context.Context, c *client.Client, p plan) (rpc.Accepted, error) {
	for {
		ask := p.asks(s.project, p.Tag)
		ask.Key = p.Tag
		a, err := c.Act(ctx, ask)
		if err == nil {
			s.history.accepted(a, p.prompt())
		}
		if !lost(err) {
			return a, err
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return a, err
		}
	}
}

// lost reports whether an error means that the daemon went away.
func lost(err error) bool {
	var down *client.NotRunningError
	if errors.Is(err, client.ErrDisconnected) || errors.As(err, &down) {
		return true
	}
	var said *rpc.Error
	return errors.As(err, &said) && sdk.OutcomeOf(err) == sdk.Unavailable // it is stopping
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// followLoop follows a run from after until the loop has ended, over as many
// daemons as it takes.
func (s *site) followLoop(ctx context.Context, c *client.Client, a rpc.Accepted, after int64) error {
	f := s.history.follower(fmt.Sprintf("the follower of run %d", a.ID), a.ID, after)
	return c.Follow(ctx, client.Watch{Run: a.ID, After: after, Retry: patience}, func(e client.Event) error {
		s.history.row(f, *e.Row)
		if e.Row.Kind == sdk.KindLoopEnded && e.Row.Loop == a.Loop {
			return client.ErrDone
		}
		return nil
	})
}

// followAll follows everything until ctx ends and hands each row to seen.
func (s *site) followAll(ctx context.Context, after int64, seen func(sdk.JournalRow)) error {
	c := s.connect("follower of all")
	f := s.history.follower("the follower of all runs", 0, after)
	err := c.Follow(ctx, client.Watch{After: after, Retry: patience}, func(e client.Event) error {
		s.history.row(f, *e.Row)
		seen(*e.Row)
		return nil
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// query asks about everything, and now and then calls a tool, until ctx ends. It
// waits for what it has asked by then, so that no call of it is under way behind.
func (s *site) query(ctx context.Context, nth *int) error {
	c := s.connect("querier")
	defer func() { _ = c.Close() }()
	for ctx.Err() == nil {
		*nth++
		err := s.queryOnce(context.WithoutCancel(ctx), c, *nth)
		if err != nil && !lost(err) && ctx.Err() == nil {
			return err
		}
		_ = pause(ctx, 20*time.Millisecond) // ctx ends the loop
	}
	return nil
}

func (s *site) queryOnce(ctx context.Context, c *client.Client, n int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	st, err := c.Status(ctx)
	if err != nil {
		return err
	}
	s.history.position(st.Seq)
	runs, err := c.Runs(ctx, rpc.RunsParams{Project: s.project, Hidden: true, Limit: 3})
	if err != nil {
		return err
	}
	for _, r := range runs {
		d, err := c.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(r.ID, 10)})
		if sdk.OutcomeOf(err) == sdk.NotFound {
			continue // it was deleted since
		}
		if err != nil {
			return err
		}
		s.history.detail(d)
	}
	if n%5 != 0 {
		return nil
	}
	arguments, err := json.Marshal(line{fmt.Sprintf("client-%d", n)})
	if err != nil {
		return err
	}
	done, err := c.CallTool(ctx, rpc.ToolCall{Project: s.aside, Tool: "note_line", Arguments: arguments})
	if err != nil {
		return err
	}
	if d, err := c.Run(ctx, rpc.RunRef{Run: done.Run, Project: s.aside}); err == nil {
		s.history.called(d.ID, done)
	}
	return nil
}

// background runs clients beside a test. wait ends them and returns what went
// wrong with them.
type background struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	mu     sync.Mutex
	errs   []error
}

func (b *background) run(what string, f func() error) {
	b.done.Go(func() {
		if err := f(); err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.errs = append(b.errs, fmt.Errorf("%s: %w", what, err))
		}
	})
}

func (b *background) wait() error {
	b.cancel()
	b.done.Wait()
	return errors.Join(b.errs...)
}
