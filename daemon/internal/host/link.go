package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/confine"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/process"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/agent"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/provider"
	"github.com/bothyd/bothy/sdk/skill"
	"github.com/bothyd/bothy/sdk/tool"
)

// link is a started plugin with its connection. It is used once: a plugin that
// is started again gets a new one.
type link struct {
	proc   *process.Process
	walls  *confine.Process // nil: none
	client *goplugin.Client
	tidy   func() // go-plugin's Kill, once
	addr   net.Addr
	log    hclog.Logger
	cfg    *Config

	conn          *grpc.ClientConn
	base          *plugin.Client
	tool          *tool.Client
	provider      *provider.Client
	skill         *skill.Client
	hook          *hook.Client
	agent         *agent.Client
	services      *grpc.Server
	channel       *channel.Client
	channelServer *channelServer         // set when it begins to serve a channel
	detail        atomic.Pointer[string] // what the plugin says of itself; nil is nothing
	at            plugin.Services
	back          *callback.Process // nil when the daemon offers no services
	unwelcome     *inspect.Fault    // why what it needs besides cannot be had

	manifest atomic.Pointer[sdk.Manifest]
	calls    inflight
	foreseen []*offered               // its tools before it was configured, compiled
	places   atomic.Pointer[sync.Map] // what it said, with its settings, by preparedPlace
	streams  atomic.Bool              // it serves no call without a stream
	warnings []inspect.Diagnostic     // what is to be said once it serves
	binary   *inspect.Binary          // that it was started from; its file is closed
	said     *sdk.Manifest            // what it declares, also beyond what the lock allows; guarded by the instance's mu
	pin      inspect.Pin              // guarded by the instance's mu
	identity string                   // of the file that it was started from; guarded by the instance's mu
	lacks    []string                 // what it is not held back from in spite of its block, for people

	// What it was given last, or is to be. Only the instance's goroutine uses these.
	spec     inspect.Spec
	settings sdk.Settings
	unsure   bool // it did not say whether it took the last ones

	files    bool // it is granted those of projects: a block that says otherwise gets another process
	replaced bool // guarded by the instance's mu

	// alive ends when the process does, or is about to be killed; its cause
	// says why, as an *sdk.Error with PluginCrashed, or OutOfMemory when it was that.
	alive context.Context
	died  context.CancelCauseFunc
	wg    sync.WaitGroup

	instance string
	attached bool        // somebody else owns the process: it is not judged and never killed
	failing  atomic.Bool // it hangs and is being ended: nobody calls it any more
	ending   sync.Mutex  // held while it is ended, until it is known why
}

// newLink is a link of which nothing but the file is there.
func (i *instance) newLink(spec inspect.Spec, b *inspect.Binary, generation int) *link {
	l := &link{
		cfg: &i.s.cfg, log: i.log, instance: i.name,
		binary: b, pin: b.Pin, identity: b.Identity(), spec: spec, settings: sdk.Settings{Generation: generation},
		files: spec.Granted(sdk.GrantProject) || spec.Granted(sdk.GrantSandbox),
	}
	l.proc = i.s.processes.New(process.Options{
		Log: i.log, File: b.Path, Limits: i.s.cfg.limits(spec), Leaves: spec.Granted(sdk.GrantSandbox), // its containers are found again
	})
	l.places.Store(&sync.Map{})
	l.alive, l.died = context.WithCancelCause(context.Background())
	return l
}

