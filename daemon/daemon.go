package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/builtin"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/group"
	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/logfile"
	"github.com/bothyd/bothy/daemon/internal/model"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/daemon/internal/server"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/daemon/internal/skill/answer"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Options are what the command line says.
type Options struct {
	Config   string    // the configuration file; empty is the user's
	LogLevel string    // goes before the configuration's, at a reload too; empty leaves that
	Stderr   io.Writer // gets a copy of the log and the diagnostics; nil is nowhere
}

// Daemon is one running Bothy. It is made by New, which has everything started
// when it returns, and lives until Run returns.
type Daemon struct {
	paths   Paths
	file    string         // the configuration that the command line names; empty is the user's
	cfg     *config.Config // what it was started with; see current
	log     *logfile.Log
	secrets *audit.Redactor // of the values that people and models must not see
	started time.Time
	binary  binary

	listener *server.Listener
	store    *store.Store
	runlogs  *audit.Runlogs
	security *audit.Security
	hooks    *hook.Chains
	channels *server.Channels
	clients  *server.Clients
	host     *host.Supervisor
	models   *model.Models
	skills   *skill.Library
	answers  *answer.Answers
	copies   skill.Copies
	written  written
	policy   policy.Live
	rules    *engine.Rulebook
	own      *builtin.Builtin
	bundled  string // the folder of the bundled skills; empty without
	hears    *hook.Subscribers
	engine   *engine.Engine
	history  *project.History
	services services
	server   *server.Server

	stop     context.CancelFunc // asks Run to return
	stopping context.Context
	hurry    context.CancelFunc // ends the patience of a stop
	hurried  context.Context

	live      atomic.Pointer[config.Config] // what is in force
	reloading sync.Mutex
	files     *config.Watcher
	reads     reads
	problems  problems
	refused   atomic.Pointer[time.Time] // when the store last stopped taking writes

	parts closers // all that was made but what works for clients, and the server
	work  closers // what works for clients: skills, engine and what tends them
}

// New starts a daemon: it takes the lock, opens the store, starts the plugins
// and makes the engine and the server. A plugin that cannot start is a
// diagnostic, not an error. When New fails, everything it began is undone; the
// end of ctx makes it fail with ErrStopped.
func New(ctx context.Context, opts Options) (d *Daemon, err error) {
	d = &Daemon{started: time.Now(), file: opts.Config, binary: ownBinary(), secrets: &audit.Redactor{}}
	d.stopping, d.stop = context.WithCancel(context.Background())
	d.hurried, d.hurry = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			d.Close()
			d = nil
		}
	}()
	if err := d.configure(opts); err != nil {
		return d, err
	}
	for _, begin := range []func(context.Context) error{d.lock, d.open, d.watchCrash, d.startAudit, d.startPlugins, d.startSkills, d.startEngine, d.startUpkeep, d.followFiles, d.startServer} {
		err := begin(ctx)
		if ctx.Err() != nil {
			d.log.Info("told to stop while starting")
			return d, errors.Join(ErrStopped, err)
		}
		if err != nil {
			d.log.Error("cannot start", "error", err)
			return d, err
		}
	}
	d.log.Info("serving", "version", sdk.Version, "socket", d.paths.Socket, "pid", os.Getpid())
	return d, nil
}

// configure reads the configuration, finds the folders and opens the log.
func (d *Daemon) configure(opts Options) error {
	path, cfg, diags := d.readConfig()
	if cfg == nil {
		return &sdk.Error{Outcome: sdk.Validation, Message: "the configuration cannot be used:\n" + diags.Error(), Cause: diags}
	}
	d.cfg = cfg
	d.live.Store(cfg)
	var err error
	if d.paths, err = findPaths(cfg); err != nil {
		return err
	}
	for _, dir := range []string{d.paths.Data, filepath.Join(d.paths.Data, "runs")} {
		if err := makePrivate(dir); err != nil {
			return err
		}
	}
	if d.log, err = logfile.Open(d.paths.Log, opts.LogLevel, logfile.Settings(cfg.Log), d.secrets.Writer, opts.Stderr); err != nil {
		return err
	}
	d.onClose("log", d.log.Close)
	d.log.Debug("configuration read", "file", path)
	d.say(aboutFiles, diags)
	d.written = written{d.current, config.NewWorkspaces(func(project string, diags config.Diagnostics) { d.say(about("the workspace "+project), diags) })}
	return nil
}

