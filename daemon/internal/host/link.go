package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
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
	proc   *process
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
	services      *grpc.Server
	channel       *channel.Client
	channelServer *channelServer         // set when it begins to serve a channel
	detail        atomic.Pointer[string] // what the plugin says of itself; nil is nothing
	at            plugin.Services
	back          *hostServices  // nil when the daemon offers no services
	unwelcome     *inspect.Fault // why what it needs besides cannot be had

	manifest atomic.Pointer[sdk.Manifest]
	calls    inflight
	foreseen []*offered           // its tools before it was configured, compiled
	streams  atomic.Bool          // it serves no call without a stream
	warnings []inspect.Diagnostic // what is to be said once it serves
	binary   *inspect.Binary      // that it was started from; its file is closed
	said     *sdk.Manifest        // what it declares, also beyond what the lock allows; guarded by the instance's mu
	pin      inspect.Pin          // guarded by the instance's mu
	digest   string               // of the binary
	identity string               // of the file that it was started from
	confined string               // what it is held to, for people

	// What it was given last. Only the instance's goroutine uses these.
	spec       inspect.Spec
	settings   sdk.Settings
	generation int
	unsure     bool // it did not say whether it took the last ones

	replaced bool   // guarded by the instance's mu
	gone     func() // called at the end of close

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

// capture is what the daemon dispenses from go-plugin: the connection itself.
type capture struct {
	goplugin.NetRPCUnsupportedPlugin
	conn *grpc.ClientConn
}

func (c *capture) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("the daemon serves no plugin")
}

func (c *capture) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return &capture{conn: conn}, nil
}

// newLink is a link of which nothing but the file is there.
func (i *instance) newLink(spec inspect.Spec, b *inspect.Binary, generation int) *link {
	l := &link{
		cfg: &i.s.cfg, log: i.log, instance: i.name, proc: newProcess(i.log, b, i.s.cfg.limits(spec)),
		binary: b, pin: b.Pin, digest: b.Digest, identity: b.Identity(), spec: spec, generation: generation,
	}
	l.proc.leaves = spec.Granted(sdk.GrantSandbox) // its containers are found again
	l.alive, l.died = context.WithCancelCause(context.Background())
	return l
}

// connect starts the binary and connects to it. The process belongs to the
// link: close ends it, also when connect failed.
func (i *instance) connect(ctx context.Context, spec inspect.Spec, b *inspect.Binary, generation int) (*link, *inspect.Fault) {
	cfg := &i.s.cfg
	walls, err := cfg.confine(spec, b)
	if err != nil {
		return nil, &inspect.Fault{Summary: "it cannot be confined", Detail: err.Error()}
	}
	l := i.newLink(spec, b, generation)
	l.proc.walls, l.proc.meanwhile = walls, func() { i.welcome(l) }
	i.s.has(l)
	l.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: plugin.Protocol, MagicCookieKey: plugin.CookieKey, MagicCookieValue: plugin.CookieValue,
		},
		VersionedPlugins: map[int]goplugin.PluginSet{plugin.Protocol: {plugin.KindPlugin: &capture{}}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			env := l.proc.walls.Environment(inspect.Environment(spec), spec.Env)
			if err := l.proc.prepare(cmd, spec.Args, env, dir); err != nil {
				return nil, err
			}
			return l.proc, nil
		},
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: cfg.SocketDir},
		StartTimeout:     cfg.StartTimeout,
		SkipHostEnv:      true,
		Logger:           l.log,
		SyncStdout:       newPrinted(l.log),
		SyncStderr:       newPrinted(l.log),
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

// handshake starts the process and dials it. go-plugin's own Start cannot be
// cancelled: when ctx ends, the process is killed under it.
func (l *link) handshake(ctx context.Context) *inspect.Fault {
	began := time.Now()
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		failed = l.dial()
	}()
	late := time.NewTimer(l.cfg.StartTimeout + time.Second) // go-plugin's own comes first, but ends with the handshake
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		l.killUntil(done)
		return &inspect.Fault{Summary: "it did not start in time", Detail: "It printed its handshake and then did not answer."}
	case <-ctx.Done():
		l.killUntil(done)
		return &inspect.Fault{Summary: "its start was given up", Detail: context.Cause(ctx).Error()}
	}
	if failed == nil {
		return nil
	}
	if l.proc.ID() == "0" {
		return &inspect.Fault{Summary: "it cannot be started", Detail: failed.Error(), Permanent: true}
	}
	return l.proc.explain(failed, time.Since(began) >= l.cfg.StartTimeout)
}

