package host

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// The states of a plugin, as rpc.Plugin has them. A crashed one, and one whose
// start failed, goes through backoff back to starting; a broken one stays so until the
// configuration is read again or the daemon starts anew.
const (
	Starting = "starting"
	Ready    = "ready"
	Draining = "draining"
	Stopped  = "stopped"
	Crashed  = "crashed"
	Backoff  = "backoff"
	Broken   = "broken"
)

// instance is one configured plugin through all its processes. Its goroutine,
// run, is the only one that changes its state.
type instance struct {
	s         *Supervisor
	name      string // the label of the block
	log       hclog.Logger
	cut       context.CancelFunc // ends the instance
	wake      chan struct{}      // filled when something is asked for
	channel   *channelServer     // the last one; used by run alone
	callbacks *callback.Plugin   // what it asks the daemon for

	begun  chan struct{} // closed when the first start is over, well or not
	begins func()        // closes it, once

	said [topics]report

	mu         sync.Mutex
	spec       inspect.Spec       // the one in force
	wanted     string             // the digest of the one that is being tried, or runs
	asked      *request           // the one that is to be, until it is tried
	tried      string             // the file of the last start, as watchedFile tells it
	giveUp     context.CancelFunc // ends the start under way
	ended      bool               // run has returned
	over       chan struct{}      // closed with it
	required   []string           // by the last start, also one under way; nil is what spec and manifest say
	state      string
	link       *link           // while ready or draining
	generation int             // of its settings
	manifest   *sdk.Manifest   // the last one that was known
	tools      []*offered      // those of the manifest
	agents     []sdk.Agent     // those of the manifest that the block takes
	file       *inspect.Binary // that serves, or would; it is closed
	pin        inspect.Pin
	restarts   int
	deaf       string // why the last call of a subscriber had no answer
	problem    error  // why it is not ready; an [Unstartable] where nothing but a change helps
}

func newInstance(s *Supervisor, spec inspect.Spec) *instance {
	log, begun := s.log.Named(spec.Instance), make(chan struct{})
	return &instance{
		s: s, name: spec.Instance, spec: spec, wanted: spec.Digest, log: log, callbacks: s.calls.Plugin(spec.Instance, log), state: Starting,
		begun: begun, begins: sync.OnceFunc(func() { close(begun) }), wake: make(chan struct{}, 1),
		over: make(chan struct{}),
	}
}

// current is the spec in force.
func (i *instance) current() inspect.Spec {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.spec
}

// run starts the plugin, and starts it again when it dies, until ctx ends. What
// is asked for meanwhile takes the place of the spec.
func (i *instance) run(ctx context.Context) {
	var b backoff
	var first *request // whose spec is being tried
	defer func() { i.leave(first) }()
	defer i.begins()
	for generation := 1; ; generation++ {
		if r := i.next(); r != nil {
			b = backoff{}
			if r.answer != nil {
				first.drop()
				first = r
				i.take(r.spec, nil)
			}
		}
		i.setState(Starting, nil, nil)
		spec, began := i.current(), time.Now()
		l, fail := i.open(ctx, spec, generation)
		var next <-chan time.Time
		switch {
		case fail == nil:
			began = time.Now()
			i.mend(l.warnings)
			i.setState(Ready, l, nil)
			i.settle(first, l.replaces(Started))
			l = i.serve(ctx, l, &generation)
			if ctx.Err() != nil {
				first = nil
				i.end(l)
				return
			}
			i.crashed(l)
			next = i.down(&b, nil, time.Since(began))
		case ctx.Err() != nil:
			i.setState(Stopped, nil, nil)
			return
		case i.isAsked():
			continue // the start was given up for it
		default:
			found := fail.Diagnostics(spec)
			i.say(ofStart, found...)
			next = i.down(&b, fail, time.Since(began)) // before who asked for it is told
			i.settle(first, Replaced{How: Started, Generation: generation, Diagnostics: found})
		}
		first = nil
		i.begins()
		if !i.again(ctx, next) {
			return
		}
	}
}

// serve returns the link that served last when it has died or ctx ends. It
// exchanges the link when another spec is asked for.
func (i *instance) serve(ctx context.Context, l *link, generation *int) *link {
	i.begins()
	i.follow(l)
	for {
		select {
		case <-l.alive.Done():
			return l
		case <-ctx.Done():
			return l
		case <-i.wake:
		}
		if l.failing.Load() || l.alive.Err() != nil {
			<-l.alive.Done()
			return l // what is asked for is for the process that comes next
		}
		r := i.next()
		if r == nil {
			continue
		}
		if fresh := i.change(ctx, l, r, generation); fresh != l {
			l = fresh
			i.follow(l)
		}
	}
}

func (i *instance) follow(l *link) {
	l.watch(func(m sdk.Manifest) {
		i.hold(l, &m)
		i.say(ofStart, slices.Concat(l.warnings, i.register(l.alive, i.current(), l.manifest.Load()), untaken(i.current(), l.manifest.Load()))...)
		i.adopt(l)
	})
	i.openChannel(l)
}

func (i *instance) crashed(l *link) {
	cause := context.Cause(l.alive)
	i.setState(Crashed, nil, cause)
	i.log.Error("the plugin crashed", "reason", cause)
	i.s.wg.Go(l.close) // the process is gone; its successor waits for no tidying
}

func (i *instance) end(l *link) {
	i.s.afterDependents(i)
	i.setState(Draining, l, nil)
	letGo := l.release // a block of the same label may come before its last call has ended
	if i.s.life.Err() != nil {
		letGo = nil
	}
	i.s.finish(l, letGo)
	i.setState(Stopped, nil, nil)
}

// found keeps which file would serve, unless one serves already.
func (i *instance) found(b *inspect.Binary) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.link == nil {
		i.file, i.pin = b, b.Pin
	}
}

// setState changes the state and wakes whoever waits for a change. Before a
// plugin is ready, its tools have their names.
func (i *instance) setState(s string, l *link, problem error) {
	if s == Ready {
		i.adopt(l)
	}
	i.mu.Lock()
	i.state, i.link, i.problem = s, l, problem
	if l != nil {
		i.generation = l.settings.Generation
	}
	i.mu.Unlock()
	i.s.changes.notify()
	i.log.Debug("the plugin is "+s, "problem", reason(problem))
	if s == Broken || s == Stopped {
		i.s.changed()
	} else {
		i.s.cfg.Changed()
	}
}

// adopt takes over the manifest of a link, unless another took its place.
func (i *instance) adopt(l *link) {
	i.mu.Lock()
	m := l.manifest.Load()
	took := m != i.manifest && !l.replaced
	if took {
		i.file, i.pin = l.binary, l.pin
		i.agents, _ = i.spec.Taken(m)
		i.manifest, i.tools = m, i.offer(m, i.spec, i.pin != "", l.binary.Digest, slices.Concat(l.foreseen, i.tools)...)
	}
	i.mu.Unlock()
	if took && !l.attached {
		i.s.inspect.Subscribes(i.name, subscribedBy(m))
	}
	i.s.changed()
}

func (i *instance) why() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.problem
}

// reason is an error for people; empty for none.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