// connect starts the binary and connects to it. The process belongs to the
// link: close ends it, also when connect failed.
func (i *instance) connect(ctx context.Context, spec inspect.Spec, b *inspect.Binary, generation int) (*link, *inspect.Fault) {
	cfg := &i.s.cfg
	walls, lacks, fail := cfg.confine(spec, b)
	if fail != nil {
		return nil, fail
	}
	l := i.newLink(spec, b, generation)
	l.walls, l.lacks, l.proc.Confined = walls, lacks, walls != nil
	l.proc.Begun, l.proc.Meanwhile = walls.Started, func() { i.welcome(l) }
	l.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: plugin.Protocol, MagicCookieKey: plugin.CookieKey, MagicCookieValue: plugin.CookieValue,
		},
		VersionedPlugins: map[int]goplugin.PluginSet{plugin.Protocol: {}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			return l.proc, l.command(cmd, dir)
		},
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: cfg.SocketDir},
		StartTimeout:     cfg.StartTimeout,
		SkipHostEnv:      true,
		Logger:           l.log,
		SyncStdout:       process.NewLines(l.log),
		SyncStderr:       process.NewLines(l.log),
		GRPCDialOptions:  plugin.DialOptions(plugin.PeerCredentials(l.isPlugin, nil)),
	})
	l.tidy = sync.OnceFunc(l.client.Kill)
	if fail := l.handshake(ctx); fail != nil {
		l.close()
		return nil, fail
	}
	l.wg.Go(l.await)
	return l, nil
}

// command makes cmd start the plugin, with no more of an environment than it gets here
// and from go-plugin, which chose dir for its sockets.
func (l *link) command(cmd *exec.Cmd, dir string) error {
	program := l.binary.Program
	cmd.Path, cmd.Args = program, slices.Concat([]string{program}, l.binary.Args, l.spec.Args)
	cmd.Env = append(l.walls.Environment(l.spec.Plugin, l.spec.Granted(sdk.GrantSandbox), l.spec.Env), cmd.Env...)
	cmd.Stdin, cmd.Dir = nil, "/" // the null device
	l.binary.SetUp(cmd)
	l.proc.Take(cmd, dir)
	if l.walls == nil {
		return nil
	}
	return l.walls.Apply(cmd, l.binary.File, dir)
}

// handshake starts the process and dials it. go-plugin's own Start cannot be
// cancelled: when ctx ends, the process is killed under it.
func (l *link) handshake(ctx context.Context) *inspect.Fault {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, l.cfg.StartTimeout+time.Second) // go-plugin's own comes first, but ends with the handshake
	defer cancel()
	dialled := make(chan error, 1)
	go func() { dialled <- l.dial() }()
	select {
	case err := <-dialled:
		switch {
		case err == nil:
			return nil
		case l.proc.PID() == 0:
			return &inspect.Fault{Summary: "it cannot be started", Detail: err.Error(), Permanent: true}
		}
		return l.explain(err, time.Since(began) >= l.cfg.StartTimeout)
	case <-ctx.Done():
		_ = l.proc.Kill(context.Background()) // it is closed below
		if err := <-dialled; err != nil {
			l.log.Debug("a start was given up", "error", err)
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &inspect.Fault{Summary: "it did not start in time", Detail: "It printed its handshake and then did not answer."}
	}
	return &inspect.Fault{Summary: "its start was given up", Detail: context.Cause(ctx).Error()}
}

func (l *link) dial() error {
	addr, err := l.client.Start()
	if err != nil {
		return err
	}
	l.addr = addr
	protocol, err := l.client.Client()
	if err != nil {
		return err
	}
	l.speak(protocol.(*goplugin.GRPCClient).Conn) // no other protocol is allowed
	return nil
}

// speak makes the calls go over a connection.
func (l *link) speak(conn *grpc.ClientConn) {
	l.conn, l.base, l.tool = conn, plugin.NewClient(conn), tool.NewClient(conn)
	l.provider, l.skill, l.hook, l.agent = provider.NewClient(conn), skill.NewClient(conn), hook.NewClient(conn), agent.NewClient(conn)
}

// isPlugin admits the process that was started, at either end of a socket.
func (l *link) isPlugin(p plugin.Peer) error {
	if p.UID != os.Geteuid() {
		return fmt.Errorf("its peer runs as uid %d, the daemon as %d", p.UID, os.Geteuid())
	}
	if own := l.proc.PID(); p.PID != own {
		return fmt.Errorf("its peer is process %d, the plugin is %d", p.PID, own)
	}
	return nil
}