// killUntil kills the process as soon as there is one, and returns when done is
// closed.
func (l *link) killUntil(done <-chan struct{}) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			l.kill()
		}
	}
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
	raw, err := protocol.Dispense(plugin.KindPlugin)
	if err != nil {
		return err
	}
	l.speak(raw.(*capture).conn) // the set holds nothing else
	return nil
}

// speak makes the calls go over a connection.
func (l *link) speak(conn *grpc.ClientConn) {
	l.conn, l.base, l.tool = conn, plugin.NewClient(conn), tool.NewClient(conn)
	l.provider, l.skill, l.hook = provider.NewClient(conn), skill.NewClient(conn), hook.NewClient(conn)
}

// isPlugin admits the process that was started, at either end of a socket.
func (l *link) isPlugin(p plugin.Peer) error {
	if p.UID != os.Geteuid() {
		return fmt.Errorf("its peer runs as uid %d, the daemon as %d", p.UID, os.Geteuid())
	}
	if have := fmt.Sprint(p.PID); have != l.proc.ID() {
		return fmt.Errorf("its peer is process %s, the plugin is %s", have, l.proc.ID())
	}
	return nil
}

// await ends alive when the process ends.
func (l *link) await() {
	<-l.proc.done
	l.ending.Lock()
	defer l.ending.Unlock()
	if how := l.proc.how(); l.proc.outOfMemory() {
		l.died(sdk.Errorf(sdk.OutOfMemory, "the plugin ran out of memory%s: %s", l.proc.memoryLimit(), how))
	} else {
		l.died(sdk.Errorf(sdk.PluginCrashed, "the plugin crashed: %s", how))
	}
}

// kill ends the process, and reports whether it is gone.
func (l *link) kill() bool {
	if l.attached {
		return true // for the host it is gone
	}
	if err := l.proc.Kill(context.Background()); err != nil {
		l.log.Error("killing the plugin", "error", err)
		return false
	}
	return true
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

// configure offers the services and hands the settings over.
func (l *link) configure(ctx context.Context, s sdk.Settings) *inspect.Fault {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ConfigureTimeout)
	defer cancel()
	m, err := l.base.Configure(ctx, s, l.at)
	if err != nil {
		e := l.mapped(ctx, err)
		refused := sdk.OutcomeOf(e)
		return &inspect.Fault{
			Summary: "it refuses its configuration", Detail: e.Error(),
			Permanent: refused == sdk.Validation || refused == sdk.Unavailable || refused == sdk.Permission,
		}
	}
	l.manifest.Store(&m)
	return nil
}

// serve offers the daemon's services to the plugin, on a socket in the plugin's
// own folder. The kernel has told which process is there, and each request shows the
// token besides.
func (l *link) serve(services *hostServices) error {
	l.at = plugin.Services{Address: l.proc.socketDir + "/host.sock", Token: rand.Text()}
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
	if !l.answersWithin(time.Second / 2) {
		l.log.Warn("the plugin does not answer and is killed")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.cfg.DrainTimeout)
	defer cancel()
	if err := l.base.Drain(ctx); err != nil {
		l.log.Warn("the plugin did not drain", "error", err)
		return
	}
	l.shutdown(time.Second)
}

// shutdown asks go-plugin to end the process, and does not wait for longer.
func (l *link) shutdown(within time.Duration) {
	l.wg.Go(l.tidy) // ends at the latest when the process is killed
	select {
	case <-l.proc.done:
	case <-time.After(within):
	}
}

// close ends the process in any state, then tidies up. It returns when nothing
// of the link is left.
func (l *link) close() {
	l.died(sdk.Errorf(sdk.PluginCrashed, "the plugin was ended"))
	if l.services != nil {
		l.services.Stop()
	}
	if !l.kill() {
		return // nothing that waits for the process would ever return
	}
	if l.gone != nil {
		defer l.gone()
	}
	l.proc.release()
	l.tidy() // the process is gone
	if l.conn != nil {
		_ = l.conn.Close() // go-plugin closed it before
	}
	l.wg.Wait()
	if err := os.RemoveAll(l.proc.socketDir); err != nil {
		l.log.Debug("removing the plugin's sockets", "error", err)
	}
	if err := l.proc.walls.Remove(); err != nil {
		l.log.Debug("removing the plugin's temporary files", "error", err)
	}
}
