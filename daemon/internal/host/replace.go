package host

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/hashicorp/hcl/v2"
)

// How a plugin came to what was asked for. Kept is the only one in which the new spec is
// not in force.
const (
	Unchanged    = "unchanged"    // neither its file nor what it is given is another
	Reconfigured = "reconfigured" // the same process took the new configuration
	Swapped      = "swapped"      // another process took the place of the old one
	Started      = "started"      // there was none
	Kept         = "kept"         // the new one cannot be had, the old one goes on, and Diagnostics say why
)

// Replaced says what became of a spec that was to take the place of another.
type Replaced struct {
	How         string
	Digest      string // of the binary that serves; empty when none does
	Generation  int    // of the settings that are in force
	Diagnostics []inspect.Diagnostic
}

// request asks an instance to go on with another spec, or, without an answer, with
// the one that it has and the file that is there now.
type request struct {
	spec   inspect.Spec
	force  bool          // swap the process though nothing changed
	answer chan Replaced // takes one; closed without when a newer request came, or the end; nil when nobody waits
}

// drop says that a request is not tried any more.
func (r *request) drop() {
	if r != nil && r.answer != nil {
		close(r.answer)
	}
}

// wait returns what a request came to, once. The error is conflict when a newer
// spec came meanwhile, aborted when ctx ended: the exchange goes on all the same. An
// answer that is there is returned, even if ctx has ended.
func (r *request) wait(ctx context.Context) (a Replaced, err error) {
	answered := false
	select {
	case a, answered = <-r.answer:
	case <-ctx.Done():
		select {
		case a, answered = <-r.answer:
		default:
			return a, gaveUp(ctx)
		}
	}
	if !answered {
		return a, sdk.Errorf(sdk.Conflict, "the plugin %s was given another block, or ended, before this one was tried", r.spec.Instance)
	}
	return a, nil
}

// asks has the instance go on with another spec without losing a call, in the way that
// costs least: nothing, a new configuration for the process that runs, or another process,
// which serves the calls that begin when it can; the old one ends with its last. If it
// cannot be had, the old one stays. A plugin that does not run begins with the new spec at
// once. An older request that was not begun, or is just being started, is dropped.
func (i *instance) asks(spec inspect.Spec, force bool) *request {
	r := &request{spec: spec, force: force, answer: make(chan Replaced, 1)}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended {
		r.drop()
		return r
	}
	i.asked.drop()
	i.asked, i.wanted = r, spec.Digest
	if i.giveUp != nil {
		i.giveUp()
	}
	i.awaken()
	return r
}

// settle answers a request, keeps what became of its block, and adds to the answer that
// the plugin goes on with the one before.
func (i *instance) settle(r *request, a Replaced) {
	if r == nil || r.answer == nil {
		return
	}
	i.mu.Lock()
	newer := i.wanted != r.spec.Digest
	if !newer {
		i.wanted = i.spec.Digest // of a block that is not taken, so that the next Apply tries again
	}
	i.mu.Unlock()
	switch {
	case newer || r.spec.Foreign != nil:
	case a.How != Kept:
		i.say(ofBlock)
	default:
		a.Diagnostics = append(slices.Clone(a.Diagnostics), note(hcl.DiagError, "plugin %s keeps running with the block that it had", i.name))
		i.say(ofBlock, a.Diagnostics...)
	}
	r.answer <- a
	close(r.answer)
}

// remove ends the plugin of an instance, if there is one. Its tools are gone when remove
// returns; its process goes when its last call has ended.
func (s *Supervisor) remove(name string) {
	s.mu.Lock()
	i := s.byName[name]
	delete(s.byName, name)
	s.order = slices.DeleteFunc(s.order, func(x *instance) bool { return x == i })
	s.mu.Unlock()
	if i == nil {
		return
	}
	i.cut()
	i.mend(nil)
	i.say(ofBlock)
	s.changed()
	s.changes.notify()
	s.binaries.files.Ask()
}

// Processes are the process ids of all plugins, those that are being started
// and those that only finish their last calls included.
func (s *Supervisor) Processes() []int { return s.processes.PIDs() }

// Owns reports whether a process is a plugin's; see [process.Set.Owns].
func (s *Supervisor) Owns(pid int) bool { return s.processes.Owns(pid) }

func (i *instance) awaken() {
	select {
	case i.wake <- struct{}{}:
	default: // it is awake
	}
}

// next takes the request that waits, nil when there is none.
func (i *instance) next() *request {
	i.mu.Lock()
	defer i.mu.Unlock()
	r := i.asked
	if i.asked = nil; r != nil && r.answer == nil {
		r.spec = i.spec
	}
	return r
}

// isAsked reports whether another spec is asked for, for which a start is given up.
func (i *instance) isAsked() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked != nil && i.asked.answer != nil
}

// attempt is the context of one start: a request ends it.
func (i *instance) attempt(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.giveUp = cancel
	if i.asked != nil && i.asked.answer != nil {
		cancel()
	}
	return ctx, cancel
}

// leave drops what is still asked for when the instance ends, and what it kept if it was lent.
func (i *instance) leave(last *request) {
	aside := ""
	i.s.mu.Lock()
	ends := isLent(i.name) && i.s.life.Err() != nil // as every loan does with the daemon
	if i.s.byName[i.name] == nil || ends {          // its block is gone, and nobody else's files are there
		_ = os.Remove(i.sockets()) // what is left in it stays, as is what is not there
		aside = i.putAside()
	}
	i.s.mu.Unlock()
	if aside != "" {
		if err := os.RemoveAll(aside); err != nil {
			i.log.Warn("what a server that was lent kept could not be removed; the next start of bothyd tries it again", "error", err)
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	close(i.over)
	last.drop()
	i.asked.drop()
	i.asked = nil
}

// take makes another spec the instance's own. was is the link that it has had
// until now, nil when there is none.
func (i *instance) take(spec inspect.Spec, was *link) {
	i.mu.Lock()
	i.spec, i.required = spec, nil
	if was != nil {
		was.replaced = true
	}
	i.mu.Unlock()
	i.s.changes.notify()
	i.mend(nil)
}

// rest waits for the end of a pause, or until the plugin is to have another spec or another
// file; false when ctx ended.
func (i *instance) rest(ctx context.Context, over <-chan time.Time) bool {
	for {
		i.mu.Lock()
		asked := i.asked != nil
		i.mu.Unlock()
		if asked {
			return true
		}
		select {
		case <-over:
			return true
		case <-i.wake:
		case <-ctx.Done():
			return false
		}
	}
}
