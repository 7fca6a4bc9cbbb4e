package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sandbox/toolchain"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/lock"
	"github.com/bothyd/bothy/sdk/protect"
	"github.com/bothyd/bothy/sdk/tool"
)

//go:embed bash.md
var description string

// bash is the plugin. The sandbox is opened when the first prompt comes that may
// lead to a command, by the first call, or when an earlier process left something:
// a daemon of which nothing of it is asked starts no Podman.
type bash struct {
	logger hclog.Logger

	// opening is filled while the sandbox is opened or closed, which takes its
	// time. Who waits for it can give up. mu guards the fields.
	opening  chan struct{}
	mu       sync.Mutex
	settings *sdk.Settings

	protections configured
	manager     *sandbox.Manager
	// problem is why the last attempt to open failed.
	problem error
	// unready is why nothing can be made ready beforehand; a call tries again.
	unready error
	closed  bool
	// told are the runs of which the first result has said what is special: that their
	// commands work on the project itself, or which limits they have.
	told map[string]bool
	jobs jobs
	// printsWithin and endsWithin are the constants of these names, but in tests.
	printsWithin, endsWithin time.Duration
	// changed tells the daemon that the description is another one.
	changed chan struct{}
	// recovery is the work that configure leaves running; it stops waiting for
	// another process when stopping ends.
	recovery sync.WaitGroup
	stopping context.Context
	stop     context.CancelFunc
}

func newBash(logger hclog.Logger) *bash {
	b := &bash{logger: logger, opening: make(chan struct{}, 1), changed: make(chan struct{}, 1), told: make(map[string]bool),
		printsWithin: printsWithin, endsWithin: endsWithin}
	b.stopping, b.stop = context.WithCancel(context.Background())
	return b
}

type arguments struct {
	Command        string  `json:"command" jsonschema:"what bash runs, as in bash -c; it may have several lines"`
	TimeoutSeconds float64 `json:"timeout_seconds,omitempty" jsonschema:"seconds after which the command is killed; the description says how many there are when left out, and at most"`
	Background     bool    `json:"background,omitempty" jsonschema:"run it beside later commands, such as a development server; the description says how"`
	Dir            string  `json:"dir,omitempty" jsonschema:"directory to start in, relative to /workspace or absolute in the container; /workspace when left out"`
}

// toolSet declares the tool with the limits that are configured.
type toolSet struct {
	tool.Set
	b *bash
}

// Tools implements tool.Tools.
func (t toolSet) Tools() []sdk.ToolSpec {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	specs := t.Set.Tools()
	specs[0].Description = describe(t.b.configured())
	return specs
}

func (b *bash) tools() toolSet {
	set := tool.Set{tool.New("bash", strings.TrimSpace(description), sdk.Annotations{Destructive: true}, b.run).
		Commands("command").Body("command").Settled(b.settle).PreparedBy(b.prepare), b.applyTool()}
	return toolSet{b: b, Set: append(append(set, b.jobTools()...), b.testTool())}
}

// configure takes the settings; Podman is looked for later.
func (b *bash) configure(_ context.Context, s sdk.Settings) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	declared := describe(b.configured())
	b.settings, b.unready = &s, nil
	if describe(b.configured()) != declared {
		select {
		case b.changed <- struct{}{}:
		default: // the one before is not sent yet
		}
	}
	left, busy := sandbox.Left(s.SocketDir)
	half := s.Sandbox != nil && sandbox.Unfinished(config(s, &b.protections)) // the machine may have died
	if left || busy || half || len(interrupted(s.DataDir)) > 0 {
		b.recovery.Go(func() { b.recover(s) })
	}
	return nil
}

// config is the sandbox's configuration for settings of the daemon.
func config(s sdk.Settings, protections *configured) sandbox.Config {
	instance := sha256.Sum256([]byte(s.DataDir))
	cfg := sandbox.Config{
		Dir:       s.SocketDir,
		StateDir:  filepath.Join(s.DataDir, "sandbox"),
		Instance:  "bothy-" + hex.EncodeToString(instance[:6]),
		Runner:    filepath.Join(s.Prefix, "libexec", "bothy", "bothy-runner"),
		View:      filepath.Join(s.Prefix, "libexec", "bothy", "bothy-view"),
		Protector: rules(s), Lock: lock.Project,
	}
	ruling := judge{rules: rules(s), configured: protections}
	if x := s.Sandbox; x != nil {
		ruling.undo = x.Undo
		cfg.Socket, cfg.Runtime, cfg.Image = x.Socket, x.Runtime, x.Image
		cfg.Tools = func() toolchain.Found { return tools(x.Path) }
		cfg.Limits = limitsOf(*x)
	}
	cfg.Judge = ruling
	return cfg
}