// lock makes this daemon the only one: whoever holds the lock beside the
// socket owns the socket, the store and the containers.
func (d *Daemon) lock(context.Context) error {
	l, err := server.Listen(d.paths.Socket)
	if err != nil {
		return err
	}
	d.listener = l
	d.onClose("socket", l.Close)
	for _, token := range l.Secrets() {
		d.secrets.Add(token)
	}
	return nil
}

func (d *Daemon) open(ctx context.Context) error {
	s, err := store.Open(ctx, d.paths.Store, store.Options{Log: d.log.Named("store"), Clock: time.Now, Alarm: d.refusing, Redact: d.secrets})
	if err != nil {
		return err
	}
	d.store = s
	d.onClose("store", s.Close)
	d.rules = engine.NewRulebook(s, d.log)
	d.policy = policy.Live{Written: d.written.policy, Sandbox: func() sdk.Sandbox { return d.current().Sandbox }, Remembered: d.rules}
	return d.recordSocket()
}

// recordSocket writes down where this daemon listens, for clients whose
// environment leads elsewhere. Whoever has the store open is the one to write.
func (d *Daemon) recordSocket() error {
	record := filepath.Join(d.paths.Data, rpc.RecordName)
	if err := os.WriteFile(record, []byte(d.listener.Path()+"\n"), 0o600); err != nil {
		return fmt.Errorf("write down where the socket is: %w", err)
	}
	d.onClose("record of the socket", func() error { return os.Remove(record) })
	return nil
}

// watchCrash says in the log how the daemon before this one died, if it could
// still tell, and has the runtime write down how this one does. It comes after
// the store, which a second daemon with another socket does not get: nobody
// else uses the file.
func (d *Daemon) watchCrash(context.Context) error {
	path := filepath.Join(d.paths.Data, logfile.CrashName)
	if text := logfile.Crash(path); text != "" {
		d.cfg.LearnSecrets() // nobody has used one yet, and the text may hold any
		d.log.Error("the daemon before this one died by a mistake of its own", "crash", text)
		d.problem(aboutCrash, "the daemon before this one died by a mistake of its own; `bothy logs --level error` has the stack. What it was working on is taken up")
	}
	stop, err := logfile.WatchCrash(path)
	if err != nil {
		d.log.Warn("a crash could not be written down", "file", path, "error", err)
		return nil // a daemon is more than its last words
	}
	d.onClose("crash file", stop)
	return nil
}

// startAudit follows the journal as long as the store is open: it begins behind
// the store and ends after the engine, so that every end is told. What is caught
// up with may hold secrets of plugins that are not started yet.
func (d *Daemon) startAudit(context.Context) error {
	d.cfg.LearnSecrets()
	d.runlogs = audit.Start(audit.Config{
		Store: d.store, Dir: filepath.Join(d.paths.Data, "runs"), Redact: d.secrets.Redact, Log: d.log.Named("runlog"),
	})
	d.onClose("runlogs", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), runlogTime)
		defer cancel()
		return d.runlogs.Close(ctx)
	})
	d.security = audit.KeepSecurity(d.store, d.log.Named("security"))
	d.onClose("security events", d.security.Close)
	return nil
}

