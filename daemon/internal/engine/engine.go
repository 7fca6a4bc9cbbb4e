// Package engine takes prompts, and turns each into a loop of turns until
// something ends it. It reads and writes entries and nothing else; models,
// tools, the view, the dialect and policy are small interfaces that package
// daemon fills.
//
// Each step of a turn commits before the next begins, and every action is
// durable before it can have an effect. Who follows a run reads the store's
// journal: the engine tells nobody anything but previews.
//
// A loop that a daemon left at 102, because it died or was stopped, is taken up
// by the next one: takeup.go reads from the store how far its turn has come,
// and the turn goes on with the step behind that, in the very function that
// takes fresh ones. Nothing with a side effect is done twice.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/agent/abreast"
	"github.com/bothyd/bothy/daemon/internal/backlog"
	"github.com/bothyd/bothy/daemon/internal/command"
	"github.com/bothyd/bothy/daemon/internal/guard"
	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/owed"
	"github.com/bothyd/bothy/daemon/internal/rulebook"
	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Times that bound what somebody waits for.
const (
	settleTime   = 700 * time.Millisecond           // a cancelled call's time to end in order
	toolTime     = sdk.MaxCommandTime + time.Minute // the longest call: a command and some room
	commitTime   = 30 * time.Second
	defaultGrace = 5 * time.Second
	endPatience  = 4 * time.Second // how long an end is tried that waiting hardly helps
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
	abortTime    = 950 * time.Millisecond // the longest an abort waits for what cannot be recorded
)

// Config is what an engine is made of. All fields but Builtin, Services, Access,
// Results, Instructions, Attended, Mode, Expiry, Rules, Narrow, Preview, Clock and
// Grace are required.
type Config struct {
	Store    Store
	Tools    Tools
	Builtin  Builtin   // nil: there are no own tools
	Verbs    Verbs     // nil: plugins and clients have no verbs on entries
	Services *Services // for plugins; New makes them this engine's before it begins its work
	Models   Models
	Views    map[string]Assembler // by the names that agents give them
	Dialects map[string]Dialect   // likewise
	Policy   Policy
	Access   Access // nil: nothing is known of what calls could touch
	Hooks    *hook.Chains
	Agents   Agents
	DataDir  string // run folders lie in runs/KEY below it
	Log      hclog.Logger

	Results      Results      // how results are judged that are handed over
	Instructions Instructions // nil: no file tells agents anything
	Attachments  Attachments  // nil: none can be attached
	Files        Files        // nil: no file of a project is an entry
	// Redact takes secrets out of a text that becomes part of a path, which cannot
	// be redacted later. Nil takes out nothing.
	Redact func(string) string
	// RedactText is Redact for a text that may be JSON and stays so, as it is done to
	// entries; what is recorded has that. Nil takes out nothing.
	RedactText func(string) string
	// Leaks is the name of a live secret that stands in the arguments of a call, however it is written; empty is none.
	// Nil finds none.
	Leaks func(arguments json.RawMessage) string
	// Conceal has a secret that a person typed taken out of all that is recorded from then
	// on. Nil takes out nothing.
	Conceal func(secret string)
	// Hidden stands in the store where a secret was. A call in which it stands is
	// not made by a daemon that has it from the store: its tool would take the mark
	// for what the model wrote. Empty is that nothing is hidden.
	Hidden string
	// Unopened says, of a text in which a plugin tells of a failure, which file in it the
	// plugin's block does not open; empty is none. Nil says nothing.
	Unopened func(plugin, text string) string
	// Redacting begins a text that is shown or stored piece by piece. Nil shows
	// all: only tests may want that.
	Redacting func() stream.Pieces
	// Attended reports whether a client that may approve follows a run: the
	// connection that gave the prompt, named by its session, or any other. Nil is
	// never.
	Attended func(run int64, session string) bool
	// Mode is that of agents which name none; nil is restricted.
	Mode func() sdk.Mode
	// Expiry is how long a proposal waits for its answer; nil is 24 h.
	Expiry func() time.Duration
	// Rules are those that answers left. Nil makes a rulebook of the store, which
	// only tests may want: policy has to know the same one.
	Rules *rulebook.Book
	// Narrow is what the workspace of a project says of the prompts in it. Nil
	// says nothing.
	Narrow func(project string) Narrowing
	// Lent are the servers of MCP that a front end lends to the run of a key now, by
	// their names. Nil is none.
	Lent func(run string) []string
	// Unsaved is who to ask how front ends have a file, by its absolute path, that lend
	// their buffers to the run of a key: false is as the disk has it. It is nil where none
	// does, and is not set where none ever will.
	Unsaved func(run string) func(ctx context.Context, path string) sdk.Buffer
	// Preview gets text of answers that are still being written, from the
	// goroutine that reads the stream. It must return at once.
	Preview func(rpc.Preview)
	// Previewed is told that nothing more is shown of the answer that a run's model
	// was writing: it is about to be committed, or left. Nil when nobody watches.
	Previewed func(run int64)
	// Awaited waits until a plugin can be told what it is owed. Nil waits for none.
	Awaited func(ctx context.Context, plugin string) error
	Clock   func() time.Time // for what is counted in days; nothing is measured by it
	Frozen  bool             // the store takes no writes: nothing that was left is taken up
	Grace   time.Duration    // how long Close lets tools end; 0 is 5 s
}

// Narrowing is what a workspace says: which agent and model are taken when
// nothing else names one, and the guards of an agent with its lower limits.
type Narrowing struct {
	Agent, Model string
	Guards       func(sdk.Guards) sdk.Guards
}

