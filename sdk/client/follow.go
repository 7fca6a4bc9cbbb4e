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
	Run      int64  // a run's id; 0 follows all
	Project  string // with Run 0: only this project's runs
	After    int64  // rows behind this position; -1 is only what is new
	Children bool   // of a run: also its children and theirs, which JournalRow.Run and Preview.Run tell apart
	Preview  bool   // also what models are still writing
	Attend   bool   // the client answers what the runs propose; needs Client.Role approve
	// Retry is how long a lost connection is tried again; 0 is 10 s.
	Retry time.Duration
	// Lost is asked before each of these tries, with why there is no connection:
	// ErrStopped, ErrDisconnected, a *NotRunningError, or that the daemon has no
	// room. It may start a daemon, or end Follow with an error. Nil only waits.
	Lost func(ctx context.Context, why error) error
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
// Previews may be missing; rows may not. An answer that was being previewed
// when the connection was lost gets a preview without text: Restart when
// another daemon has taken over, which asks for the answer anew, else Dropped;
// then one that is Whole, when it is still being written. An answer that was being
// written when Follow began comes as one that is Whole, too.
func (c *Client) Follow(ctx context.Context, w Watch, each func(Event) error) error {
	if w.Retry <= 0 {
		w.Retry = 10 * time.Second
	}
	f := &follower{client: c, watch: w, each: each, after: w.After, lost: time.Now(), open: map[int64]rpc.Preview{}}
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
		if w.Lost != nil {
			if err := w.Lost(ctx, err); err != nil {
				return err
			}
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
	lost   time.Time             // since when there is no connection
	pid    int                   // of the daemon that was followed last
	open   map[int64]rpc.Preview // by loop, the last piece of an answer that is not committed
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
	if err := f.reopen(hello.PID); err != nil {
		return err
	}
	params := rpc.WatchParams{Project: f.watch.Project, After: &f.after, Preview: f.watch.Preview, Attend: f.watch.Attend, Children: f.watch.Children}
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

// reopen says for each answer that was being written that pieces of it are
// missing, or that it begins anew.
func (f *follower) reopen(pid int) error {
	restarted := f.pid != pid
	f.pid = pid
	for loop, p := range f.open {
		gone := rpc.Preview{Watch: p.Watch, Run: p.Run, Loop: loop, Turn: p.Turn, Preview: true, Restart: restarted, Dropped: !restarted}
		delete(f.open, loop)
		if err := f.each(Event{Preview: &gone}); err != nil {
			return err
		}
	}
	return nil
}

// settle forgets previews of an answer that is committed, or never will be.
func (f *follower) settle(row sdk.JournalRow) {
	var change sdk.EntryChange
	switch {
	case row.Kind == sdk.KindEntrySet && sdk.SchemeOf(row.Path) == "assistant":
		if json.Unmarshal(row.Data, &change) == nil && !change.State.Ended() {
			return
		}
	case row.Kind == sdk.KindTurnClosed && row.Turn < f.open[row.Loop].Turn:
		return // a later turn's answer is being written
	case row.Kind != sdk.KindTurnClosed && row.Kind != sdk.KindLoopEnded:
		return
	}
	delete(f.open, row.Loop)
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
		f.settle(row.Row)
		return nil
	case rpc.NotePreview:
		var p rpc.Preview
		if err := json.Unmarshal(n.Params, &p); err != nil {
			return fmt.Errorf("a preview: %w", err)
		}
		f.open[p.Loop] = p
		return f.each(Event{Preview: &p})
	case rpc.NoteGap:
		return errAgain
	default:
		return nil // a newer daemon may send more
	}
}
