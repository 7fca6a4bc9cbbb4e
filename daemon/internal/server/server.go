// Package server serves the daemon's Unix socket, on which clients speak
// JSON-RPC, one message a line, and, where that is configured, the same on
// WebSockets of this machine. It checks who connects, reads and bounds what
// clients send, and hands each call to an interface that package daemon
// implements. It keeps no state of its own: what clients follow is the store's
// journal, which each watch reads from the client's position on, and whose end is
// read once for all. A run therefore never waits for a client.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Engine does what clients ask for. Submit answers as soon as the prompt is
// durable; it never waits for the model.
type Engine interface {
	// Submit queues a prompt of a session, empty when nobody there attends; approved says that
	// its caller may approve, origin whose the run is to be.
	Submit(ctx context.Context, session string, readOnly, approved bool, origin sdk.Origin, p rpc.Prompt) (rpc.Accepted, error)
	StartRun(ctx context.Context, origin sdk.Origin, p rpc.StartRun) (rpc.Started, error)
	// Init makes a folder known as a project, and what is in it.
	Init(ctx context.Context, root string) (sdk.Project, error)
	CallTool(ctx context.Context, approved bool, origin sdk.Origin, p rpc.ToolCall) (rpc.ToolDone, error)
	// Keeper is the run by which entries of a channel's own, or of an owner without runs, are reached; it is made when it is not there.
	Keeper(ctx context.Context, of sdk.Origin) (sdk.Run, error)
	// UseEntries uses verbs on entries of a run, in one commit or none; within reports which paths are in reach, nil is all.
	UseEntries(ctx context.Context, approved bool, within func(path string) bool, run sdk.Run, calls []sdk.EntryCall) ([]sdk.EntryDone, error)
	Streams
	// ScanProject makes the files of a directory entries of its project.
	ScanProject(ctx context.Context, root string) (sdk.Project, sdk.Scanned, error)
	ConstrainProject(ctx context.Context, root, pattern string, to sdk.Constraint) (sdk.Project, sdk.Scanned, error)
	CancelCall(ctx context.Context, run int64, path string) ([]string, error)
	Abort(ctx context.Context, run int64) error
	AbortHeld(ctx context.Context, run int64) (held int, err error)
	Release(ctx context.Context, run int64) (int, error)
	TakeBack(ctx context.Context, run int64, prompt int) (rpc.TakenBack, error)
	Cassette(ctx context.Context, run int64, prompt int, offset int64) (rpc.CassettePiece, error)
	Resume(ctx context.Context, run int64) (rpc.Accepted, error)
	Compact(ctx context.Context, run int64) (rpc.Accepted, error)
	Fork(ctx context.Context, run int64, p rpc.Fork) (rpc.Forked, error)
	Reset(ctx context.Context, run int64) error
	Leave(ctx context.Context, run int64) (rested bool, err error)
	Delete(ctx context.Context, run int64) error
	Rename(ctx context.Context, run int64, name string) (sdk.Run, error)
	ConfigureRun(ctx context.Context, run int64, p rpc.RunConfig) (sdk.Run, error)
	Agents(project string, untrusted bool) []rpc.Agent
	Agent(project, name string) (rpc.AgentDetail, error)
	// Guards are those of an agent in a project.
	Guards(project, agent string) sdk.Guards
}

