package host

import (
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// hold takes what a plugin that runs declares anew, nil for what it declared last, as far
// as the lock allows it. What is new and not in the lock is not offered, which is told once.
func (i *instance) hold(l *link, m *sdk.Manifest) {
	t := &i.said[ofLock]
	t.telling.Lock() // what is told must be what was found last
	defer t.telling.Unlock()
	i.mu.Lock()
	if l.replaced {
		i.mu.Unlock()
		return
	}
	if m != nil {
		l.said = m
	}
	said, spec := *l.said, i.spec
	held := said // another one in any case, so that its tools are offered with the pin of now
	if spec.Locked != nil {
		held = spec.Locked.Hold(said)
	}
	l.manifest.Store(&held)
	i.mu.Unlock()
	var now []inspect.Diagnostic
	if drift := drifts(spec, l.binary, said); len(drift) > 0 {
		now = append(now, spec.Warn("it is not any more what bothy.lock says", fmt.Sprintf(
			"While it ran, it declared something else: %s. What is new is not used. If it is what you want, call %s.", config.Changes(drift), spec.LockVerb())))
	}
	t.say(&i.s.cfg, now...)
	if !l.attached && !isLent(i.name) { // a process that its author runs may be of another file
		i.s.inspect.Remember(l.binary, i.name, said)
	}
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
