package host

import (
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// hold takes what a plugin that runs declares anew, as far as the lock allows it.
// What is new and not in the lock is not offered, which is told once.
func (i *instance) hold(l *link, m sdk.Manifest) {
	t := &i.said[ofLock]
	t.telling.Lock() // what is told must be what was found last
	defer t.telling.Unlock()
	i.mu.Lock()
	if l.replaced {
		i.mu.Unlock()
		return
	}
	l.said = &m
	now := i.holdTo(l, i.spec)
	i.mu.Unlock()
	t.say(&i.s.cfg, now...)
	if !l.attached { // a process that its author runs may be of another file
		i.s.inspect.Remember(l.binary, i.name, m)
	}
}

// holdTo puts in force what the lock of a spec allows of what a link declared,
// and returns what is to be said of the rest. It needs i.mu.
func (i *instance) holdTo(l *link, spec inspect.Spec) []inspect.Diagnostic {
	if spec.Locked == nil {
		l.manifest.Store(l.said)
		return nil
	}
	held := spec.Locked.Hold(*l.said)
	l.manifest.Store(&held)
	drift := drifts(spec, l.binary, *l.said)
	if len(drift) == 0 {
		return nil
	}
	return []inspect.Diagnostic{spec.Warn("it is not any more what bothy.lock says", fmt.Sprintf(
		"While it ran, it declared something else: %s. What is new is not used. If it is what you want, call %s.", config.Changes(drift), spec.LockVerb()))}
}

// refresh tells where the block of an instance stands now, and what bothy.lock
// says of it: all else is as the plugin runs with it. It is false when the lock
// says something else than what runs: that takes a replacement.
func (s *Supervisor) refresh(spec inspect.Spec) bool {
	i, err := s.instance(spec.Instance)
	if err != nil {
		return true
	}
	t := &i.said[ofLock]
	t.telling.Lock()
	defer t.telling.Unlock()
	i.mu.Lock()
	if i.spec.Foreign != nil { // what the lock says counts again when its author's process is gone
		i.mu.Unlock()
		return true
	}
	if sameLocked(i.spec.Locked, spec.Locked) {
		i.spec = spec
		i.mu.Unlock()
		return true
	}
	l := i.link
	if l == nil || l.said == nil || len(drifts(spec, l.binary, *l.said)) > 0 {
		i.mu.Unlock()
		return false
	}
	i.spec, l.pin = spec, l.binary.PinnedBy(spec)
	i.holdTo(l, spec) // there is no drift
	now := *l.manifest.Load()
	l.manifest.Store(&now) // another one, so that its tools are offered with the new pin
	i.mu.Unlock()
	t.say(&i.s.cfg)
	i.adopt(l)
	return true
}

// drifts are the changes from what the lock of a spec says to what a binary
// declares; none where there is no lock.
func drifts(spec inspect.Spec, b *inspect.Binary, m sdk.Manifest) []config.LockChange {
	if spec.Locked == nil {
		return nil
	}
	return spec.Locked.Drift(config.LockOf(m, b.Digest, b.Script))
}

func sameLocked(a, b *config.Locked) bool {
	if a == nil || b == nil {
		return a == b
	}
	return len(a.Diff(*b)) == 0
}

// checkLock refuses what a plugin declares, once it is configured, when the lock
// has it otherwise. Its file is the right one, so that the change comes from its
// configuration, its environment, or from what it read.
func checkLock(spec inspect.Spec, b *inspect.Binary, m sdk.Manifest) *inspect.Fault {
	drift := drifts(spec, b, m)
	if len(drift) == 0 {
		return nil
	}
	return &inspect.Fault{
		Summary: "it is not what bothy.lock says", Permanent: true,
		Detail: fmt.Sprintf("Its file is the same, and it declares something else: %s. If that is what you want, call %s.", config.Changes(drift), spec.LockVerb()),
	}
}
