// Package host runs the plugins: it starts their binaries, hands them their
// configuration, passes calls to them and starts them again when they die. A
// plugin that fails is one diagnostic; the others never notice.
//
// A plugin's way through the package: launch.go has package inspect find and verify the
// file, link.go connects to it by package process, instance.go drives the states,
// catalogue.go names the tools. invoke.go, execute.go, complete.go and judge.go carry calls to it,
// package callback answers those that it makes back.
package host

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/process"
	"github.com/bothyd/bothy/sdk"
)

// maxSocketDir is how long the folder of sockets may be: go-plugin adds up to
// 39 bytes, and a socket's path ends at 107.
const maxSocketDir = 60

// socketPrefix begins the names that go-plugin gives the folders of sockets.
const socketPrefix = "plugin-dir"

// Config is what the supervisor needs to know of the daemon.
type Config struct {
	// Config is of the files. Without its Shim no plugin can be confined, and what
	// plugins start may outlive a daemon that is killed. StartTimeout bounds the
	// handshake and the description: 15 s.
	inspect.Config
	SocketDir string            // short and 0700; made when it is missing
	Prefix    string            // the installation
	Services  callback.Services // what plugins may call back; nil offers nothing
	Lend      Lend              // what channels work with; nil opens none

	// The functions must all be there. Text writes a diagnostic for people.
	Text func(inspect.Diagnostic) string
	// Diagnose is told what goes wrong.
	Diagnose func(inspect.Diagnostic)
	// Mended is told that what Diagnose was told holds no
	// more: a plugin serves at last, a block is another one or gone, two names do
	// not clash any longer.
	// It gets the same diagnostic, and must not call the supervisor.
	Mended func(inspect.Diagnostic)
	// Register takes each scheme that a plugin declares for the entries that it
	// writes: before it is configured, and whenever it declares others. An error
	// is told as a warning.
	Register func(ctx context.Context, scheme sdk.Scheme) error
	// Refused is told, not more often than people can read, what a plugin asked for
	// and did not get: it is not granted, or it is more than the plugin's quota.
	Refused func(instance, detail string)
	// Changed is called, from a goroutine of the host's, when the tools or the
	// states may be others than before.
	Changed func()

	// The rest has defaults; zero takes them.
	ConfigureTimeout time.Duration // 30 s
	Patience         time.Duration // how long Apply waits for slow starts and then for slow exchanges, and Ensure for a start: 5 s
	DrainTimeout     time.Duration // 10 s
	DrainLimit       time.Duration // how long a process that was replaced may finish its calls: 10 min
	HealthInterval   time.Duration // 1 s; a plugin that is silent for three is ended
	CancelGrace      time.Duration // how long a cancelled call may take to end: 2 s
	ReadyWait        time.Duration // how long a call waits for a plugin that restarts: 10 s
	Silence          time.Duration // how long a call of a tool or a skill may be silent: 2 min
	StreamIdle       time.Duration // the longest pause within a completion's stream: 60 s
	ChannelDir       string        // in which a channel whose block names no projects has a folder
	ChannelWait      time.Duration // before a channel that ended is opened again: 1 s, and longer each time
	FirstDelta       time.Duration // the longest wait for its first piece: 5 min
	Judging          time.Duration // how long a judgement may take: 5 min
	Memory           int64         // bytes of data a plugin may allocate: 4 GiB; below 0 is no limit
}

func (c *Config) defaults() {
	c.StartTimeout = cmp.Or(c.StartTimeout, 15*time.Second)
	c.Config = c.Config.WithDefaults()
	c.ConfigureTimeout = cmp.Or(c.ConfigureTimeout, 30*time.Second)
	c.Patience = cmp.Or(c.Patience, 5*time.Second)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, 10*time.Second)
	c.DrainLimit = cmp.Or(c.DrainLimit, 10*time.Minute)
	c.HealthInterval = cmp.Or(c.HealthInterval, time.Second)
	c.CancelGrace = cmp.Or(c.CancelGrace, 2*time.Second)
	c.ReadyWait = cmp.Or(c.ReadyWait, 10*time.Second)
	c.Silence = cmp.Or(c.Silence, 2*time.Minute)
	c.StreamIdle = cmp.Or(c.StreamIdle, 60*time.Second)
	c.ChannelWait = cmp.Or(c.ChannelWait, time.Second)
	c.FirstDelta = cmp.Or(c.FirstDelta, 5*time.Minute)
	c.Judging = cmp.Or(c.Judging, 5*time.Minute)
	c.Memory = cmp.Or(c.Memory, 4<<30)
}

// Supervisor runs plugins. Its methods may be called at any time from any
// goroutine; after Stop nothing starts any more.
type Supervisor struct {
	cfg     Config
	inspect *inspect.Inspector
	log     hclog.Logger
	calls   *callback.Calls

	applying sync.Mutex      // held while it is decided what has to run; before mu
	blocks   []inspect.Spec  // the configuration in force; guarded by applying
	added    map[string]bool // labels with an author's process: whether nothing ran there before; guarded by applying

	clashes   report // of the names of tools
	processes *process.Set
	binaries  *binaryWatcher
	watching  sync.Once

	life context.Context // ends when Stop begins
	end  context.CancelFunc
	wg   sync.WaitGroup

	channels    context.Context // ends when no channel is to be open any more
	endChannels context.CancelFunc
	fronts      sync.WaitGroup // of the channels; what is added is added under mu

	mu        sync.Mutex // guards what follows; never held while a plugin is called
	order     []*instance
	byName    map[string]*instance
	catalogue *catalogue
	schemes   map[string]ownedScheme // by name
	changes   changes                // notified whenever an instance comes, goes or changes its state
	stopping  context.Context        // bounds draining, once Stop was called
}

