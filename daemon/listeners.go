package daemon

import (
	"slices"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
)

// listeners subscribes plugins to the hooks that they ask for: at the start,
// when a slow one was described at last, and anew when one asks for others or
// is gone. A subscription goes through the host to whatever process the plugin
// has, so it outlives restarts, and a guard whose plugin is down denies.
type listeners struct {
	chains   *hook.Chains
	known    func() []listener // the plugins that were described
	problems *problems
	warn     func(string)

	mu    sync.Mutex
	begun bool
	hear  map[string]heard // by instance
	mute  map[string]bool  // instances whose subscriptions are wrong
}

type listener struct {
	instance string
	hook     sdk.Hook
}

// heard is a plugin that is subscribed.
type heard struct {
	hook   sdk.Hook
	to     []sdk.Subscription
	remove func()
}

// deafness is what problems are about when an instance hears nothing.
type deafness string

func newListeners(chains *hook.Chains, known func() []listener, problems *problems, warn func(string)) *listeners {
	return &listeners{chains: chains, known: known, problems: problems, warn: warn, hear: map[string]heard{}, mute: map[string]bool{}}
}

// begin subscribes what is known when the plugins were started: in the order
// of the configuration, which breaks ties of priority.
func (l *listeners) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = true
	l.subscribe()
}

// update follows what became known, or is gone, since. It may be called at any
// time, from any goroutine, and does nothing before begin.
func (l *listeners) update() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun {
		l.subscribe()
	}
}

func (l *listeners) subscribe() {
	there := map[string]bool{}
	for _, x := range l.known() {
		there[x.instance] = true
		was, known := l.hear[x.instance]
		to := x.hook.Subscriptions()
		if known && was.hook == x.hook && slices.Equal(was.to, to) {
			continue
		}
		remove, err := l.chains.Subscribe(x.instance, x.hook)
		if err != nil {
			l.deaf(x.instance, err)
			if known {
				continue
			}
			if remove, err = l.chains.Subscribe(x.instance, l.rightOf(x.hook)); err != nil {
				continue // it changed its mind meanwhile, and is asked again
			}
			l.hear[x.instance] = heard{hook: x.hook, to: to, remove: remove}
			continue
		}
		if known {
			was.remove() // only now: a guard that is asked twice does no harm, one that is not asked does
		}
		l.hear[x.instance] = heard{hook: x.hook, to: to, remove: remove}
		l.hears(x.instance)
	}
	for instance, was := range l.hear {
		if !there[instance] {
			was.remove()
			delete(l.hear, instance)
		}
	}
	for instance := range l.mute {
		if !there[instance] {
			l.hears(instance)
		}
	}
}

func (l *listeners) hears(instance string) {
	delete(l.mute, instance)
	l.problems.mended(deafness(instance))
}

// right is a hook with those of its subscriptions that can be made.
type right struct {
	sdk.Hook
	subs []sdk.Subscription
}

// Subscriptions implements sdk.Hook.
func (r right) Subscriptions() []sdk.Subscription { return r.subs }

func (l *listeners) rightOf(h sdk.Hook) sdk.Hook {
	wrong := func(s sdk.Subscription) bool { return s.Check() != nil }
	return right{Hook: h, subs: slices.DeleteFunc(slices.Clone(h.Subscriptions()), wrong)}
}

// deaf tells once that a subscription of a plugin is wrong. What it heard before
// it goes on to hear; at first that is what else it asked for, for a guard must
// not be left out because another name is misspelled.
func (l *listeners) deaf(instance string, err error) {
	l.mute[instance] = true
	for _, text := range l.problems.replace(deafness(instance), []string{"plugin " + instance + " does not hear all that it subscribes to: " + err.Error()}) {
		l.warn(text)
	}
}
