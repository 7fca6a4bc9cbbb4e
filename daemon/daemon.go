package daemon

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bothyd/bothy/daemon/internal/agent"
	"github.com/bothyd/bothy/daemon/internal/agent/markdown"
	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/builtin"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/credential"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/folders"
	"github.com/bothyd/bothy/daemon/internal/group"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/known"
	"github.com/bothyd/bothy/daemon/internal/lend"
	"github.com/bothyd/bothy/daemon/internal/logfile"
	"github.com/bothyd/bothy/daemon/internal/model"
	"github.com/bothyd/bothy/daemon/internal/people"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/daemon/internal/rulebook"
	"github.com/bothyd/bothy/daemon/internal/sent"
	"github.com/bothyd/bothy/daemon/internal/server"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/daemon/internal/skill/answer"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// Options are what the command line says.
type Options struct {
	Config   string    // the configuration file; empty is the user's
	LogLevel string    // goes before the configuration's, at a reload too; empty leaves that
	Stderr   io.Writer // gets a copy of the log and the diagnostics; nil is nowhere
}

// Daemon is one running Bothy. It is made by New, which has everything started when it returns, and lives until Run
// returns. It keeps of its parts what the end, a reload and `bothy status` need.
type Daemon struct {
	file    string // the configuration that the command line names; empty is the user's
	paths   Paths
	cfg     *config.Config // what it was started with; see current
	log     *logfile.Log
	loans   lend.Loans      // of front ends
	secrets *audit.Redactor // of the values that people and models must not see
	keys    *credential.Keys
	started time.Time
	binary  binary

	stop     context.CancelFunc // asks Run to return
	stopping context.Context
	hurry    context.CancelFunc // ends the patience of a stop
	hurried  context.Context

	live      atomic.Pointer[config.Config] // what is in force
	reloading sync.Mutex
	ran       *config.Config // what it was started with, as far as that holds; guarded by reloading
	files     *watch.Contents
	reads     sync.Map // the files that the configuration is made of, beside its own
	problems  problems
	refused   atomic.Pointer[time.Time] // when the store last stopped taking writes

	listener   *server.Listener
	store      *store.Store
	runlogs    *audit.Runlogs
	host       hosted
	servers    *known.Servers
	models     *model.Models
	agents     *agent.Library
	agentFiles *markdown.Library
	library    *skill.Library
	bundled    string // the folder of the bundled skills; empty without
	answers    *answer.Answers
	own        *builtin.Builtin
	verbs      *builtin.Verbs
	services   services
	engine     *engine.Engine
	server     *server.Server

	parts closers // all that was made but what works for clients, and the server
	work  closers // what works for clients: skills, engine and what tends them
}

