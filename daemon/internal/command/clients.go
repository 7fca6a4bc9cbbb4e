package command

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// A client that accepts a proposed command of sh or env as its own runs it: the action ends there, the loop goes
// on, and the command's output comes from the client. What it sends is bound to the connection that accepted it; when
// that closes, or the daemon ends, the output ends at 499.

// The bounds of what a client sends of its commands.
const (
	mostChunk  = 1 << 20
	mostAtOnce = 16 // commands at a time, of one connection
)

// mostOutput are the bytes that are taken of each channel, as many as of commands in the sandbox.
var mostOutput = [2]int{10 << 20, 1 << 20}

// handed is a command that a client runs.
type handed struct {
	session string
	run     sdk.Run
	path    string // of its action
	outputs []string
	began   time.Time

	mu    sync.Mutex // held over each commit about it, which come in their order
	ended bool
	bytes [2]int
	clean [2]stream.Pieces
}

// key names the action of a command.
type key struct {
	run  int64
	path string
}

// Clients are the commands that clients run.
type Clients struct {
	Store interface {
		Entry(ctx context.Context, run int64, path string) (sdk.Entry, error)
	}
	// Commit makes a change durable that cannot be taken back.
	Commit func(ctx context.Context, c sdk.Change) (sdk.Receipt, error)
	// Enter counts a piece of work until leave; an error is that none is taken now.
	Enter     func() (leave func(), err error)
	Redacting func() stream.Pieces
	// Kill ends a command that runs in the sandbox, for a reason; false is that there is none.
	Kill func(run int64, path, reason string) bool
	Log  hclog.Logger

	mu  sync.Mutex
	all map[key]*handed
	// cancelled is told of one that somebody else than its client ended; nil tells nobody.
	cancelled func(session string, run int64, p rpc.StreamCancelled)
}

// Take has a client run the command of an action from now on, by its session, for as long as that lasts. Nothing is taken
// of the command before begun says whether the action has ended by that.
func (c *Clients) Take(session string, run sdk.Run, path string) (begun func(is bool), err error) {
	x := &handed{session: session, run: run, path: path, outputs: Outputs(path), began: time.Now()}
	for i := range x.clean {
		x.clean[i] = c.Redacting()
	}
	if err := c.add(x); err != nil {
		return nil, err
	}
	x.mu.Lock()
	return func(is bool) {
		defer x.mu.Unlock()
		if !is {
			x.ended = true
			c.drop(x)
		}
	}, nil
}

func (c *Clients) add(x *handed) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[key]*handed{}
	}
	n := 0
	for _, other := range c.all {
		if other.session == x.session {
			n++
		}
	}
	if n >= mostAtOnce {
		return sdk.Errorf(sdk.Conflict, "this connection runs %d commands already: end one of them first, or have the daemon run this one (proposals/resolve)", mostAtOnce)
	}
	at := key{x.run.ID, x.path}
	if c.all[at] != nil { // who answered later would take its place, and leave none when that fails
		return sdk.Errorf(sdk.Conflict, "%s was accepted by a client just now, which runs it", x.path)
	}
	c.all[at] = x
	return nil
}

func (c *Clients) find(run int64, path string) *handed {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[key{run, path}]
}

func (c *Clients) drop(x *handed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, key{x.run.ID, x.path})
}

// which are those for which keep holds.
func (c *Clients) which(keep func(*handed) bool) (some []*handed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.all {
		if keep(x) {
			some = append(some, x)
		}
	}
	return some
}

// StreamsCancelled has somebody told of commands of clients that end and not by their client's word. It is
// called before there are any.
func (c *Clients) StreamsCancelled(tell func(session string, run int64, p rpc.StreamCancelled)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelled = tell
}

// of is the command of a client's, which it alone tells of. An error says why there is none to tell of.
func (c *Clients) of(ctx context.Context, session string, run int64, path string) (*handed, error) {
	x := c.find(run, path)
	switch {
	case x == nil:
		return nil, c.none(ctx, run, path)
	case x.session != session:
		return nil, sdk.Errorf(sdk.Permission, "%s is run by the client that accepted it, which is another connection", path)
	}
	return x, nil
}

// none says why nothing is taken for a path.
func (c *Clients) none(ctx context.Context, run int64, path string) error {
	entry, err := c.Store.Entry(ctx, run, path)
	if err != nil {
		return err
	}
	a, err := sdk.ActionOf(entry)
	switch {
	case err != nil:
		return err
	case !a.Streams:
		return sdk.Errorf(sdk.NotFound, "%s is no call of %s or %s: it has no output that could be sent", path, sdk.ToolSh, sdk.ToolEnv)
	case entry.State == sdk.StateProposed:
		return sdk.Errorf(sdk.Conflict, "%s waits for an answer: accept it by run/resolve first", path)
	case !entry.State.Ended():
		return sdk.Errorf(sdk.Conflict, "%s runs in the sandbox, so its output comes from there", path)
	}
	return sdk.Errorf(sdk.Conflict, "%s has ended: nothing more is taken of it", path)
}

// Stream takes a piece of what a client's command printed. It is durable when that returns, but for the
// beginning of a secret at its end.
func (c *Clients) Stream(ctx context.Context, session string, run int64, p rpc.Stream) error {
	leave, err := c.Enter()
	if err != nil {
		return err
	}
	defer leave()
	x, err := c.of(ctx, session, run, p.Path)
	if err != nil {
		return err
	}
	at := p.Channel - 1
	if at < 0 || at >= len(x.outputs) {
		return sdk.Errorf(sdk.NotFound, "%s has no channel %d: 1 is standard output, 2 standard error", p.Path, p.Channel)
	}
	if len(p.Chunk) > mostChunk {
		return sdk.Errorf(sdk.Overflow, "the piece has %d bytes, and %d are the most at once: send it in several", len(p.Chunk), mostChunk)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.ended:
		return c.none(ctx, run, p.Path)
	case x.bytes[at]+len(p.Chunk) > mostOutput[at]:
		return sdk.Errorf(sdk.Overflow, "channel %d of %s has %d bytes, and %d are the most: this piece is not taken", p.Channel, p.Path, x.bytes[at], mostOutput[at])
	}
	text := x.clean[at].Write(strings.ToValidUTF8(p.Chunk, "\uFFFD"))
	if text == "" {
		x.bytes[at] += len(p.Chunk)
		return nil
	}
	w := sdk.Write{Path: x.outputs[at], Writer: sdk.WriterSystem, Chunk: &sdk.Chunk{Channel: p.Channel, Text: text}}
	if _, err := c.Commit(ctx, sdk.Change{Run: run, Writes: []sdk.Write{w}}); err != nil { // text has what was held back of pieces that were taken
		return fmt.Errorf("keep what the command printed: %w", err)
	}
	x.bytes[at] += len(p.Chunk)
	return nil
}
