package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/credential"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/logfile"
	"github.com/bothyd/bothy/daemon/internal/server"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

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
	d.parts.add("log", d.log.Close)
	d.log.Debug("configuration read", "file", path)
	if err := d.keys.Unasked(); err != nil {
		d.log.Debug("the keyring is not asked for keys", "reason", err)
	}
	d.say(aboutFiles, diags)
	return nil
}

// ground is what the parts that work stand on: the socket, the store, what follows
// the journal, and what is made before the parts that meet in it.
type ground struct {
	listener *server.Listener
	store    *store.Store
	security *audit.Security
	hooks    *hook.Chains
	channels *server.Channels // plugins that are lent the socket; the server lets them in
	clients  *server.Clients  // who is told what no journal holds; the server lets them in
	services services         // what plugins may ask for; the engine answers
}

// ground takes the lock, opens the store and begins to follow the journal.
func (d *Daemon) ground(ctx context.Context) (g ground, err error) {
	if g.listener, err = d.listen(ctx); err != nil {
		return g, err
	}
	if g.store, err = d.openStore(ctx); err != nil {
		return g, err
	}
	if err := d.recordSocket(g.listener); err != nil {
		return g, err
	}
	d.watchCrash()
	g.security = d.followJournal(g.store)
	g.hooks, g.channels, g.clients = hook.New(d.log.Named("hook")), server.NewChannels(), server.NewClients()
	g.services = services{new(engine.Services), func(name string) (string, error) { return d.current().Secret(name) }, credential.Logins{Keys: d.keys}}
	d.listener, d.store, d.services = g.listener, g.store, g.services
	return g, ctx.Err()
}

// listen makes this daemon the only one: whoever holds the lock beside the
// socket owns the socket, the store and the containers.
func (d *Daemon) listen(ctx context.Context) (*server.Listener, error) {
	l, err := server.Listen(d.paths.Socket)
	if err != nil {
		return nil, err
	}
	d.parts.add("socket", l.Close)
	for _, token := range l.Secrets() {
		d.secrets.Add(token)
	}
	if address := d.cfg.Listen.Web; address != "" {
		if err := l.ListenWeb(ctx, address); err != nil { // as little reason to serve nobody as a plugin that is missing
			d.problem(problem{about: aboutWeb, text: fmt.Sprintf("no WebSockets are served at listen.web: %v", err)})
		}
	}
	return l, nil
}

func (d *Daemon) openStore(ctx context.Context) (*store.Store, error) {
	s, err := store.Open(ctx, d.paths.Store, store.Options{Log: d.log.Named("store"), Clock: time.Now, Alarm: d.refusing, Redact: d.secrets})
	if err != nil {
		return nil, err
	}
	d.parts.add("store", s.Close)
	return s, nil
}

// recordSocket writes down where this daemon listens, for clients whose
// environment leads elsewhere. Whoever has the store open is the one to write.
func (d *Daemon) recordSocket(listener *server.Listener) error {
	record := filepath.Join(d.paths.Data, rpc.RecordName)
	if err := os.WriteFile(record, []byte(listener.Path()+"\n"), 0o600); err != nil {
		return fmt.Errorf("write down where the socket is: %w", err)
	}
	d.parts.add("record of the socket", func() error { return os.Remove(record) })
	return nil
}

// watchCrash says in the log how the daemon before this one died, if it could
// still tell, and has the runtime write down how this one does. It comes after
// the store, which a second daemon with another socket does not get: nobody
// else uses the file.
func (d *Daemon) watchCrash() {
	path := filepath.Join(d.paths.Data, logfile.CrashName)
	if text := logfile.Crash(path); text != "" {
		d.cfg.LearnSecrets() // nobody has used one yet, and the text may hold any
		d.log.Error("the daemon before this one died by a mistake of its own", "crash", text)
		d.problem(problem{about: aboutCrash, text: "the daemon before this one died by a mistake of its own; `bothy logs --level error` has the stack. What it was working on is taken up"})
	}
	stop, err := logfile.WatchCrash(path)
	if err != nil {
		d.log.Warn("a crash could not be written down", "file", path, "error", err)
		return // a daemon is more than its last words
	}
	d.parts.add("crash file", stop)
}

// followJournal writes runlogs and security events as long as the store is open: it
// begins behind the store and ends after the engine, so that every end is told. What
// is caught up with may hold secrets of plugins that are not started yet.
func (d *Daemon) followJournal(s *store.Store) *audit.Security {
	d.cfg.LearnSecrets()
	d.runlogs = audit.Start(audit.Config{Store: s, Dir: filepath.Join(d.paths.Data, "runs"), Redact: d.secrets.Redact, Log: d.log.Named("runlog")})
	d.parts.add("runlogs", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), runlogTime)
		defer cancel()
		return d.runlogs.Close(ctx)
	})
	security := audit.KeepSecurity(s, d.log.Named("security"))
	d.parts.add("security events", security.Close)
	return security
}