// New starts a daemon: it takes the lock, opens the store, starts the plugins and makes the engine and the server. A
// plugin that cannot start is a diagnostic, not an error. When New fails, everything it began is undone; the end of
// ctx makes it fail with ErrStopped.
func New(ctx context.Context, opts Options) (*Daemon, error) {
	d := &Daemon{started: time.Now(), file: opts.Config, binary: ownBinary(), secrets: &audit.Redactor{}}
	d.keys = newKeys(opts.Config, d.secrets)
	d.stopping, d.stop = context.WithCancel(context.Background())
	d.hurried, d.hurry = context.WithCancel(context.Background())
	err := d.configure(opts)
	if err == nil {
		err = d.make(ctx)
		switch {
		case ctx.Err() != nil:
			d.log.Info("told to stop while starting")
			err = errors.Join(ErrStopped, err)
		case err != nil:
			d.log.Error("cannot start", "error", err)
		}
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	d.log.Info("serving", "version", sdk.Version, "socket", d.paths.Socket, "pid", os.Getpid())
	return d, nil
}

// make makes the parts, each of those that stand above it, and the server last.
// Close ends them.
func (d *Daemon) make(ctx context.Context) (err error) {
	g, err := d.ground(ctx)
	if err != nil {
		return err
	}
	d.servers = d.knownServers()
	if d.host, err = d.startPlugins(ctx, g); err != nil {
		return err
	}
	d.models = model.New(d.cfg, plugins{d.host}, d.secrets, d.gaveWay)
	trust := answer.NewTrust(g.store, d.log.Named("skills"))
	d.library = d.followSkills(trust, g.clients)
	d.agentFiles = markdown.NewLibrary(d.current, markdown.Options{Log: d.log.Named("agents"), Trusted: trust.TrustedAgents})
	d.work.add("agents", d.agentFiles.Close)
	d.agents = agent.NewLibrary(d.current, agent.Sources{Files: d.agentFiles.Definitions, Plugins: d.host.Agents, Skills: answer.Known(d.library)})
	if err := ctx.Err(); err != nil {
		return err // the engine would take up what was left, and be stopped at once
	}
	rules := rulebook.New(g.store, d.log)
	written := written{d.current, d.sayWorkspace}
	tree := project.NewTree(g.store)
	ruling := policy.Live{Written: written.policy, ReadOnly: tree.ReadOnly, Sandbox: func(root string) sdk.Sandbox { return d.current().Sandbox.For(root) }, Remembered: rules, Links: project.Links, Found: written.obeyed, Prepared: d.prepared}
	copies := skill.Copies{Trusted: trust.Trusted, Runs: g.store}
	d.verbs = builtin.NewVerbs(g.store, builtin.Patterns, d.secrets.Redact).With(tree.Under(ruling.MayRead)).Worded(d.host.Projectors).Bounded(func() int { return d.current().Store.KnownTokens })
	d.own = d.ownTools(g.store, copies, rules, ruling.MayRead)
	files := project.InstructionFiles{Folder: d.configFolder, Trusted: trust.Follows}
	history := &project.History{Store: g.store, Data: d.paths.Data, Kept: kept.In(d.paths.Data), Tools: d.host.Tools, May: ruling.MayUndo}
	if d.engine, err = d.startEngine(g, copies, rules, written, ruling, files, tree, history); err != nil {
		return err
	}
	history.Runs = d.engine
	d.answers = d.skillAnswers(trust, files)
	d.startUpkeep(d.engine)
	if err := d.followFiles(); err != nil {
		return err
	}
	d.server, err = server.New(server.Config{
		Engine:     d.engine.Socket(),
		History:    history,
		Packets:    &sent.Reader{Store: g.store, Views: d.viewsBeside(g), Messages: g.hooks.AssemblyUser.Apply},
		Store:      g.store,
		Daemon:     d,
		Models:     &model.Answers{Models: d.models, Load: d.loadWhole, Reload: d.Reload},
		People:     &people.People{Current: d.current, Load: d.loadWhole, Reload: d.Reload},
		Keys:       credential.Answers{Keys: d.keys, Uses: func() map[string][]string { return d.current().KeyUses }, Logins: func() map[string]string { return d.current().Logins() }, Reload: d.reread, Log: d.log.Named("keys")},
		Files:      tree,
		Folders:    folders.Files{Data: d.paths.Data, Quota: func() int64 { return d.current().Sandbox.For("").Quota }},
		Skills:     d.answers,
		Policy:     d.engine.Socket(),
		Configured: ruling.Configured,
		Audit:      audit.Audit{Source: g.store, Security: g.security},
		Log:        d.log.Named("server"),
		Redact:     d.secrets.JSON,
		Descended:  d.host.Owns,
		Clients:    g.clients,
		Hooks:      g.hooks,
		Channels:   g.channels,
		Within:     group.Within,
	})
	return err
}

// diagnose keeps what is wrong with a plugin for `status`, and logs it.
func (d *Daemon) diagnose(x inspect.Diagnostic) {
	mistake := ""
	if x.Block {
		mistake = d.mistake(config.FromHCL(d.current().Files, x.Diagnostic)[0])
	}
	d.problem(problem{x.Diagnostic, d.pluginText(x), mistake})
}

// problem keeps and logs what is wrong with something.
func (d *Daemon) problem(x problem) {
	x.text = d.secrets.Redact(x.text)
	d.log.Warn(x.text)
	d.problems.add(x)
}