func (d *Daemon) startPlugins(ctx context.Context) error {
	d.hooks = hook.New(d.log.Named("hook"))
	d.hears = hook.NewSubscribers(d.hooks, d.described, d.subscribed)
	d.channels, d.clients = server.NewChannels(), server.NewClients()
	d.services = services{new(engine.Services), func(name string) (string, error) { return d.current().Secret(name) }}
	h, err := host.New(host.Config{
		Log:       d.log.Named("host"),
		Libexec:   []string{d.paths.Libexec},
		SocketDir: d.paths.Sockets,
		DataDir:   d.paths.Data,
		Installed: d.paths.Plugins,
		Prefix:    d.paths.Prefix,
		Shim:      filepath.Join(d.paths.Libexec, "bothy-shim"),
		Services:  d.services,
		Lend: func(pid int, instance string, projects []string) (channel.Access, func()) {
			token, end := d.channels.Grant(pid, instance, projects)
			d.secrets.Add(token) // nothing that the daemon writes has the token in it
			return channel.Access{Socket: d.listener.Path(), Token: token, Projects: projects}, end
		},
		Redact:   d.secrets.Add,
		Text:     d.pluginText,
		Diagnose: d.diagnose,
		Mended:   func(x inspect.Diagnostic) { d.problems.mended(x.Diagnostic) },
		Register: d.store.RegisterScheme,
		Refused:  func(instance, detail string) { d.security.Raise(audit.EventRefusedCallback, d.secrets.Redact(detail)) },
		Changed:  d.hears.Update,
	})
	if err != nil {
		return err
	}
	d.host = h
	d.onClose("plugins", func() error {
		ctx, cancel := context.WithTimeout(d.hurried, pluginTime)
		defer cancel()
		h.Stop(ctx)
		return nil
	})
	h.Apply(ctx, inspect.Blocks(d.cfg))
	d.hears.Begin()
	d.models = model.New(d.cfg, plugins{h}, d.secrets)
	return nil
}

func (d *Daemon) startEngine(context.Context) error {
	e, err := newEngine(d, d.hooks)
	if err != nil {
		return err
	}
	d.engine = e
	d.history = &project.History{Store: d.store, Runs: e, Tools: d.host.Tools, May: policy.MayUndo}
	d.work.add("engine", func() error {
		ctx, cancel := context.WithTimeout(d.hurried, d.cfg.Grace+drainTime)
		defer cancel()
		return e.Close(ctx)
	})
	return nil
}

// startUpkeep lets runs that rest expire, by the configuration in force.
func (d *Daemon) startUpkeep(context.Context) error {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { d.engine.Upkeep(ctx, d.keep) })
	d.work.add("upkeep", func() error {
		cancel()
		done.Wait()
		return nil
	})
	return nil
}

func (d *Daemon) keep() engine.Keep {
	const day = 24 * time.Hour
	store := d.current().Store
	return engine.Keep{Sandbox: time.Duration(store.IdleDays) * day, Run: time.Duration(store.RetentionDays) * day}
}

// startServer makes the server, the last of all parts. Nobody is served before Run.
func (d *Daemon) startServer(context.Context) error {
	s, err := server.New(server.Config{
		Engine: engine.Socket{Engine: d.engine}, History: d.history, Store: d.store, Daemon: d, Models: d.models, Skills: d.answers, Policy: d.engine, Audit: audit.Audit{Source: d.store, Security: d.security},
		Configured: d.policy.Configured,
		Log:        d.log.Named("server"), Redact: d.secrets.JSON, Descended: func(pid int) bool { return group.Descends(pid, d.host.Processes()) },
		Clients: d.clients, Channels: d.channels, Within: group.Within,
	})
	if err != nil {
		return err
	}
	d.server = s
	return nil
}

func (d *Daemon) onClose(what string, end func() error) { d.parts.add(what, end) }

// diagnose keeps what is wrong with a plugin for `status`, and logs it.
func (d *Daemon) diagnose(x inspect.Diagnostic) {
	d.problem(x.Diagnostic, d.pluginText(x))
}

// problem keeps and logs what is wrong with something, which is comparable.
func (d *Daemon) problem(about any, text string) {
	text = d.secrets.Redact(text)
	d.log.Warn(text)
	d.problems.add(about, text)
}
