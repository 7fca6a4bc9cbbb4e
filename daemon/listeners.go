package daemon

import (
	"sync"

	"github.com/bothyd/bothy/daemon/internal/hook"
	sdkhook "github.com/bothyd/bothy/sdk/hook"
)

// listeners subscribes plugins to the hooks that they ask for, each once: at
// the start, or when a slow one was described at last. A subscription goes
// through the host to whatever process the plugin has, so it outlives restarts,
// and a guard whose plugin is down denies.
type listeners struct {
	chains  *hook.Chains
	known   func() []listener // the plugins that were described
	problem func(string)

	mu    sync.Mutex
	begun bool
	hear  map[string]bool   // by instance
	told  map[string]string // what was said to be wrong, by instance
}

type listener struct {
	instance string
	hook     sdkhook.Hook
}

func newListeners(chains *hook.Chains, known func() []listener, problem func(string)) *listeners {
	return &listeners{chains: chains, known: known, problem: problem, hear: map[string]bool{}, told: map[string]string{}}
}

// begin subscribes what is known when the plugins were started: in the order
// of the configuration, which breaks ties of priority.
func (l *listeners) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = true
	l.subscribe()
}

// update subscribes those that became known since. It may be called at any
// time, from any goroutine, and does nothing before begin.
func (l *listeners) update() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun {
		l.subscribe()
	}
}

func (l *listeners) subscribe() {
	for _, x := range l.known() {
		if l.hear[x.instance] {
			continue
		}
		_, err := l.chains.Subscribe(x.instance, x.hook)
		if err == nil {
			l.hear[x.instance] = true
		} else if text := "plugin " + x.instance + " hears nothing: " + err.Error(); l.told[x.instance] != text {
			l.told[x.instance] = text
			l.problem(text)
		}
	}
}