// rules say what is protected in the projects of this installation.
func rules(s sdk.Settings) protect.Rules {
	return protect.Rules{Bothy: protect.BothyPaths(s.DataDir, s.Prefix)}
}

// open has a manager, opened now if there is none yet. A failure is no verdict
// for ever: the next call tries again.
func (b *bash) open(ctx context.Context) (*sandbox.Manager, error) {
	if err := b.alone(ctx); err != nil {
		return nil, err
	}
	defer func() { <-b.opening }()
	m, settings, err := b.ready()
	if m != nil || err != nil {
		return m, err
	}
	m, err = sandbox.Open(ctx, withIdentity(ctx, config(*settings, &b.protections)), b.logger.Named("sandbox"))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.manager, b.problem = m, err
	return m, err
}

// alone waits until nobody opens or closes the sandbox.
func (b *bash) alone(ctx context.Context) error {
	select {
	case b.opening <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the sandbox: %w", ctx.Err())
	}
}

// ready is the manager, or what it takes to open one.
func (b *bash) ready() (*sandbox.Manager, *sdk.Settings, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, nil, sdk.Errorf(sdk.Unavailable, "the bash plugin is stopping")
	case b.manager != nil:
		return b.manager, nil, nil
	case b.settings == nil:
		return nil, nil, sdk.Errorf(sdk.Unavailable, "the bash plugin was not configured")
	case b.settings.Sandbox == nil:
		return nil, nil, sdk.Errorf(sdk.Permission, `the bash plugin may not use the sandbox: add grants = ["sandbox", "project"] to its block in the configuration`)
	}
	return nil, b.settings, nil
}

// health repeats why the sandbox could not be opened.
func (b *bash) health(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.problem
}

// run is the tool.
func (b *bash) run(ctx context.Context, in arguments, call tool.Call) (sdk.ToolResult, error) {
	command, err := b.command(in, call.Project)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	if in.Background {
		ways, err := ways(in.Command, call.Argv, b.sandbox(call.Project).Shell)
		if err != nil {
			return sdk.ToolResult{}, err
		}
		b.heedNetwork(ctx, call.Run, call.Network)
		command.Argv = ways[len(ways)-1]
		return b.startJob(ctx, in, command, call)
	}
	result, _, err := b.exec(ctx, in.Command, command, call, call.Chunk)
	return result, err
}

// release gives a run up for the process that took this one's place. No call of it is
// under way.
func (b *bash) release(ctx context.Context, run, _ string) error {
	b.protections.forget(run)
	err := b.jobs.lose(ctx, run)
	b.mu.Lock()
	delete(b.told, run)
	m := b.manager
	b.mu.Unlock()
	if m == nil {
		return err
	}
	return errors.Join(err, m.Release(ctx, run))
}

// drain ends the sandbox once no call runs, with all containers and background commands.
func (b *bash) drain(ctx context.Context) error {
	b.stop()
	b.recovery.Wait()
	if err := b.alone(ctx); err != nil {
		return err
	}
	defer func() { <-b.opening }()
	b.mu.Lock()
	m := b.manager
	b.manager, b.closed = nil, true
	b.mu.Unlock()
	if m == nil {
		return nil
	}
	if err := b.jobs.loseAll(ctx); err != nil {
		b.logger.Warn("nobody will tell that background commands were ended", "error", err)
	}
	if err := m.Close(ctx); err != nil {
		return fmt.Errorf("close the sandbox: %w", err)
	}
	return nil
}

// closing bounds the last steps; the SDK ends the process soon after.
const closing = 4 * time.Second

func (b *bash) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	if err := b.drain(ctx); err != nil {
		b.logger.Warn("containers may be left; they end by themselves within a minute", "error", err)
	}
}
