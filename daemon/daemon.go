package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/server"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Options are what the command line says.
type Options struct {
	Config   string    // the configuration file; empty is the user's
	LogLevel string    // empty is "info"
	Stderr   io.Writer // gets a copy of the log and the diagnostics; nil is nowhere
}

// How long a stop may take, part by part. What does not end in time is cut and
// recorded as interrupted.
const (
	drainTime  = 10 * time.Second
	pluginTime = 10 * time.Second
	replyTime  = 2 * time.Second
)

// Daemon is one running Bothy. It is made by New, which has everything started
// when it returns, and lives until Run returns.
type Daemon struct {
	paths   Paths
	cfg     *config.Config
	log     hclog.Logger
	secrets *config.Secrets // the values that people must not see
	started time.Time

	listener *server.Listener
	store    *store.Store
	hooks    *hook.Chains
	host     *host.Supervisor
	plugins  *plugins
	models   *models
	engine   *engine.Engine
	server   *server.Server

	stop     context.CancelFunc // asks Run to return
	stopping context.Context

	mu       sync.Mutex
	problems []string // diagnostics that still hold

	closers []func() // in the order of making; Close runs them backwards
}

// New starts a daemon: it takes the lock, opens the store, starts the plugins
// and makes the engine and the server. A plugin that cannot start is a
// diagnostic, not an error. When New fails, everything it began is undone.
func New(ctx context.Context, opts Options) (d *Daemon, err error) {
	d = &Daemon{started: time.Now(), secrets: &config.Secrets{}}
	d.stopping, d.stop = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			d.Close()
			d = nil
		}
	}()
	if err := d.configure(opts); err != nil {
		return d, err
	}
	for _, begin := range []func(context.Context) error{d.lock, d.open, d.startRunlogs, d.startPlugins, d.startServer, d.startEngine, d.startUpkeep} {
		if err := begin(ctx); err != nil {
			d.log.Error("cannot start", "error", err)
			return d, err
		}
	}
	d.log.Info("serving", "version", sdk.Version, "socket", d.paths.Socket, "pid", os.Getpid())
	return d, nil
}

// configure reads the configuration, finds the folders and opens the log.
func (d *Daemon) configure(opts Options) error {
	path, cfg, diags := LoadConfig(opts.Config, d.secrets)
	if cfg == nil {
		return &sdk.Error{Outcome: sdk.Validation, Message: "the configuration cannot be used:\n" + diags.Error(), Cause: diags}
	}
	d.cfg = cfg
	var err error
	if d.paths, err = findPaths(cfg); err != nil {
		return err
	}
	for _, dir := range []string{d.paths.Data, filepath.Join(d.paths.Data, "runs")} {
		if err := makePrivate(dir); err != nil {
			return err
		}
	}
	level := opts.LogLevel
	if level == "" {
		level = "info"
	}
	log, file, err := openLog(d.paths.Log, level, d.secrets, opts.Stderr)
	if err != nil {
		return err
	}
	d.log = log
	d.onClose("log", file.Close)
	d.log.Debug("configuration read", "file", path)
	for _, x := range diags {
		d.problem(config.Diagnostics{x}.Error())
	}
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
	return nil
}

func (d *Daemon) open(ctx context.Context) error {
	s, err := store.Open(ctx, d.paths.Store, store.Options{Log: d.log.Named("store"), Clock: time.Now})
	if err != nil {
		return err
	}
	d.store = s
	d.onClose("store", s.Close)
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

func (d *Daemon) startPlugins(ctx context.Context) error {
	sandbox := d.cfg.Sandbox
	sandbox.Path = callerPath(os.Getenv("PATH"))
	d.hooks = hook.New(d.log.Named("hook"))
	hears := newListeners(d.hooks, d.described, d.problem)
	h, err := host.New(host.Config{
		Log:       d.log.Named("host"),
		Libexec:   []string{d.paths.Libexec},
		SocketDir: d.paths.Sockets,
		DataDir:   d.paths.Data,
		Prefix:    d.paths.Prefix,
		Sandbox:   &sandbox,
		Services:  &services{d: d},
		Redact:    d.secrets.Add,
		Diagnose:  d.diagnose,
		Changed:   hears.update,
	})
	if err != nil {
		return err
	}
	d.host = h
	d.onClose("plugins", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), pluginTime)
		defer cancel()
		h.Stop(ctx)
		return nil
	})
	d.plugins = newPlugins(d.cfg, h, d.diagnose, d.secrets.Redact)
	d.plugins.start(ctx)
	hears.begin()
	d.models = &models{cfg: d.cfg, host: d.plugins}
	return nil
}

func (d *Daemon) startEngine(context.Context) error {
	e, err := newEngine(d, d.hooks)
	if err != nil {
		return err
	}
	d.engine = e
	d.onClose("engine", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		return e.Close(ctx)
	})
	return nil
}

// startServer makes the server before the engine, so that the engine closes
// first: who follows a run sees how it ended. Nobody is served before Run.
func (d *Daemon) startServer(context.Context) error {
	s, err := server.New(server.Config{
		Engine: relay{d}, Store: reader{d.store}, Daemon: face{d},
		Log: d.log.Named("server"), Descended: d.descended,
	})
	if err != nil {
		return err
	}
	d.server = s
	d.onClose("server", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), replyTime)
		defer cancel()
		s.Close(ctx)
		return nil
	})
	return nil
}

// Run serves until ctx ends, a client asks for a stop, or the socket is lost;
// then it closes everything, in the reverse order of making: the engine drains
// while clients can still see the end of their runs.
func (d *Daemon) Run(ctx context.Context) error {
	defer d.Close()
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(d.listener) }()
	select {
	case <-ctx.Done():
		d.log.Info("stopping: a signal came")
	case <-d.stopping.Done():
		d.log.Info("stopping: a client asked for it")
	case err := <-served:
		if err != nil && !errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("the socket was lost: %w", err)
		}
	}
	return nil
}

// Close ends everything that was started, newest first. It may be called more
// than once.
func (d *Daemon) Close() {
	d.mu.Lock()
	closers := d.closers
	d.closers = nil
	d.mu.Unlock()
	for i := len(closers) - 1; i >= 0; i-- {
		closers[i]()
	}
	d.stop()
}

func (d *Daemon) onClose(what string, end func() error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closers = append(d.closers, func() {
		if err := end(); err != nil {
			d.log.Error("closing", "what", what, "error", err)
		}
	})
}

// diagnose keeps what is wrong with a plugin for `status`, and logs it.
func (d *Daemon) diagnose(x host.Diagnostic) {
	d.problem(config.At(x.Diagnostic, d.cfg.Files).Error())
}

func (d *Daemon) problem(text string) {
	text = d.secrets.Redact(text)
	d.log.Warn(text)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.problems = append(d.problems, text)
}
