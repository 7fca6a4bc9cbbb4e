package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Watch says what to follow.
type Watch struct {
	Run     int64  // a run's id; 0 follows all
	Project string // with Run 0: only this project's runs
	After   int64  // rows behind this position; -1 is only what is new
	Preview bool   // also what models are still writing
	// Retry is how long a lost connection is tried again; 0 is 10 s.
	Retry time.Duration
}

// Event is one thing that was followed. Exactly one field is set.
type Event struct {
	Row     *sdk.JournalRow
	Preview *rpc.Preview
}

// ErrDone ends Follow without an error when its function returns it.
var ErrDone = errors.New("followed to the end")

// Follow calls each for every row behind w.After, in order and exactly once,
// until each returns an error (ErrDone for a good end) or ctx ends. After a
// gap or a lost connection it goes on behind the last row that each has seen.
// Previews may be missing; rows may not.
func (c *Client) Follow(ctx context.Context, w Watch, each func(Event) error) error {
	if w.Retry <= 0 {
		w.Retry = 10 * time.Second
	}
	f := &follower{client: c, watch: w, each: each, after: w.After, lost: time.Now()}
	for {
		err := f.once(ctx)
		switch {
		case errors.Is(err, ErrDone):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errAgain):
			continue
		case !transient(err):
			return err
		}
		if time.Since(f.lost) > w.Retry {
			return fmt.Errorf("the connection to the daemon was lost and did not come back: %w", err)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// errAgain asks for a new watch at once: the old one ended with a gap.
var errAgain = errors.New("watch again")

// transient reports whether a lost connection may come back.
func transient(err error) bool {
	var down *NotRunningError
	var said *rpc.Error
	if errors.As(err, &said) {
		return said.Code == rpc.CodeBusy
	}
	return errors.Is(err, ErrDisconnected) || errors.As(err, &down)
}

type follower struct {
	client *Client
	watch  Watch
	each   func(Event) error
	after  int64
	lost   time.Time // since when there is no connection
}

// once follows over one connection until that ends.
func (f *follower) once(ctx context.Context) error {
	notes := make(chan rpc.Request, 64)
	l, hello, err := f.client.open(ctx, notes)
	if err != nil {
		return err
	}
	var asking sync.WaitGroup
	defer func() {
		_ = l.close() // the follower's own end is the error that counts
		asking.Wait()
	}()
	if f.after < 0 {
		f.after = hello.Seq
	}
	params := rpc.WatchParams{Project: f.watch.Project, After: &f.after, Preview: f.watch.Preview}
	if f.watch.Run != 0 {
		params.Run, params.Project = strconv.FormatInt(f.watch.Run, 10), ""
	}
	asked := make(chan error, 1)
	asking.Go(func() {
		_, err := l.call(ctx, rpc.MethodWatch, params)
		asked <- err
	})
	err = f.receive(ctx, l, notes, asked)
	f.lost = time.Now()
	return err
}

// receive handles notifications. Rows may come before the watch is answered.
func (f *follower) receive(ctx context.Context, l *link, notes <-chan rpc.Request, asked <-chan error) error {
	for {
		select {
		case err := <-asked:
			if err != nil {
				return err
			}
			asked = nil
		case n, open := <-notes:
			if !open {
				return l.why()
			}
			if err := f.handle(n); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *follower) handle(n rpc.Request) error {
	switch n.Method {
	case rpc.NoteRow:
		var row rpc.Row
		if err := json.Unmarshal(n.Params, &row); err != nil {
			return fmt.Errorf("a row of the journal: %w", err)
		}
		if row.Row.Seq <= f.after {
			return nil
		}
		if err := f.each(Event{Row: &row.Row}); err != nil {
			return err
		}
		f.after = row.Row.Seq
		return nil
	case rpc.NotePreview:
		var p rpc.Preview
		if err := json.Unmarshal(n.Params, &p); err != nil {
			return fmt.Errorf("a preview: %w", err)
		}
		return f.each(Event{Preview: &p})
	case rpc.NoteGap:
		return errAgain
	default:
		return nil // a newer daemon may send more
	}
}
