package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

// State is where a plugin is in its life.
type State string

// The states of a plugin. A crashed one goes through backoff back to starting;
// a broken one stays so until its configuration changes or the daemon starts
// anew.
const (
	Starting State = "starting"
	Ready    State = "ready"
	Draining State = "draining"
	Stopped  State = "stopped"
	Crashed  State = "crashed"
	Backoff  State = "backoff"
	Broken   State = "broken"
)

// instance is one configured plugin through all its processes. Its goroutine,
// run, is the only one that changes its state.
type instance struct {
	s     *Supervisor
	spec  Spec
	log   hclog.Logger
	limit *lineLimiter // of what it logs through the daemon's services

	settled     chan struct{} // closed when the first start is over, well or not
	settledOnce sync.Once

	mu          sync.Mutex
	state       State
	link        *link // while ready or draining
	changed     chan struct{}
	manifest    *sdk.Manifest // the last one that was known
	tools       []*offered    // those of the manifest
	path        string
	pinned      bool
	restarts    int
	problem     string       // why it is not ready
	refusal     *Unstartable // set when it will not be started again before something is changed
	diagnostics []Diagnostic
	reported    bool // Start has taken the diagnostics; later ones go to Config.Diagnose
	stopping    context.Context
}

func newInstance(s *Supervisor, spec Spec) *instance {
	log := s.log.Named(spec.Instance)
	return &instance{
		s: s, spec: spec, log: log, limit: newLineLimiter(log), state: Starting,
		settled: make(chan struct{}), changed: make(chan struct{}),
	}
}

// run starts the plugin, and starts it again when it dies, until ctx ends.
func (i *instance) run(ctx context.Context) {
	defer i.settle()
	var b backoff
	for generation := 1; ; generation++ {
		i.become(Starting, nil, "")
		began := time.Now()
		l, fail := i.open(ctx, generation)
		if fail == nil {
			began = time.Now()
			i.become(Ready, l, "")
			i.settle()
			i.serve(ctx, l)
			if ctx.Err() != nil {
				i.end(l)
				return
			}
			cause := context.Cause(l.alive)
			i.become(Crashed, nil, cause.Error())
			i.log.Error("the plugin crashed", "reason", cause)
			l.close()
		} else if ctx.Err() != nil {
			i.become(Stopped, nil, "")
			return
		} else {
			i.report(fail.diagnostics(i.spec))
			i.become(Crashed, nil, fail.Error())
			i.settle()
		}
		if fail != nil && fail.permanent {
			i.refuse(fail)
			i.become(Broken, nil, fail.Error())
			return
		}
		wait, broken := b.crashed(time.Now(), time.Since(began))
		if broken {
			i.giveUp()
			return
		}
		if !i.pause(ctx, wait) {
			i.become(Stopped, nil, "")
			return
		}
	}
}

// serve returns when the plugin has died or ctx ends.
func (i *instance) serve(ctx context.Context, l *link) {
	l.watch(func() { i.adopt(l) })
	select {
	case <-l.alive.Done():
	case <-ctx.Done():
	}
}

func (i *instance) end(l *link) {
	i.become(Draining, l, "")
	l.drain(i.stopContext())
	l.close()
	i.become(Stopped, nil, "")
}

// giveUp makes the instance broken after too many crashes.
func (i *instance) giveUp() {
	reason := fmt.Sprintf("it crashed %d times within %v and is not started again: %s", tooMany, window, i.why())
	i.become(Broken, nil, reason)
	i.report([]Diagnostic{diagnose(i.spec, "it is broken", reason)})
}

// refuse keeps why the instance is not started again, for those who call it.
func (i *instance) refuse(fail *startError) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refusal = &Unstartable{Diagnostics: fail.diagnostics(i.spec), why: fail}
}

