package start

import (
	"context"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/sdk/client"
)

// Reviver starts the daemon of a run that is followed again when it has died. One that was
// stopped is no matter of it.
type Reviver struct {
	Daemon *Daemon
	Died   func() // is called before a start; may be nil
	starts int    // since something was heard
}

// DiedError is a daemon that died so often that starting it once more is of no use.
type DiedError struct {
	Times int
	Log   string // where it tells why
}

func (e *DiedError) Error() string {
	return fmt.Sprintf("bothyd died %d times: see %s", e.Times, e.Log)
}

// Heard says that the daemon has told something: it gets on.
func (r *Reviver) Heard() { r.starts = 0 }

// Lost is asked each time that there is no connection, with why, as client.Watch has it.
// While the daemon may be there in a moment nothing is done. It is started at most
// MostStarts times without anything heard; then a *DiedError comes.
func (r *Reviver) Lost(ctx context.Context, why error) error {
	var down *client.NotRunningError
	switch {
	case !errors.As(why, &down) || Holder(down.Socket) != 0:
		return nil
	case r.starts == MostStarts:
		return &DiedError{MostStarts, r.Daemon.Log()}
	}
	r.starts++
	if r.Died != nil {
		r.Died()
	}
	r.Daemon.say("bothyd died; starting it again")
	cl, err := r.Daemon.Start(ctx, down.Socket)
	if err == nil {
		_ = cl.Close() // who follows connects by itself
	}
	return err
}