// Store is what the server reads. Changed returns a channel that is closed at
// the next commit; it is taken before the journal is read, so that no commit
// falls between.
type Store interface {
	Projects(ctx context.Context) ([]sdk.Project, error)
	Run(ctx context.Context, id int64) (sdk.Run, error)
	RunByAlias(ctx context.Context, project int64, alias string) (sdk.Run, error)
	Runs(ctx context.Context, f sdk.RunFilter) ([]sdk.Run, error)
	// Owns reports whether there are entries of an owner, whether or not a run of theirs is left.
	Owns(ctx context.Context, owner string) (bool, error)
	Delegators(ctx context.Context, run int64) ([]sdk.Run, error) // of a child, the first of all first
	Loops(ctx context.Context, run int64) ([]sdk.Loop, error)
	Turns(ctx context.Context, run int64) ([]sdk.Turn, error)
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
	Scheme(name string) (sdk.Scheme, bool)
	Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error)
	Forks(ctx context.Context, run int64) ([]sdk.Run, error)
	Usage(ctx context.Context, since time.Time, do func(sdk.Used) error) error
	Verify(ctx context.Context, last int) error // 0 is all; a *sdk.JournalDamage names the first bad row
	Seq() int64
	Changed() <-chan struct{}
}

// Daemon answers for the daemon as a whole. Stop only asks: it returns at
// once, and the daemon calls Server.Close when it has drained, or, when now is
// set, without waiting for that.
type Daemon interface {
	Status(ctx context.Context) (rpc.Status, error)
	Tools() []sdk.Tool
	Plugins() []rpc.Plugin
	// DevPlugin uses a process until it has gone or ctx ends; attached is told
	// when it is in use.
	DevPlugin(ctx context.Context, p rpc.PluginDev, attached func(rpc.PluginAttached)) (rpc.PluginDetached, error)
	// Lend gives a run servers of MCP of its own until end is called.
	Lend(ctx context.Context, run sdk.Run, servers []rpc.LentServer) (lent []rpc.LentAs, end func())
	Settings() []rpc.Setting
	Mistakes(project string) rpc.Mistakes
	CheckConfig(ctx context.Context, p rpc.ConfigCheck) rpc.ConfigChecked
	ReloadConfig(ctx context.Context) rpc.Reloaded
	// CatchUp returns when the configuration that was saved before is in force, or could
	// not be, and in any case soon.
	CatchUp(ctx context.Context)
	ReloadPlugin(ctx context.Context, p rpc.PluginReload) (rpc.PluginReloaded, error)
	Backup(ctx context.Context, p rpc.BackupParams, progress func(done, total int64)) (rpc.BackupDone, error)
	Stop(now bool)
}

// History is what runs changed in the files of their projects.
type History interface {
	Changes(ctx context.Context, run int64, of rpc.ChangesOf) (rpc.Changes, error)
	Undo(ctx context.Context, run int64, p rpc.Undo) (rpc.Undone, error)
	Redo(ctx context.Context, run int64, partial bool) (rpc.Undone, error)
	// Touched are the files that each prompt changed, by its loop.
	Touched(ctx context.Context, run int64) (map[int64]rpc.PromptFiles, error)
}

// Packets render what models were sent.
type Packets interface {
	Packet(ctx context.Context, run sdk.Run, turn int) (rpc.Packet, error)
	// Names reports whether a path names a text that is rendered when it is read, by Entry.
	Names(path string) bool
	Entry(ctx context.Context, run sdk.Run, path string) (sdk.Entry, error)
}

// Keys answers for the keys that the configuration asks for.
type Keys interface {
	Login(ctx context.Context, p rpc.KeyLogin) (rpc.KeyKept, error)
	Logout(ctx context.Context, p rpc.KeyRef) (rpc.KeyRemoved, error)
	List() rpc.Keys
	// Lacks are the names of those that are nowhere; Give takes them from a process.
	Lacks() []string
	Give(ctx context.Context, pid int, p rpc.KeysGive) (rpc.KeysTaken, error)
}

// Models answers for the models.
type Models interface {
	List(ctx context.Context) rpc.Models
	// Pull gets a model onto its provider's server until ctx ends, and returns its alias.
	Pull(ctx context.Context, model string, progress func(sdk.PullProgress)) (string, error)
	// Add writes a model block into the user's configuration, and Remove takes one out; they
	// return when that is in force.
	Add(ctx context.Context, p rpc.ModelAdd) (rpc.ModelAdded, error)
	Remove(ctx context.Context, p rpc.ModelRef) (rpc.ModelRemoved, error)
	// Price is what the configuration says that a model costs, by its name; nil is unknown.
	Price(name string) *sdk.Price
}

