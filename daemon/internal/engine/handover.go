package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/daemon/internal/rulebook"
	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// A client that accepts a proposed command of sh or env as its own runs it: the action ends there, the loop goes
// on, and the command's output comes from the client. What it sends is bound to the connection that accepted it; when
// that closes, or the daemon ends, the output ends at 499.

// The bounds of what a client sends of its commands.
const (
	mostHandedChunk = 1 << 20
	mostHanded      = 16 // commands at a time, of one connection
)

// mostHandedOutput are the bytes that are taken of each channel, as many as of commands in the sandbox.
var mostHandedOutput = [2]int{10 << 20, 1 << 20}

// handed is a command that a client runs.
type handed struct {
	session string
	run     sdk.Run
	path    string // of its action
	outputs []string
	command string
	began   time.Time

	mu    sync.Mutex // held over each commit about it, which come in their order
	ended bool
	bytes [2]int
	clean [2]stream.Pieces
}

// handovers are the commands that clients run, by run and path.
type handovers struct {
	mu  sync.Mutex
	all map[inquiryKey]*handed
	// cancelled is told of one that somebody else than its client ended; nil tells nobody.
	cancelled func(session string, run int64, p rpc.StreamCancelled)
}

func (h *handovers) add(x *handed) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[inquiryKey]*handed{}
	}
	n := 0
	for _, other := range h.all {
		if other.session == x.session {
			n++
		}
	}
	if n >= mostHanded {
		return sdk.Errorf(sdk.Conflict, "this connection runs %d commands already: end one of them first, or have the daemon run this one (proposals/resolve)", mostHanded)
	}
	key := inquiryKey{x.run.ID, x.path}
	if h.all[key] != nil { // who answered later would take its place, and leave none when that fails
		return sdk.Errorf(sdk.Conflict, "%s was accepted by a client just now, which runs it", x.path)
	}
	h.all[key] = x
	return nil
}

func (h *handovers) find(run int64, path string) *handed {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[inquiryKey{run, path}]
}

func (h *handovers) drop(x *handed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if key := (inquiryKey{x.run.ID, x.path}); h.all[key] == x {
		delete(h.all, key)
	}
}

// which are those for which keep holds.
func (h *handovers) which(keep func(*handed) bool) (some []*handed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.all {
		if keep(x) {
			some = append(some, x)
		}
	}
	return some
}

// StreamsCancelled has somebody told of commands of clients that end and not by their client's word. It is
// called before there are any.
func (e *Engine) StreamsCancelled(tell func(session string, run int64, p rpc.StreamCancelled)) {
	e.handed.mu.Lock()
	defer e.handed.mu.Unlock()
	e.handed.cancelled = tell
}

// handOver ends the action of a command that the client runs which accepted it. Filters may veto that.
func (e *Engine) handOver(ctx context.Context, q *question, h here, remember sdk.Remember) (rpc.Resolved, error) {
	if h.session == "" {
		return rpc.Resolved{}, sdk.Errorf(sdk.Validation, "whoever runs a command stays connected: accept it over a WebSocket or the Unix socket, or have the daemon run it (proposals/resolve)")
	}
	rule, err := q.call().Rule(remember, e.cfg.Clock())
	if err != nil {
		return rpc.Resolved{}, err
	}
	ruled, err := e.cfg.Hooks.ProposalAccepting.Apply(ctx, sdk.Resolution{Run: q.a.run.ID, Entry: q.x.entry, Allow: true})
	if err != nil {
		ruled.Allow, ruled.Outcome, ruled.Body = false, sdk.OutcomeOf(err), err.Error()
	}
	if !ruled.Allow {
		return e.veto(ctx, q, ruled)
	}
	x := &handed{session: h.session, run: q.a.run, path: q.x.Path, outputs: q.x.outputs(), command: q.x.command(), began: time.Now()}
	for i := range x.clean {
		x.clean[i] = e.redacting()
	}
	if err := e.handed.add(x); err != nil {
		return rpc.Resolved{}, err
	}
	x.mu.Lock() // nothing is taken of it before there is a place for it
	defer x.mu.Unlock()
	q.given.Runs = sdk.RunsClient
	if rule != nil {
		q.given.Rule = rule.ID
	}
	told := fmt.Sprintf("'%s' runs at the person who accepted it, not in the sandbox; Output: %s and %s, which grow while it runs", sdk.Excerpt(x.command), x.outputs[0], x.outputs[1])
	writes := append([]sdk.Write{proposal.Answer(q.x.entry, q.given, told)}, outputWrites([]*action{q.x})...)
	if rule != nil {
		writes = append(writes, rulebook.Write(*rule))
	}
	done, err := e.commitAnswer(ctx, q, writes)
	if err != nil {
		x.ended = true
		e.handed.drop(x)
		return done, err
	}
	e.cfg.Hooks.ProposalAccepted.Emit(ctx, sdk.EntryEvent{Run: q.a.run.ID, Entry: q.x.entry})
	if done.Rule = rule; rule != nil {
		e.cfg.Rules.Changed()
	}
	return done, nil
}

// streamOf is the command of a client's, which it alone tells of. An error says why there is none to tell of.
func (e *Engine) streamOf(ctx context.Context, session string, run int64, path string) (*handed, error) {
	x := e.handed.find(run, path)
	switch {
	case x == nil:
		return nil, e.noStream(ctx, run, path)
	case x.session != session:
		return nil, sdk.Errorf(sdk.Permission, "%s is run by the client that accepted it, which is another connection", path)
	}
	return x, nil
}

// noStream says why nothing is taken for a path.
func (e *Engine) noStream(ctx context.Context, run int64, path string) error {
	entry, err := e.cfg.Store.Entry(ctx, run, path)
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
func (e *Engine) Stream(ctx context.Context, session string, run int64, p rpc.Stream) error {
	leave, err := e.enter()
	if err != nil {
		return err
	}
	defer leave()
	x, err := e.streamOf(ctx, session, run, p.Path)
	if err != nil {
		return err
	}
	at := p.Channel - 1
	if at < 0 || at >= len(x.outputs) {
		return sdk.Errorf(sdk.NotFound, "%s has no channel %d: 1 is standard output, 2 standard error", p.Path, p.Channel)
	}
	if len(p.Chunk) > mostHandedChunk {
		return sdk.Errorf(sdk.Overflow, "the piece has %d bytes, and %d are the most at once: send it in several", len(p.Chunk), mostHandedChunk)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.ended:
		return e.noStream(ctx, run, p.Path)
	case x.bytes[at]+len(p.Chunk) > mostHandedOutput[at]:
		return sdk.Errorf(sdk.Overflow, "channel %d of %s has %d bytes, and %d are the most: this piece is not taken", p.Channel, p.Path, x.bytes[at], mostHandedOutput[at])
	}
	text := x.clean[at].Write(strings.ToValidUTF8(p.Chunk, "\uFFFD"))
	if text == "" {
		x.bytes[at] += len(p.Chunk)
		return nil
	}
	w := sdk.Write{Path: x.outputs[at], Writer: sdk.WriterSystem, Chunk: &sdk.Chunk{Channel: p.Channel, Text: text}}
	if _, err := e.commit(ctx, happened, sdk.Change{Run: run, Writes: []sdk.Write{w}}); err != nil { // text has what was held back of pieces that were taken
		return fmt.Errorf("keep what the command printed: %w", err)
	}
	x.bytes[at] += len(p.Chunk)
	return nil
}
