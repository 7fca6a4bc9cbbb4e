package host

import (
	"context"
	"strconv"

	"github.com/bothyd/bothy/sdk"
)

// Replaced says what became of a spec that was to take the place of another.
type Replaced struct {
	// Switched is whether the new spec is in force. When it is not, the plugin
	// that ran before still does, and Diagnostics say why the new one does not.
	Switched    bool
	Diagnostics []Diagnostic
}

// request asks an instance to go on with another spec.
type request struct {
	spec   Spec
	answer chan Replaced // takes one; closed without when a newer request came, or the end
}

func (r *request) settle(a Replaced) {
	if r != nil {
		r.answer <- a
		close(r.answer)
	}
}

func (r *request) drop() {
	if r != nil {
		close(r.answer)
	}
}

// Replace gives the plugin of an instance another spec without losing a call:
// the new process is started and configured while the old one works, calls that
// begin afterwards go to the new one, and the old one ends when its last call
// has. If the new one cannot be had, the old one stays. A plugin that does not
// run begins with the new spec at once. The error is not_found for an unknown
// instance, conflict when a newer spec came meanwhile, aborted when ctx ended:
// the exchange goes on all the same.
func (s *Supervisor) Replace(ctx context.Context, spec Spec) (Replaced, error) {
	i, err := s.instance(spec.Instance)
	if err != nil {
		return Replaced{}, err
	}
	r := &request{spec: spec, answer: make(chan Replaced, 1)}
	i.ask(r)
	select {
	case a, ok := <-r.answer:
		if !ok {
			return Replaced{}, sdk.Errorf(sdk.Conflict, "the plugin %s was given another block, or ended, before this one was tried", spec.Instance)
		}
		return a, nil
	case <-ctx.Done():
		return Replaced{}, gaveUp(ctx)
	}
}

// Remove ends the plugin of an instance. Its tools are gone when Remove
// returns; its process goes when its last call has ended.
func (s *Supervisor) Remove(instance string) error {
	s.mu.Lock()
	i, ok := s.byName[instance]
	if ok {
		delete(s.byName, instance)
		for n, x := range s.order {
			if x == i {
				s.order = append(s.order[:n:n], s.order[n+1:]...)
				break
			}
		}
	}
	s.mu.Unlock()
	if !ok {
		return sdk.Errorf(sdk.NotFound, "no plugin is called %q", instance)
	}
	i.cut()
	i.forget()
	s.changed()
	s.news.spread()
	return nil
}

// Broken reports whether the plugin of an instance was given up: Replace, with
// the same spec too, tries it again.
func (s *Supervisor) Broken(instance string) bool {
	i, err := s.instance(instance)
	if err != nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.state == Broken
}

// Processes are the process ids of all plugins, those that are being started
// and those that only finish their last calls included.
func (s *Supervisor) Processes() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var pids []int
	for l := range s.links {
		if pid, err := strconv.Atoi(l.proc.ID()); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ask hands a request to the instance; an older one that was not begun, or
// whose plugin is just being started, is dropped.
func (i *instance) ask(r *request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended {
		r.drop()
		return
	}
	i.asked.drop()
	i.asked = r
	if i.giveUp != nil {
		i.giveUp()
	}
	select {
	case i.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// next takes the request that waits, nil when there is none.
func (i *instance) next() *request {
	i.mu.Lock()
	defer i.mu.Unlock()
	r := i.asked
	i.asked = nil
	return r
}

func (i *instance) isAsked() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked != nil
}

// attempt is the context of one start: a request ends it.
func (i *instance) attempt(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.giveUp = cancel
	if i.asked != nil {
		cancel()
	}
	return ctx, cancel
}

// leave drops what is still asked for when the instance ends.
func (i *instance) leave(last *request) {
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
func (i *instance) take(spec Spec, was *link) {
	i.mu.Lock()
	i.spec, i.required = spec, spec.Requires
	if was != nil {
		was.replaced = true
	}
	i.mu.Unlock()
	i.s.news.spread()
	i.forget()
}

// swap starts the plugin anew with the spec that is asked for. When it can
// serve, it takes the place of the old link, which finishes its calls and
// ends; when it cannot, the old one stays and nil is returned.
func (i *instance) swap(ctx context.Context, old *link, r *request, generation int) *link {
	fresh, fail := i.open(ctx, r.spec, generation)
	switch {
	case fail == nil:
	case ctx.Err() != nil || i.isAsked():
		r.drop()
		return nil
	default:
		i.log.Warn("the plugin keeps running with its old block", "reason", fail)
		r.settle(Replaced{Diagnostics: fail.diagnostics(r.spec)})
		return nil
	}
	i.take(r.spec, old)
	i.report(fresh.warnings)
	i.become(Ready, fresh, "")
	i.s.wg.Go(func() { i.s.finish(old) })
	r.settle(Replaced{Switched: true, Diagnostics: fresh.warnings})
	return fresh
}

// rest waits until a broken plugin gets another spec; false when ctx ended.
func (i *instance) rest(ctx context.Context) bool {
	for !i.isAsked() {
		select {
		case <-i.wake:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