// New makes a supervisor and the folder of its sockets.
func New(cfg Config) (*Supervisor, error) {
	cfg.defaults()
	if err := socketFolder(cfg.SocketDir); err != nil {
		return nil, err
	}
	for what, pattern := range map[string]string{
		"a confined plugin's temporary files":   filepath.Join(cfg.DataDir, confinedDir, "*", "tmp*"),
		"what a server kept that was lent":      filepath.Join(cfg.DataDir, confinedDir, lentFolders),
		"the sockets of a server that was lent": filepath.Join(cfg.SocketDir, lentFolders),
	} {
		if err := clearLeft(what, pattern); err != nil {
			return nil, err
		}
	}
	s := &Supervisor{cfg: cfg, added: map[string]bool{}, schemes: map[string]ownedScheme{}, stopping: context.Background(), log: cfg.Log, byName: map[string]*instance{}, catalogue: newCatalogue(nil)}
	s.changes.notify()
	s.inspect = inspect.New(cfg.Config)
	s.calls = callback.New(callback.Config{Services: cfg.Services, Refused: cfg.Refused, Redact: s.cfg.Redact, Tool: func(name string) (bare, full string, err error) {
		o, err := s.tools().find(name)
		if err != nil {
			return "", "", err
		}
		return o.Name, o.full(), nil
	}})
	s.binaries = newBinaryWatcher(s, nil)
	s.life, s.end = context.WithCancel(context.Background())
	s.channels, s.endChannels = context.WithCancel(context.Background())
	s.processes = process.NewSet(cfg.Shim, cfg.Log)
	return s, nil
}

func socketFolder(dir string) error {
	if len(dir) > maxSocketDir {
		return fmt.Errorf("the folder of plugin sockets, %s, has %d bytes and may have %d: set XDG_RUNTIME_DIR to something shorter", dir, len(dir), maxSocketDir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of plugin sockets: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the folder of plugin sockets: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("the folder of plugin sockets, %s, is open to others (%v): run chmod 700 on it", dir, info.Mode())
	}
	return clearLeft("old plugin sockets", filepath.Join(dir, socketPrefix+"*"))
}

// clearLeft removes what plugins of a killed daemon left behind: all that has a
// name of the pattern.
func clearLeft(what, pattern string) error {
	left, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, l := range left {
		if err := os.RemoveAll(l); err != nil {
			return fmt.Errorf("remove %s: %w", what, err)
		}
	}
	return nil
}

// await waits until each plugin is ready or failed, but not longer than
// Config.Patience: what is slower goes on in the background, and what goes wrong
// with it is told to Config.Diagnose.
func (s *Supervisor) await(ctx context.Context, started []*instance) (found []inspect.Diagnostic) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience)
	defer cancel()
	for _, i := range started {
		i.await(ctx)
	}
	for _, i := range started { // only now: one that failed first may serve by now
		found = append(found, i.wrong()...)
	}
	for _, d := range s.clashes.holds() {
		if slices.ContainsFunc(started, func(i *instance) bool { return i.name == d.Instance }) {
			found = append(found, d)
		}
	}
	return found
}

// await waits until the first start is over, well or not, or ctx ended.
func (i *instance) await(ctx context.Context) {
	select {
	case <-i.begun:
	case <-ctx.Done():
	}
}

// begin lets a plugin run; nil when its label is taken, or the daemon stops. The order
// decides who has the bare name of a tool.
func (s *Supervisor) begin(spec inspect.Spec) *instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName[spec.Instance] != nil || s.life.Err() != nil { // Stop may be waiting for those that run
		return nil
	}
	s.watching.Do(func() { s.wg.Go(func() { s.binaries.files.Run(s.life) }) })
	i := newInstance(s, spec)
	s.byName[spec.Instance] = i
	s.order = append(s.order, i)
	ctx, cut := context.WithCancel(s.life)
	i.cut = cut
	s.wg.Go(func() {
		defer cut()
		i.run(ctx)
	})
	s.catalogue = newCatalogue(s.order) // so that who misses a tool is told of it
	s.changes.notify()
	return i
}

// Stop drains and ends all plugins at the same time. It returns when their
// processes are gone; ctx bounds the draining, and a plugin that hangs costs
// at most two seconds.
func (s *Supervisor) Stop(ctx context.Context) {
	s.mu.Lock()
	s.stopping = ctx
	s.end()
	s.mu.Unlock()
	s.wg.Wait()
	s.endChannels()
	s.processes.Stop()
}

func (s *Supervisor) instance(name string) (*instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.byName[name]; ok {
		return i, nil
	}
	return nil, sdk.Errorf(sdk.NotFound, "no plugin is called %q; there are: %s", name, callback.List(keys(s.byName)))
}

func (s *Supervisor) instances() []*instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order)
}