// await ends alive when the process ends.
func (l *link) await() {
	<-l.proc.Done()
	l.ending.Lock()
	defer l.ending.Unlock()
	if how := l.proc.How(); l.proc.OutOfMemory() {
		limit := ""
		if most := l.proc.Limits.Memory; most > 0 {
			limit = fmt.Sprintf(" (limits { memory } is %d MB)", most>>20)
		}
		l.died(sdk.Errorf(sdk.OutOfMemory, "the plugin ran out of memory%s: %s", limit, how))
	} else {
		l.died(sdk.Errorf(sdk.PluginCrashed, "the plugin crashed: %s", how))
	}
}

// describe reads the manifest.
func (l *link) describe(ctx context.Context) *inspect.Fault {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.StartTimeout)
	defer cancel()
	m, err := l.base.Describe(ctx)
	if err != nil {
		e := l.mapped(ctx, err)
		return &inspect.Fault{Summary: "it does not describe itself", Detail: e.Error(), Permanent: sdk.OutcomeOf(e) == sdk.Validation}
	}
	l.manifest.Store(&m)
	return nil
}

// configure hands settings over. A process that refuses others than it has goes on with
// those; of one that does not answer nobody knows which it has.
func (l *link) configure(ctx context.Context, s sdk.Settings) *inspect.Fault {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ConfigureTimeout)
	defer cancel()
	m, err := l.base.Configure(ctx, s, l.at)
	if err == nil {
		l.settings = s
		l.places.Store(&sync.Map{})
		l.manifest.Store(&m)
		return nil
	}
	var own *sdk.Error
	e, summary := l.mapped(ctx, err), "it refuses its configuration"
	if !errors.As(err, &own) || ctx.Err() != nil {
		summary, l.unsure = "it did not take its configuration", l.alive.Err() == nil
	}
	refused := sdk.OutcomeOf(e)
	return &inspect.Fault{
		Summary: summary, Detail: e.Error(),
		Permanent: refused == sdk.Validation || refused == sdk.Unavailable || refused == sdk.Permission,
	}
}

// serve offers the daemon's services to the plugin, on a socket in the plugin's
// own folder. The kernel has told which process is there, and each request shows the
// token besides.
func (l *link) serve(services *callback.Process) error {
	l.at = plugin.Services{Address: l.proc.Dir + "/host.sock", Token: rand.Text()}
	ln, err := net.Listen("unix", l.at.Address)
	if err != nil {
		return fmt.Errorf("offer the daemon's services: %w", err)
	}
	opts := append(plugin.ServerOptions(plugin.PeerCredentials(l.isPlugin, nil)), host.RequireToken(l.at.Token, nil)...)
	l.services = grpc.NewServer(opts...)
	host.Register(l.services, services)
	l.wg.Go(func() {
		if err := l.services.Serve(ln); err != nil {
			l.log.Debug("serving the daemon's services", "error", err)
		}
	})
	return nil
}

// drain lets the plugin finish, as long as it answers at all.
func (l *link) drain(ctx context.Context) {
	if l.attached {
		return // it may be attached again
	}
	brief, done := context.WithTimeout(l.alive, time.Second/2)
	defer done()
	if !l.answers(brief) {
		l.log.Warn("the plugin does not answer and is killed")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.cfg.DrainTimeout)
	defer cancel()
	if err := l.base.Drain(ctx); err != nil {
		l.log.Warn("the plugin did not drain", "error", err)
		return
	}
	l.wg.Go(l.tidy) // asks it to end, and has ended when the process is killed
	select {
	case <-l.proc.Done():
	case <-time.After(time.Second):
	}
}

// close ends the process in any state, then tidies up. It returns when nothing
// of the link is left.
func (l *link) close() {
	l.died(sdk.Errorf(sdk.PluginCrashed, "the plugin was ended"))
	if l.services != nil {
		l.services.Stop()
	}
	if err := l.proc.Close(); err != nil {
		l.log.Error("killing the plugin", "error", err)
		return // nothing that waits for the process would ever return
	}
	l.tidy() // the process is gone
	if l.conn != nil {
		_ = l.conn.Close() // go-plugin closed it before
	}
	l.wg.Wait()
	if err := os.RemoveAll(l.proc.Dir); err != nil {
		l.log.Debug("removing the plugin's sockets", "error", err)
	}
	if err := l.walls.Remove(); err != nil {
		l.log.Debug("removing the plugin's temporary files", "error", err)
	}
}