// Config is what a server is made of. All interfaces are required, and so are
// Configured and Clients.
type Config struct {
	Engine  Engine
	Store   Store
	History History
	Packets Packets
	Daemon  Daemon
	Models  Models
	People  People
	Keys    Keys
	Files   Files
	Folders Folders
	Skills  Skills
	Policy  Policy
	// Configured are the rules that are written down, those of a project among them
	// when it is named.
	Configured func(project string) []sdk.PolicyRule
	Audit      Audit
	// Clients are told what is not in the journal. They are made before the parts
	// that tell them.
	Clients *Clients
	// Hooks are told of requests; nil tells nobody, which only tests may want.
	Hooks  *hook.Chains
	Log    hclog.Logger
	Limits Limits // zero fields take the defaults

	// Redact takes secrets out of a line to a client, which is JSON and stays so.
	// Nil leaves it, which only tests may want.
	Redact func(json.RawMessage) json.RawMessage
	// Descended reports whether a process descends from a plugin; such a peer
	// is refused, but for a channel's. Nil refuses nobody, which only tests may want.
	Descended func(pid int) bool
	// Channels are the plugins that are let in all the same; nil is none. Within
	// reports whether a process is another one, or descends from it.
	Channels *Channels
	Within   func(pid, ancestor int) bool
	// Peer asks the kernel who is there; nil is rpc.PeerOf.
	Peer func(*net.UnixConn) (rpc.Peer, error)
	// WebUser and WebPeers ask it the same of a connection of TCP within this machine; known is
	// false on a system that does not say. Nil asks.
	WebUser  func(net.Conn) (uid int, known bool, err error)
	WebPeers func(net.Conn) (pids []int, known bool, err error)
}

// Server serves any number of connections on one Listener.
type Server struct {
	cfg     Config
	limits  Limits
	log     hclog.Logger
	uid     int
	methods map[string]method
	alarm   *alarm
	tail    *tail
	hooks   *hooks
	pairs   pairings
	hearing chan struct{} // one for each refused peer that is being heard
	socket  string        // set by Serve, before anybody is served
	tokens  tokens        // likewise
	web     *web          // nil when nothing is served there; guarded by mu

	*Clients
	seating sync.Mutex // who is let in, one at a time; taken before mu
	serving sync.WaitGroup

	stopping atomic.Bool     // somebody asked for a stop: nothing is begun any more
	draining context.Context // ended by Close: nothing new begins
	drain    context.CancelFunc
	forced   context.Context // ended when Close runs out of time: what is left is cancelled
	force    context.CancelFunc
}

// New makes a server. It listens when Serve is called.
func New(cfg Config) (*Server, error) {
	if cfg.Engine == nil || cfg.Store == nil || cfg.History == nil || cfg.Packets == nil || cfg.Daemon == nil || cfg.Models == nil || cfg.Files == nil || cfg.Skills == nil || cfg.Policy == nil || cfg.Audit == nil {
		return nil, errors.New("the server needs an engine, a store, a history, packets, a daemon, models, files, skills, policy and audit")
	}
	if cfg.Log == nil {
		cfg.Log = hclog.NewNullLogger()
	}
	if cfg.Peer == nil {
		cfg.Peer = rpc.PeerOf
	}
	if cfg.WebUser == nil {
		cfg.WebUser = userOf
	}
	if cfg.WebPeers == nil {
		cfg.WebPeers = peersOf
	}
	s := &Server{
		cfg: cfg, limits: cfg.Limits.withDefaults(), log: cfg.Log, uid: os.Geteuid(),
		Clients: cfg.Clients,
		tail:    &tail{store: cfg.Store},
		alarm:   newAlarm(cfg.Audit, cfg.Log), hearing: make(chan struct{}, hearPeers),
	}
	s.draining, s.drain = context.WithCancel(context.Background())
	s.forced, s.force = context.WithCancel(context.Background())
	s.methods = s.table()
	cfg.Engine.StreamsCancelled(s.Clients.streamCancelled)
	if cfg.Hooks != nil {
		s.hooks = newHooks(s, cfg.Hooks)
	}
	return s, nil
}

