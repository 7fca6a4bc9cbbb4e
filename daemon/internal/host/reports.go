package host

import (
	"maps"
	"slices"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/inspect"
)

// topic is what diagnostics of an instance are about.
type topic int

const (
	ofStart topic = iota // its start, and how it runs
	ofFile               // the file that is there now, where it goes on with another
	ofLock               // what it declared while it ran
	ofBlock              // a block that is not taken
	topics
)

// report is what was told of something, and holds. Its zero value is nothing.
type report struct {
	telling sync.Mutex // held while something is told, and found to be told; taken before any other

	mu   sync.Mutex // guards what follows; nothing is waited for under it
	list []inspect.Diagnostic
}

// say makes diagnostics all that is told. What is new is told, and what holds no more
// taken back; what was said and holds stays as it was said. It needs t.telling.
func (t *report) say(cfg *Config, now ...inspect.Diagnostic) {
	var all []inspect.Diagnostic
	was := t.holds()
	for _, d := range now {
		if n := index(was, d); n >= 0 {
			d = was[n]
		}
		if index(all, d) < 0 {
			all = append(all, d)
		}
	}
	t.mu.Lock()
	t.list = all
	t.mu.Unlock()
	for _, d := range was {
		if index(all, d) < 0 {
			cfg.Mended(d)
		}
	}
	for _, d := range all {
		if index(was, d) < 0 {
			cfg.Diagnose(d)
		}
	}
}

func index(all []inspect.Diagnostic, d inspect.Diagnostic) int {
	return slices.IndexFunc(all, func(x inspect.Diagnostic) bool { return x.Summary == d.Summary && x.Detail == d.Detail })
}

// holds is what is told now, or is about to be: whoever is told may take long to hear it.
func (t *report) holds() []inspect.Diagnostic {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list
}

// say makes diagnostics all that is told of the instance about a topic.
func (i *instance) say(about topic, now ...inspect.Diagnostic) {
	t := &i.said[about]
	t.telling.Lock()
	defer t.telling.Unlock()
	t.say(&i.s.cfg, now...)
}

// mend makes unsaid what was wrong with the instance, but for what still is of its start.
func (i *instance) mend(still []inspect.Diagnostic) {
	i.say(ofStart, still...)
	i.say(ofFile)
	i.say(ofLock)
}

// wrong is all that is told of the instance itself.
func (i *instance) wrong() []inspect.Diagnostic {
	return slices.Concat(i.said[ofStart].holds(), i.said[ofFile].holds(), i.said[ofLock].holds())
}

// Unstartable is in the chain of an error of a call to a plugin that could not
// be started or configured, and is not tried again before a person has changed
// something. The call never reached it.
type Unstartable struct {
	Text string // for people: what Config.Diagnose was told
	why  *inspect.Fault
}

func (u *Unstartable) Error() string { return u.why.Error() }

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
