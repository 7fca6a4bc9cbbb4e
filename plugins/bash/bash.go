package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sandbox/toolchain"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
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
	// changed tells the daemon that the description is another one.
	changed chan struct{}
	// recovery is the work that configure leaves running; it stops waiting for
	// another process when stopping ends.
	recovery sync.WaitGroup
	stopping context.Context
	stop     context.CancelFunc
}

func newBash(logger hclog.Logger) *bash {
	b := &bash{logger: logger, opening: make(chan struct{}, 1), changed: make(chan struct{}, 1), told: make(map[string]bool)}
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
		Commands("command").Settled(b.settle).PreparedBy(b.prepare), b.applyTool()}
	return toolSet{b: b, Set: append(set, b.jobTools()...)}
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
	ways, err := ways(in.Command, call.Argv, b.sandbox(call.Project).Shell)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	b.heedNetwork(ctx, call.Run, call.Network)
	if in.Background {
		command.Argv = ways[len(ways)-1]
		return b.startJob(ctx, in, command, call)
	}
	manager, err := b.open(ctx)
	if err != nil {
		return sdk.ToolResult{}, classified(err)
	}
	b.protections.heard(call.Invocation)
	out := output{network: call.Network}
	run := b.runSpec(call.Run, call.Project, call.RunDir)
	run.Network, run.Viewed = call.Network, call.View
	command.Call = call.CallID
	sink := func(channel int, data []byte) {
		out.add(channel, data)
		if err := call.Chunk(channel, data); err != nil {
			b.logger.Debug("nobody takes the output any more", "error", err)
		}
	}
	var result sandbox.Result
	for _, command.Argv = range ways {
		result, err = manager.Exec(ctx, run, command, sink)
		if sandbox.Code(err) != sandbox.CodeNotStarted {
			break
		}
	}
	if sandbox.Code(err) == sandbox.CodeNotStarted {
		return answer(notStarted(command.Argv, &out, err), &out), nil
	}
	if sandbox.Code(err) == sandbox.CodeSwapped {
		return swapped(result, err), nil
	}
	if err != nil {
		result.Release() // nothing was applied
		return sdk.ToolResult{}, stopped(err, result)
	}
	return b.changes(b.special(answer(result, &out), call, result.Direct), result, call.Project), nil
}

// special adds to a result that its command worked on the project itself, and why. The
// first of a run says it in words, and the limits that are the run's own.
func (b *bash) special(answer sdk.ToolResult, call tool.Call, reason string) sdk.ToolResult {
	if names := lost(call.RunDir); names != "" {
		answer.Output = joined(answer.Output, "", "", "", fmt.Sprintf(lostNote, names))
	}
	note := b.ownLimits(call.Project)
	if reason != "" {
		answer.Metadata["view"], answer.Metadata["view_reason"] = false, reason
		note = fmt.Sprintf(directNote, reason) + note
	}
	if note == "" {
		return answer
	}
	b.mu.Lock()
	told := b.told[call.Run]
	b.told[call.Run] = true
	b.mu.Unlock()
	if !told {
		answer.Output = joined(answer.Output, "", "", "", note)
	}
	return answer
}

// directNote names what is otherwise for a command that works on the project itself.
const directNote = "[commands of this run work on the project itself, not on a copy: %s. Git repositories (.git) and protected paths that are there are read-only; what a command makes in the place of others is seen by everybody until the command ends, and is removed then]\n"

// changes adds to a result what the command changed, so that it can be taken back.
func (b *bash) changes(answer sdk.ToolResult, r sandbox.Result, project string) sdk.ToolResult {
	b.mu.Lock()
	store := kept.In(b.settings.DataDir)
	answer.Told = r.Viewed || b.configured().For(project).Workspace == sdk.WorkspacePrivate // there it has nothing of the project
	b.mu.Unlock()
	unkept, err := tell(&answer, r.Changes, project, store)
	if err != nil {
		b.logger.Warn("what a command changed cannot be taken back: it could not be kept", "error", err)
		answer.Untold = true
	}
	replaced := slices.ContainsFunc(r.Changes, func(c sandbox.Change) bool { return c.Old != "" })
	if replaced && (err != nil || len(unkept) > 0) {
		answer = b.retain(answer, r, unkept)
	} else {
		r.Release()
	}
	next, err := follow(r.Held)
	if err != nil {
		b.logger.Warn("nobody can be asked about what a command changed", "error", err)
	}
	answer.Follow = next
	return answer
}

// retain leaves the only copy of what a command replaced where it lies, and says where.
func (b *bash) retain(answer sdk.ToolResult, r sandbox.Result, unkept []string) sdk.ToolResult {
	folder, err := r.Retain()
	for _, c := range r.Changes {
		if folder == "" && c.Old != "" {
			folder = filepath.Dir(c.Old)
		}
	}
	b.logger.Warn("what a command replaced is kept nowhere but in the folder of its view, which stays until the run is reset",
		"folder", folder, "files", len(unkept), "first", strings.Join(unkept[:min(len(unkept), 5)], ", "), "error", err)
	answer.Output = joined(answer.Output, "", "", "", fmt.Sprintf(retainNote, folder))
	return answer
}

// retainNote says where the only copy lies of what could not be kept.
const retainNote = "[not all that the command replaced or removed could be kept for undo; what was there before lies in %s until the run is reset]\n"

// stopped is the error of a command that did not come to its end: nothing that it
// changed was applied.
func stopped(err error, r sandbox.Result) error {
	if r.Kept == "" {
		return classified(err)
	}
	return fmt.Errorf("%w; nothing that it had changed was applied, and all of it is kept in %s", classified(err), r.Kept)
}

// classified gives an error of the sandbox the outcome that the daemon knows.
func classified(err error) error {
	outcomes := map[string]sdk.Outcome{
		sandbox.CodeUnavailable: sdk.Unavailable, sandbox.CodeNoView: sdk.Unavailable, sandbox.CodeInvalid: sdk.Validation,
		sandbox.CodeNotStarted: sdk.Validation, sandbox.CodeLost: sdk.Interrupted, sandbox.CodeFailed: sdk.Internal,
	}
	if outcome, ok := outcomes[sandbox.Code(err)]; ok {
		return sdk.Errorf(outcome, "%w", err)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return sdk.Errorf(sdk.Timeout, "the call's time was up before the command had ended; it was killed: %w", err)
	case errors.Is(err, context.Canceled):
		return sdk.Errorf(sdk.Aborted, "the command was stopped before it had ended: %w", err)
	}
	return err
}

// release gives a run up for the process that took this one's place. No call of it is
// under way.
func (b *bash) release(ctx context.Context, run, _ string) error {
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
