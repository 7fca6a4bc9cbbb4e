package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// changes wakes everybody who waits for something to change, after a first notify.
type changes struct{ next atomic.Pointer[chan struct{}] }

// wait returns what closes with the next change. Ask for it, then look.
func (n *changes) wait() <-chan struct{} { return *n.next.Load() }

// notify wakes all who wait.
func (n *changes) notify() {
	next := make(chan struct{})
	if was := n.next.Swap(&next); was != nil {
		close(*was)
	}
}

// unmet is a requirement that keeps a plugin from being configured yet. As an error it
// is what status shows; its detail is what a person can do.
type unmet struct {
	inspect.Fault
	stuck bool // waiting alone does not help
	told  bool // somebody else's diagnostic says so
}

// held is why the instance cannot be configured, where waiting alone does not help; nil
// where it does. It needs i.mu.
func (i *instance) held() error {
	if u, ok := i.problem.(*unmet); ok && u.stuck {
		return u
	}
	return nil
}

// require waits until all that the plugin requires is ready. What cannot come
// by waiting is told once, and waited for all the same: it may be configured
// later. For a plugin that is to take the place of one that serves, it is an
// error instead.
func (i *instance) require(ctx context.Context, l *link, spec inspect.Spec, m *sdk.Manifest) *inspect.Fault {
	names := needed(spec, m)
	if len(names) == 0 {
		return nil
	}
	serves := i.needs(names)
	for {
		changed := i.s.changes.wait()
		u := i.s.firstUnmet(i, names)
		switch {
		case serves && u != nil && u.stuck:
			return &u.Fault
		case !serves:
			i.waitsFor(u)
		}
		if u == nil {
			return nil
		}
		select {
		case <-changed:
		case <-l.alive.Done():
			return &inspect.Fault{Summary: "it ended while it waited for what it requires", Detail: context.Cause(l.alive).Error()}
		case <-ctx.Done():
			return &inspect.Fault{Summary: "its start was given up", Detail: context.Cause(ctx).Error()}
		}
	}
}

// needed are the names that a block requires, then those of the manifest.
func needed(spec inspect.Spec, m *sdk.Manifest) []string {
	names := slices.Clone(spec.Requires)
	if m != nil {
		for _, n := range m.Requires {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// needs keeps what a start waits for, nil when it has failed, for others to find circles in. It reports whether the instance serves meanwhile.
func (i *instance) needs(names []string) (serves bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.required = names
	i.s.changes.notify()
	return i.link != nil
}

// waitsFor makes known what the instance waits for, in the place of what it waited for
// before; nil is nothing.
func (i *instance) waitsFor(u *unmet) {
	was, waited := i.why().(*unmet)
	if u == nil && !waited || u != nil && waited && u.Error() == was.Error() {
		return
	}
	var problem error
	var said []inspect.Diagnostic
	stuck := u != nil && u.stuck
	if u != nil {
		problem = u
	}
	i.setState(Starting, nil, problem)
	if stuck && !u.told {
		said = u.Diagnostics(i.current())
	}
	if stuck || waited && was.stuck {
		i.mend(said)
	}
	if stuck {
		i.begins()
	}
}

// firstUnmet says what an instance lacks first; nil when it can be configured.
func (s *Supervisor) firstUnmet(i *instance, names []string) *unmet {
	if circle := s.graph().path(i.name, i.name); circle != nil {
		all := s.instances()
		first := slices.IndexFunc(all, func(i *instance) bool { return slices.Contains(circle, i.name) }) // it tells of it
		return &unmet{inspect.Fault{
			Summary: "it requires itself in a circle (" + strings.Join(circle, " requires ") + ")",
			Detail:  "None of them can be the first. Take one of these out of its requires.",
		}, true, first < 0 || all[first] != i}
	}
	var waits *unmet
	for _, name := range names {
		u := s.unmet(name)
		if u != nil && (waits == nil || u.stuck && !waits.stuck) {
			waits = u
		}
	}
	return waits
}

// unmet says why one requirement is not met. What waits for its first use is started.
func (s *Supervisor) unmet(name string) *unmet {
	r, _, err := s.demand(s.labelled(name))
	if err != nil {
		return &unmet{inspect.Fault{
			Summary: fmt.Sprintf("it requires %q, which is not there", name),
			Detail:  fmt.Sprintf("Add a plugin block %q, or switch it on; this plugin then goes on by itself.", name),
		}, true, false}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch held := r.held(); {
	case r.state == Ready && r.link.alive.Err() == nil:
		return nil
	case r.state == Broken:
		return &unmet{inspect.Fault{Summary: fmt.Sprintf("it requires %q, which is broken", name), Detail: "Mend that one first: " + reason(r.problem)}, true, false}
	case held != nil:
		return &unmet{inspect.Fault{Summary: "it waits for " + r.name, Detail: held.Error()}, true, true}
	}
	return &unmet{Fault: inspect.Fault{Summary: "it waits for " + r.name, Detail: "that is " + r.state}}
}

// labelled is the label that a requirement means: its name, where a block that is on has that, else
// that of the first block that is on and runs the plugin of that name.
func (s *Supervisor) labelled(name string) string {
	s.applying.Lock()
	defer s.applying.Unlock()
	n := slices.IndexFunc(s.blocks, func(b inspect.Spec) bool { return b.Plugin == name && !b.Off })
	if n < 0 || slices.ContainsFunc(s.blocks, func(b inspect.Spec) bool { return b.Instance == name && !b.Off }) {
		return name
	}
	return s.blocks[n].Instance
}

// graph says what each instance requires, or its start under way.
func (s *Supervisor) graph() graph {
	g := graph{}
	for _, i := range s.instances() {
		i.mu.Lock()
		required := i.required
		if required == nil {
			required = needed(i.spec, i.manifest)
		}
		i.mu.Unlock()
		g[i.name] = nil
		for _, name := range required {
			g[i.name] = append(g[i.name], s.labelled(name))
		}
	}
	return g
}

// afterDependents waits until all have ended that require an instance, so that
// they can use it to the last. It lasts no longer than the stop may.
func (s *Supervisor) afterDependents(i *instance) {
	if s.life.Err() == nil {
		return // it is taken away alone
	}
	for _, name := range s.graph().dependents(i.name) {
		if r, err := s.instance(name); err == nil {
			select {
			case <-r.over:
			case <-s.stopContext().Done():
			}
		}
	}
}

// graph has for each label those that it requires.
type graph map[string][]string

// path is a way from one instance to another along what they require, both
// included; nil when there is none. A way from an instance to itself has at
// least one step.
func (g graph) path(from, to string) []string {
	seen := map[string]bool{}
	var find func(at string) []string
	find = func(at string) []string {
		for _, next := range g[at] {
			if next == to {
				return []string{at, to}
			}
			if !seen[next] {
				seen[next] = true
				if way := find(next); way != nil {
					return append([]string{at}, way...)
				}
			}
		}
		return nil
	}
	return find(from)
}

// dependents are the instances that end before one does: those that require it.
// In a circle nobody is before another.
func (g graph) dependents(of string) []string {
	var list []string
	for _, name := range keys(g) {
		if slices.Contains(g[name], of) && name != of && g.path(of, name) == nil {
			list = append(list, name)
		}
	}
	return list
}
