package start

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Prompt gives a prompt to the daemon, as `ask` where it is read-only and else as `act`, and
// repeats that: by its key a daemon knows whether the prompt is there already. One without a
// key gets one.
func (d *Daemon) Prompt(ctx context.Context, cl *client.Client, readOnly bool, p rpc.Prompt) (rpc.Accepted, error) {
	p.Key = cmp.Or(p.Key, rand.Text())
	send := cl.Act
	if readOnly {
		send = cl.Ask
	}
	defer d.tellWaits(ctx)()
	return Repeat(ctx, d, cl, func() (rpc.Accepted, error) {
		d.Give(ctx, cl)
		return send(ctx, p)
	})
}

// Repeat is Again for what may be asked twice. When the daemon dies before it has answered,
// the next one is asked, at most MostStarts times.
func Repeat[R any](ctx context.Context, d *Daemon, cl *client.Client, ask func() (R, error)) (R, error) {
	for died := 0; ; {
		answer, err := Again(ctx, d, cl, ask)
		switch {
		case !errors.Is(err, client.ErrDisconnected):
			return answer, err
		case died == MostStarts:
			return answer, fmt.Errorf("bothyd died %d times before it had answered: see %s: %w", died+1, d.Log(), err)
		}
		died++
		d.say("bothyd died; starting it again")
		_ = cl.Close() // the next call makes a new connection
		next, err := d.Connect(ctx)
		if err != nil {
			return answer, err
		}
		_ = next.Close() // cl connects by itself
	}
}

// Withdraw takes a prompt back that waits, or ends the work on it.
func Withdraw(ctx context.Context, d *Daemon, cl *client.Client, p rpc.PromptRef) error {
	taken, err := Repeat(ctx, d, cl, func() (rpc.TakenBack, error) { return cl.TakeBack(ctx, p) })
	if err == nil && taken.Status == sdk.StatusRunning {
		_, err = Repeat(ctx, d, cl, func() (rpc.Aborted, error) { return cl.Abort(ctx, rpc.RunRef{Run: p.Run, Project: p.Project}) })
	}
	return err
}

// quietTime is how long a prompt may wait to be taken before it is said what for, and
// the pause before that is asked again.
const quietTime = time.Second

// tellWaits says what the daemon waits for before it takes a prompt, each once, such
// as a model server that it starts, until the function that it returns is called.
func (d *Daemon) tellWaits(ctx context.Context) func() {
	ctx, cancel := context.WithCancel(ctx)
	var telling sync.WaitGroup
	telling.Go(func() {
		said := map[string]bool{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(quietTime):
			}
			for _, text := range d.waiting(ctx) {
				if !said[text] {
					said[text] = true
					d.waits(text)
				}
			}
		}
	})
	return func() {
		cancel()
		telling.Wait()
	}
}

func (d *Daemon) waits(text string) {
	if d.Waits != nil {
		d.Waits(text)
		return
	}
	d.say("%s", text)
}

// waiting is what the daemon that runs says of that; nothing where none answers.
func (d *Daemon) waiting(ctx context.Context) []string {
	cl, err := d.Attach(ctx)
	if err != nil {
		return nil
	}
	defer func() { _ = cl.Close() }() // it has answered
	s, err := cl.Status(ctx)
	if err != nil {
		return nil
	}
	return s.Waiting
}

// Again calls ask until the answer is not that the daemon is stopping: it waits
// for its end, starts the next one and asks that. A connection that broke
// without an answer is an error, for what was asked may have been done.
func Again[R any](ctx context.Context, d *Daemon, cl *client.Client, ask func() (R, error)) (R, error) {
	refused := false
	for begin := time.Now(); ; {
		answer, err := ask()
		var said *rpc.Error
		busy := errors.As(err, &said) && said.Code == rpc.CodeBusy
		late := time.Since(begin) > StopTime
		switch {
		case IsDown(err):
			next, err := d.Connect(ctx)
			if err != nil {
				return answer, err
			}
			_ = next.Close() // cl connects by itself
		case late || !busy && !(refused && errors.Is(err, client.ErrStopped)):
			return answer, err
		}
		refused = refused || busy
		_ = cl.Close() // the next call makes a new connection
		if !pause(ctx) {
			return answer, ctx.Err()
		}
	}
}