func (e *Engine) narrowing(project string) Narrowing {
	n := Narrowing{}
	if e.cfg.Narrow != nil {
		n = e.cfg.Narrow(project)
	}
	if n.Guards == nil {
		n.Guards = func(g sdk.Guards) sdk.Guards { return g }
	}
	return n
}

// The causes with which a loop's context ends.
var (
	errAborted  = errors.New("aborted by a person")
	errStopping = errors.New("the daemon is stopping")
)

// Engine runs loops. Its methods may be called concurrently.
//
// Locks: mu guards closed, workers and books, and is never held while calling
// out; the backlog's lock is taken inside it. A book's lock orders the turns of
// one run and is held over the commit that opens one.
type Engine struct {
	cfg       Config
	log       hclog.Logger
	guards    *guard.Set
	kept      sync.Map // of keptAt: the definitions that projects have
	patience  time.Duration
	backlog   backlog.Backlog
	askers    askers
	serves    servings
	calling   calling
	inquiries inquiries
	clients   *command.Clients
	streams   stream.To
	abreast   abreast.Children
	owed      *owed.Teller
	tellings  atomic.Int64 // of rests
	commands  calling      // of sh and env that run in the sandbox
	started   string       // names this engine among all that work on the store

	// base ends when Close has no more patience; draining ends when Close begins.
	base     context.Context
	cut      context.CancelCauseFunc
	draining context.Context
	drain    context.CancelCauseFunc

	keys sync.Map // of prompts that are being submitted, with a channel that closes when that is over; see holdKey

	keepers sync.Map // ids of runs by which entries are reached, by their origin; see Keeper

	mu      sync.Mutex
	closed  bool
	workers map[int64]*worker
	books   map[int64]*book
	busy    sync.WaitGroup // workers, tool calls and calls that were given up
}

// New makes an engine and begins its work: each run goes on with the loop that
// an earlier daemon left running, then with those that are queued.
func New(cfg Config) (*Engine, error) {
	if cfg.Store == nil || cfg.Tools == nil || cfg.Models == nil || len(cfg.Views) == 0 || len(cfg.Dialects) == 0 ||
		cfg.Policy == nil || cfg.Hooks == nil || cfg.Log == nil || !filepath.IsAbs(cfg.DataDir) {
		return nil, errors.New("an engine needs store, tools, models, views, dialects, policy, hooks, log and an absolute data directory")
	}
	if cfg.Redact == nil {
		cfg.Redact = func(text string) string { return text }
	}
	if cfg.RedactText == nil {
		cfg.RedactText = func(text string) string { return text }
	}
	if cfg.Redacting == nil {
		cfg.Redacting = func() stream.Pieces { return stream.Clear{} }
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Grace <= 0 {
		cfg.Grace = defaultGrace
	}
	e := &Engine{cfg: cfg, log: cfg.Log, patience: endPatience, workers: map[int64]*worker{}, books: map[int64]*book{}}
	if cfg.Services != nil {
		cfg.Services.e = e
	}
	e.started = strconv.FormatInt(time.Now().UnixNano(), 36)
	e.base, e.cut = context.WithCancelCause(context.Background())
	e.draining, e.drain = context.WithCancelCause(e.base)
	if e.cfg.Rules == nil {
		e.cfg.Rules = rulebook.New(cfg.Store, cfg.Log)
	}
	e.cfg.Rules.KeptBy(e, cfg.Clock)
	e.streams = stream.To{Commit: e.Commit, Redacting: cfg.Redacting, Log: e.log}
	e.owed = owed.New(cfg.Store.Owed, cfg.Awaited, e.tellRest, e.log.Named("rests"))
	e.guards, e.clients = guard.New(cfg.Hooks), e.newClients()
	if cfg.Frozen {
		return e, nil
	}
	if err := e.boot(e.base); err != nil {
		e.drain(errStopping)
		e.cut(errStopping)
		return nil, fmt.Errorf("take up what was left: %w", err)
	}
	return e, nil
}

// Close drains: nothing new begins, completions are cancelled, tools may end
// within the grace or until ctx ends, whichever is first, and what they came
// to is recorded. What is cut then stays recorded as started. No loop ends by
// this: the next daemon goes on with each where it stands. With a ctx that has
// ended already everything is cut at once, and as safely.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.drain(errStopping)
	done := make(chan struct{})
	go func() {
		e.busy.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(e.cfg.Grace):
	case <-ctx.Done():
	}
	e.cut(errStopping)
	select {
	case <-done:
		e.guards.Close()
		return nil
	case <-time.After(5 * settleTime):
		return sdk.Errorf(sdk.Timeout, "some work did not end in time; the next start finds out what it came to")
	}
}

// enter counts a piece of work, which must call leave; it refuses once Close
// has begun, and while what was done already cannot be recorded.
func (e *Engine) enter() (leave func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, sdk.Errorf(sdk.Unavailable, "the daemon is stopping; try again when it is back")
	}
	if why := e.backlog.Reason(); why != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "no new work is taken until what was done already can be recorded: %w", why)
	}
	e.busy.Add(1)
	return e.busy.Done, nil
}

func (e *Engine) runDir(run sdk.Run) string { return filepath.Join(e.cfg.DataDir, "runs", run.Key) }

// folder is where the tools of a private run work; empty of any other.
func (e *Engine) folder(run sdk.Run) string { return run.Folder(e.runDir(run)) }
