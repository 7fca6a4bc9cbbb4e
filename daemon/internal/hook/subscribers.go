package hook

import (
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// Subscribers keeps plugins subscribed to the hooks that they ask for: from the
// start, when a slow one was described at last, and anew when one asks for others
// or is gone. A Subscriber's hook asks whatever process the plugin has, so that a
// subscription outlives restarts, and a guard whose plugin is down denies.
type Subscribers struct {
	chains *Chains
	known  func() []Subscriber
	report func(name string, err error)

	mu         sync.Mutex
	begun      bool
	subscribed map[string]subscription // by name
	wrong      map[string]bool         // names whose subscriptions are wrong
}

// Subscriber is a plugin that was described.
type Subscriber struct {
	Name string // of its instance
	Hook sdk.Hook
}

// subscription is what a plugin is subscribed to.
type subscription struct {
	hook   sdk.Hook
	to     []sdk.Subscription
	remove func()
}

// NewSubscribers makes one that subscribes nobody before Begin. known are the
// plugins that were described; report is told what is wrong with the subscriptions
// of one each time it is found, and nil when it holds no more.
func NewSubscribers(chains *Chains, known func() []Subscriber, report func(name string, err error)) *Subscribers {
	return &Subscribers{chains: chains, known: known, report: report, subscribed: map[string]subscription{}, wrong: map[string]bool{}}
}

// Begin subscribes what is known when the plugins were started: in the order of
// the configuration, which breaks ties of priority.
func (l *Subscribers) Begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = true
	l.update()
}

// Update follows what became known, or is gone, since. It may be called at any
// time, from any goroutine, and does nothing before Begin.
func (l *Subscribers) Update() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun {
		l.update()
	}
}

func (l *Subscribers) update() {
	there := map[string]bool{}
	for _, x := range l.known() {
		there[x.Name] = true
		was, known := l.subscribed[x.Name]
		to := x.Hook.Subscriptions()
		if known && was.hook == x.Hook && slices.Equal(was.to, to) {
			continue
		}
		remove, err := l.chains.Subscribe(x.Name, x.Hook)
		if err == nil {
			if known {
				was.remove() // only now: a guard that is asked twice does no harm, one that is not asked does
			}
			l.mended(x.Name)
		} else {
			l.wrong[x.Name] = true
			l.report(x.Name, err)
			if known {
				continue // the subscriptions from before stay
			}
			// A guard must not be left out because another name is misspelled.
			wrong := func(s sdk.Subscription) bool { return s.Check() != nil }
			remove = l.chains.subscribe(x.Name, x.Hook, slices.DeleteFunc(slices.Clone(to), wrong))
		}
		l.subscribed[x.Name] = subscription{hook: x.Hook, to: to, remove: remove}
	}
	for name, was := range l.subscribed {
		if !there[name] {
			was.remove()
			delete(l.subscribed, name)
		}
	}
	for name := range l.wrong {
		if !there[name] {
			l.mended(name)
		}
	}
}

func (l *Subscribers) mended(name string) {
	delete(l.wrong, name)
	l.report(name, nil)
}