// Serve accepts connections until Close is called, which makes it return nil,
// or the socket cannot be kept. Out of file descriptors, it waits and tries
// again. It does not close the listener: the daemon does, when all else ended,
// so that whoever waits for the socket to go waits for the daemon.
func (s *Server) Serve(l *Listener) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.socket, s.tokens = l.path, l.tokens
	s.mu.Lock()
	if s.draining.Err() == nil {
		s.serving.Add(1) // so that Close waits for who may still be let in
		defer s.serving.Done()
		if l.web != nil {
			s.serveWeb(l.web)
		}
	}
	s.mu.Unlock()
	kept := make(chan error, 1)
	go func() { kept <- l.keep(ctx, s.limits.Watchdog, s.log, s.alarm) }()
	defer context.AfterFunc(s.draining, l.stop)()

	err := s.accept(l)
	cancel()
	l.stop()
	if lost := <-kept; lost != nil {
		return lost
	}
	return err
}

func (s *Server) accept(l *Listener) error {
	wait := time.Duration(0)
	for {
		c, err := l.accept()
		switch {
		case err == nil:
			wait = 0
			s.admit(c)
		case errors.Is(err, net.ErrClosed):
			return nil
		default:
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			s.log.Warn("cannot accept a connection, trying again", "error", err, "wait", wait)
			select {
			case <-time.After(wait):
			case <-s.draining.Done():
				return nil
			}
		}
	}
}

// admit decides about a new connection to the Unix socket and, when it may stay, serves it.
func (s *Server) admit(nc *net.UnixConn) {
	var granted *channelGrant
	peer, err := s.cfg.Peer(nc)
	if err == nil {
		granted, err = s.check(peer)
	}
	if err != nil {
		s.turnAway(nc, peer, err)
		return
	}
	c, full := s.seat(newLines(nc, s.limits), caller{peer: peer, grant: granted, role: rpc.RoleSubmit})
	if full != nil {
		s.refuse(nc, full)
		return
	}
	go s.keep(c, nil)
}

// caller is who is at the other end of a connection, and what it showed before it was let in.
type caller struct {
	peer  rpc.Peer
	grant *channelGrant // of the channel whose plugin it is; nil for people
	shown bool          // its token
	role  rpc.Role
}

// seat gives a connection that may come in its place, which keep then keeps; an error says that
// there is none.
func (s *Server) seat(line transport, from caller) (*conn, *rpc.Error) {
	granted := from.grant
	if granted != nil && !granted.enter() {
		return nil, rpc.Errorf(rpc.CodeBusy, sdk.Unavailable, fmt.Sprintf("the channel already has %d connections: close some and try again", channelConns))
	}
	s.seating.Lock()
	defer s.seating.Unlock()
	beyond, ok := s.makeRoom(from.peer.PID)
	if !ok {
		if granted != nil {
			granted.leave()
		}
		return nil, s.full()
	}
	c := newConn(s, line, from, beyond)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Err() != nil { // Close may wait for nobody any more
		c.cancel()
		if granted != nil {
			granted.leave()
		}
		return nil, rpc.Errorf(rpc.CodeBusy, sdk.Unavailable, "the daemon is stopping: try again")
	}
	s.conns[c] = struct{}{}
	s.serving.Add(1)
	return c, nil
}

// keep serves a connection to its end; after, when not nil, follows that.
func (s *Server) keep(c *conn, after func()) {
	defer s.serving.Done()
	c.serve()
	s.cfg.Engine.LeaveStreams(c.session)
	if after != nil {
		after()
	}
	if c.grant != nil {
		c.grant.leave()
	}
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}
