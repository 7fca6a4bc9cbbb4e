package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// How long a stop may take, part by part: the engine gets this beyond the grace that tools have. What does not end
// in time is cut, and taken up at the next start.
const (
	drainTime  = 5 * time.Second
	pluginTime = 10 * time.Second
	replyTime  = 2 * time.Second
	runlogTime = 2 * time.Second         // what is not written then is written at the next start
	hurryTime  = 1500 * time.Millisecond // for everything, once there is a hurry
)

// ErrStopped says that New was told to stop before it was done.
var ErrStopped = errors.New("told to stop while starting")

// ErrHurried says that the daemon ended without waiting for what it was doing.
// Nothing that was acknowledged is lost; the next start takes up the rest.
var ErrHurried = errors.New("ended in a hurry: what was at work is taken up at the next start")

// garbage is the GOGC of a daemon for which nobody set one: of a heap of a few megabytes
// nearly all is garbage of the last calls, and to look through it costs a call a tenth.
const garbage = 200

// Run serves until ctx ends, a client asks for a stop, or the socket is lost or the disk under the store (ADR 0073),
// which is an error. Then nothing new is taken, clients hear that it stops, and everything is closed in the reverse
// order of making: the engine drains while clients can still see what ends. It returns ErrHurried when Hurry cut that
// short; the process must end then, for parts of the daemon may still be at work.
func (d *Daemon) Run(ctx context.Context) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(d.listener) }()
	var lost error
	select {
	case <-ctx.Done():
		d.log.Info("stopping: a signal came")
	case <-d.stopping.Done():
		if lost = d.lost(); lost != nil {
			d.log.Error("stopping: the disk of the store failed", "error", lost)
			break
		}
		d.log.Info("stopping: a client asked for it")
	case err := <-served:
		if err != nil && !errors.Is(err, net.ErrClosed) {
			d.log.Error("stopping: the socket was lost", "error", err)
			lost = fmt.Errorf("the socket was lost: %w", err)
		}
	}
	d.stop()
	d.server.Farewell()
	if d.closeInTime() {
		return lost
	}
	return ErrHurried
}

// closeInTime closes the daemon and reports whether it was given the time.
func (d *Daemon) closeInTime() bool {
	closed := make(chan struct{})
	go func() {
		d.Close()
		close(closed)
	}()
	select {
	case <-closed:
		return d.hurried.Err() == nil
	case <-d.hurried.Done():
	}
	d.log.Warn("stopping in a hurry")
	select {
	case <-closed:
	case <-time.After(hurryTime):
	}
	return false
}

// Hurry ends the patience of a stop, and asks for one if none was: Run returns
// within two seconds, whatever hangs.
func (d *Daemon) Hurry() {
	d.hurry()
	d.stop()
}

// Close ends everything that was started. What works for clients ends first, so
// that whoever follows a run sees how it ended; then the server; then the rest,
// newest first. It may be called more than once.
func (d *Daemon) Close() {
	d.stop()
	d.reloading.Lock() // one that is under way gives up, and none begins any more
	work, parts := d.work.take(), d.parts.take()
	d.reloading.Unlock()
	d.end(work)
	if d.server != nil {
		d.host.CloseChannels() // while their socket still is there
		ctx, cancel := context.WithTimeout(d.hurried, replyTime)
		defer cancel()
		d.server.Close(ctx)
	}
	d.end(parts)
}

func (d *Daemon) end(parts []part) {
	for _, p := range slices.Backward(parts) {
		if err := p.end(); err != nil {
			d.log.Error("closing", "what", p.name, "error", err)
		}
	}
}

// part is something that was made and has to be ended.
type part struct {
	name string
	end  func() error
}

// closers are parts in the order of making.
type closers struct {
	mu    sync.Mutex
	parts []part
}

func (c *closers) add(name string, end func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parts = append(c.parts, part{name, end})
}

// take returns the parts, and leaves none.
func (c *closers) take() []part {
	c.mu.Lock()
	defer c.mu.Unlock()
	parts := c.parts
	c.parts = nil
	return parts
}