// pause waits before the next start; false when ctx ended meanwhile.
func (i *instance) pause(ctx context.Context, wait time.Duration) bool {
	i.become(Backoff, nil, i.why())
	i.mu.Lock()
	i.restarts++
	i.mu.Unlock()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// open brings a process to the point where it can be called: found, started,
// described, configured.
func (i *instance) open(ctx context.Context, generation int) (*link, *startError) {
	b, fail := find(i.spec, i.s.cfg.Libexec)
	if fail != nil {
		return nil, fail
	}
	defer b.file.Close()
	i.found(b)
	l, fail := connect(ctx, &i.s.cfg, i.spec, b, i.log)
	if fail != nil {
		return nil, fail
	}
	if fail := i.prepare(ctx, l, b, generation); fail != nil {
		l.close()
		return nil, fail
	}
	return l, nil
}

func (i *instance) prepare(ctx context.Context, l *link, b *binary, generation int) *startError {
	if fail := l.describe(ctx); fail != nil {
		return fail
	}
	m := l.manifest.Load()
	if m.Protocol != 0 && m.Protocol != plugin.Protocol {
		return versionError("manifest's protocol", fmt.Sprint(m.Protocol), fmt.Sprint(plugin.Protocol))
	}
	i.s.remember(b, *m)
	settings, fail := i.settings(m, generation)
	if fail != nil {
		return fail
	}
	if i.s.cfg.Services != nil {
		bc := &backchannel{s: i.s, i: i}
		if err := l.serve(bc.register, bc.admit); err != nil {
			return &startError{summary: "it cannot be offered the daemon's services", detail: err.Error()}
		}
	}
	if fail := l.configure(ctx, settings); fail != nil {
		return fail
	}
	i.wants(m.Grants)
	return nil
}

func (i *instance) settings(m *sdk.Manifest, generation int) (sdk.Settings, *startError) {
	config, secrets, diags := decodeBody(i.spec, m.Config)
	if diags.HasErrors() {
		return sdk.Settings{}, &startError{summary: "its block is wrong", permanent: true, config: diags}
	}
	for _, v := range secrets {
		i.s.cfg.Redact(v)
	}
	sockets := filepath.Join(i.s.cfg.SocketDir, i.spec.Instance)
	if err := os.MkdirAll(sockets, 0o700); err != nil {
		return sdk.Settings{}, &startError{summary: "it has no folder for its sockets", detail: err.Error()}
	}
	s := sdk.Settings{
		Instance: i.spec.Instance, Generation: generation, Config: config,
		DataDir: i.s.cfg.DataDir, SocketDir: sockets, Prefix: i.s.cfg.Prefix,
	}
	if i.spec.granted(sdk.GrantSandbox) {
		s.Sandbox = i.s.cfg.Sandbox
	}
	return s, nil
}

// wants warns about grants that the plugin asks for and does not have.
func (i *instance) wants(grants []string) {
	var lacks []string
	for _, g := range grants {
		if !i.spec.granted(g) {
			lacks = append(lacks, g)
		}
	}
	if len(lacks) > 0 {
		i.report([]Diagnostic{warn(i.spec, "it asks for more than its block grants: "+list(lacks),
			"If you trust it with that, add grants = [\""+strings.Join(lacks, "\", \"")+"\"] to its block.")})
	}
}

func (i *instance) found(b *binary) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.path, i.pinned = filepath.Clean(b.path), b.pinned || b.bundled
}

// become changes the state and wakes whoever waits for a change. Before a
// plugin is ready, its tools have their names.
func (i *instance) become(s State, l *link, problem string) {
	if s == Ready {
		i.adopt(l)
	}
	i.mu.Lock()
	i.state, i.link, i.problem = s, l, problem
	close(i.changed)
	i.changed = make(chan struct{})
	i.mu.Unlock()
	i.log.Debug("the plugin is "+string(s), "problem", problem)
	if s == Broken || s == Stopped {
		i.s.changed()
	} else {
		i.s.cfg.Changed()
	}
}

// adopt takes over the manifest of a link.
func (i *instance) adopt(l *link) {
	m := l.manifest.Load()
	i.mu.Lock()
	if m != i.manifest {
		i.manifest, i.tools = m, i.offer(m, i.pinned)
	}
	i.mu.Unlock()
	i.s.changed()
}

func (i *instance) settle() { i.settledOnce.Do(func() { close(i.settled) }) }

func (i *instance) why() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.problem
}

// report keeps diagnostics for Start, or passes them on when Start is over. The
// same one is told once, however often the plugin is started.
func (i *instance) report(ds []Diagnostic) {
	i.mu.Lock()
	var fresh []Diagnostic
	for _, d := range ds {
		if !i.knows(d) {
			fresh = append(fresh, d)
			i.diagnostics = append(i.diagnostics, d)
		}
	}
	late := i.reported
	i.mu.Unlock()
	for _, d := range fresh {
		if late {
			i.s.cfg.Diagnose(d)
		}
	}
}

func (i *instance) knows(d Diagnostic) bool {
	for _, k := range i.diagnostics {
		if k.Summary == d.Summary && k.Detail == d.Detail {
			return true
		}
	}
	return false
}

func (i *instance) claimDiagnostics() []Diagnostic {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reported = true
	return append([]Diagnostic(nil), i.diagnostics...)
}

// stopWith keeps the context that bounds draining.
func (i *instance) stopWith(ctx context.Context) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopping = ctx
}

func (i *instance) stopContext() context.Context {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopping
}

// ready returns the link of a plugin that can be called. It waits while the
// plugin starts or is about to, and fails at once when it never will be.
func (i *instance) ready(ctx context.Context) (*link, error) {
	patience := time.NewTimer(i.s.cfg.ReadyWait)
	defer patience.Stop()
	for {
		i.mu.Lock()
		state, l, problem, refusal, changed := i.state, i.link, i.problem, i.refusal, i.changed
		i.mu.Unlock()
		switch {
		case state == Ready && l.alive.Err() == nil:
			return l, nil
		case state == Broken && refusal != nil:
			return nil, sdk.Errorf(sdk.Unavailable, "the plugin %s is broken: %w", i.spec.Instance, refusal)
		case state == Broken:
			return nil, sdk.Errorf(sdk.Unavailable, "the plugin %s is broken: %s", i.spec.Instance, problem)
		case state == Stopped || state == Draining:
			return nil, sdk.Errorf(sdk.Unavailable, "the plugin %s is %s", i.spec.Instance, state)
		}
		select {
		case <-changed:
		case <-patience.C:
			return nil, sdk.Errorf(sdk.Unavailable, "the plugin %s is not ready (%s); try again in a moment. %s", i.spec.Instance, state, problem)
		case <-ctx.Done():
			return nil, gaveUp(ctx)
		}
	}
}
