package host

import (
	"slices"

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

// say makes diagnostics all that is said of the instance about a topic.
func (i *instance) say(about topic, now ...inspect.Diagnostic) {
	i.telling.Lock()
	defer i.telling.Unlock()
	i.tell(about, now...)
}

// tell is say for who has i.telling. What is new is told, and what holds no more
// taken back.
func (i *instance) tell(about topic, now ...inspect.Diagnostic) {
	i.mu.Lock()
	all, fresh, over := differences(i.said[about], now)
	i.said[about] = all
	i.mu.Unlock()
	for _, d := range over {
		i.s.cfg.Mended(d)
	}
	for _, d := range fresh {
		i.s.cfg.Diagnose(d)
	}
}

// differences tells what is new of diagnostics from what was said before, and what of that
// holds no more. What was said and holds stays as it was said.
func differences(was, now []inspect.Diagnostic) (all, fresh, over []inspect.Diagnostic) {
	for _, d := range now {
		if n := index(was, d); n >= 0 {
			d = was[n]
		} else if index(all, d) < 0 {
			fresh = append(fresh, d)
		}
		if index(all, d) < 0 {
			all = append(all, d)
		}
	}
	for _, d := range was {
		if index(now, d) < 0 {
			over = append(over, d)
		}
	}
	return all, fresh, over
}

func index(all []inspect.Diagnostic, d inspect.Diagnostic) int {
	return slices.IndexFunc(all, func(x inspect.Diagnostic) bool { return x.Summary == d.Summary && x.Detail == d.Detail })
}

// mend makes unsaid what was wrong with the instance, but for what still is of its start.
func (i *instance) mend(still []inspect.Diagnostic) {
	i.say(ofStart, still...)
	i.say(ofFile)
	i.say(ofLock)
}

// wrong is all that is said of the instance itself.
func (i *instance) wrong() []inspect.Diagnostic {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Concat(i.said[ofStart], i.said[ofFile], i.said[ofLock])
}
