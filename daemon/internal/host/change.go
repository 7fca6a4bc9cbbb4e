package host

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// change brings a plugin that serves to the spec of a request, in the way that
// costs least, and returns the link that serves then. A request that nobody waits
// for comes from the watching of its file.
func (i *instance) change(ctx context.Context, l *link, r *request, generation *int) *link {
	if !r.force && sameProcess(l.spec, r.spec) && i.sameFile(l, r.spec) {
		if done := i.adjust(ctx, l, r, generation); done {
			return l
		}
	}
	*generation++
	if fresh := i.swap(ctx, l, r, *generation); fresh != nil {
		return fresh
	}
	return l
}

// sameProcess reports whether two specs need the same process: all that they differ in is
// what Configure hands over, what bothy.lock says, and where the block stands.
func sameProcess(a, b inspect.Spec) bool {
	bare := func(s inspect.Spec) inspect.Spec {
		s.Body, s.Eval, s.Sandbox, s.Locked, s.Digest, s.Lazy, s.Limits.Call = nil, nil, nil, nil, "", false, 0
		s.Source.Filename, s.Source.Start, s.Source.End = "", b.Source.Start, b.Source.Start
		return s
	}
	return reflect.DeepEqual(bare(a), bare(b))
}

// sameFile reports whether a start would run what the link runs. A file that was
// only touched, or written again as it was, is the same.
func (i *instance) sameFile(l *link, spec inspect.Spec) bool {
	i.tries(spec)
	if spec.Foreign != nil {
		return true // its process is there, whatever becomes of files
	}
	b, fail := i.s.inspect.Find(spec)
	if fail != nil {
		return false
	}
	defer b.Close()
	id := b.Identity() // before it is read: it may change meanwhile
	if i.s.inspect.Sum(b) != nil || b.Digest != l.binary.Digest {
		return false
	}
	i.mu.Lock()
	l.identity = id
	i.mu.Unlock()
	return true
}

// adjust hands the settings of a spec to the process that runs, if they are
// others at all. False when it takes another process.
func (i *instance) adjust(ctx context.Context, l *link, r *request, generation *int) (done bool) {
	i.mu.Lock()
	drift := drifts(r.spec, l.binary, *l.said)
	i.mu.Unlock()
	if len(drift) > 0 && !sameLocked(l.spec.Locked, r.spec.Locked) {
		return false
	}
	m := l.manifest.Load()
	settings, fail := i.settings(m, r.spec, l.settings.Generation)
	if fail != nil {
		i.keep(l, r, fail)
		return true
	}
	if bytes.Equal(settings.Config, l.settings.Config) && reflect.DeepEqual(settings.Sandbox, l.settings.Sandbox) {
		i.renew(l, r.spec, nil)
		i.settle(r, l.replaces(Unchanged))
		return true
	}
	if !slices.Contains(m.Features, sdk.FeatureReconfigure) {
		return false
	}
	*generation++
	settings.Generation = *generation
	switch fail := l.configure(ctx, settings); {
	case fail == nil:
		i.renew(l, r.spec, l.manifest.Load())
		i.log.Info("the plugin was given new settings", "generation", settings.Generation)
		i.settle(r, l.replaces(Reconfigured))
	case l.unsure:
		i.log.Warn("the plugin did not take its settings in time, and is started anew", "reason", fail)
		return false
	default:
		i.keep(l, r, fail)
	}
	return true
}

// renew makes a spec the instance's own whose process runs already, and declares m by it,
// nil for what it did before. What was said of the spec before holds no more, but for what
// is true of the process.
func (i *instance) renew(l *link, spec inspect.Spec, m *sdk.Manifest) {
	l.spec = spec
	i.mu.Lock()
	i.spec, i.generation, l.pin = spec, l.settings.Generation, l.binary.PinnedBy(spec)
	i.mu.Unlock()
	i.mend(l.warnings)
	i.hold(l, m) // it may be more than the lock allows
	i.adopt(l)
}

// keep answers that the old one goes on, and why.
func (i *instance) keep(l *link, r *request, fail *inspect.Fault) {
	i.log.Warn("the plugin goes on as it was", "reason", fail)
	if r.answer == nil {
		noted := *fail
		noted.Detail += "\nThe plugin goes on with the file that it was started from."
		i.say(ofFile, noted.Diagnostics(r.spec)...)
	}
	a := l.replaces(Kept)
	a.Diagnostics = fail.Diagnostics(r.spec)
	i.settle(r, a)
}

// replaces is the answer of which the link is the result.
func (l *link) replaces(how string) Replaced {
	return Replaced{How: how, Digest: l.binary.Digest, Generation: l.settings.Generation, Diagnostics: l.warnings}
}

// swap starts the plugin anew with the spec that is asked for. When it can
// serve, it takes the place of the old link, which finishes its calls and
// ends; when it cannot, the old one stays and nil is returned.
func (i *instance) swap(ctx context.Context, old *link, r *request, generation int) *link {
	fresh, fail := i.open(ctx, r.spec, generation)
	if fail == nil {
		if fail = fresh.worse(ctx, old); fail != nil {
			fresh.close()
		}
	}
	if fail != nil && old.unsure && ctx.Err() == nil { // it may have taken the settings that were refused
		old.finish("it did not answer when it was given its settings", false)
	}
	switch {
	case fail == nil:
	case ctx.Err() != nil || i.isAsked():
		r.drop()
		return nil
	case r.answer == nil && fail.Missing: // somebody is about to put another one there
		i.log.Info("the file that the plugin was started from is gone", "path", old.binary.Path)
		return nil
	default:
		i.keep(old, r, fail)
		return nil
	}
	i.take(r.spec, old)
	i.say(ofStart, fresh.warnings...)
	i.setState(Ready, fresh, nil)
	i.s.wg.Go(func() { i.s.finish(old, old.release) })
	i.log.Info("another process of the plugin took over", "pid", fresh.proc.ID(), "generation", generation)
	i.settle(r, fresh.replaces(Swapped))
	return fresh
}

// probing is how long a new process may take to say that it is well.
const probing = 5 * time.Second

// worse is why a link that was configured must not take the place of the old
// one: it does not answer, or says that it cannot work where the old one can.
func (l *link) worse(ctx context.Context, old *link) *inspect.Fault {
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	err := l.base.Health(ctx)
	var own *sdk.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &own):
		return &inspect.Fault{Summary: "it does not answer", Detail: l.mapped(ctx, err).Error()}
	case old.base.Health(ctx) != nil:
		return nil
	}
	return &inspect.Fault{Summary: "it says that it cannot work", Detail: own.Message}
}
