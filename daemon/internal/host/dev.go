package host

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Dev lets the process that a plugin's author runs take the place of the instance of that
// name, with the settings of its block, and tells attached when it has. It returns when the
// process has gone, ctx ended or stopping did; the instance then is what its block says
// again. The error is conflict when another process is attached.
func (s *Supervisor) Dev(ctx, stopping context.Context, d rpc.PluginDev, attached func(rpc.PluginAttached)) (rpc.PluginDetached, error) {
	spec, added, err := s.lends(d)
	if err != nil {
		return rpc.PluginDetached{}, err
	}
	gone, found, err := s.attachTo(ctx, spec)
	defer s.detach(stopping, d.Instance)
	if err != nil {
		if len(found) > 0 {
			err = fmt.Errorf("%w: %s", err, s.texts(found))
		}
		return rpc.PluginDetached{}, err
	}
	a := rpc.PluginAttached{Instance: d.Instance, Added: added, Kinds: []string{}, Tools: []string{}, Notes: []string{}}
	for _, x := range found {
		a.Notes = append(a.Notes, s.cfg.Text(x))
	}
	for _, p := range s.Plugins() {
		if p.Instance == d.Instance {
			a.Kinds, a.Tools = append(a.Kinds, p.Kinds...), append(a.Tools, p.Tools...)
		}
	}
	attached(a)
	reason := ""
	select {
	case <-gone:
		reason = "its process has ended, or something took its place"
	case <-ctx.Done():
		reason = "nobody asks for it any more"
	case <-stopping.Done():
		reason = "the daemon stops"
	}
	return rpc.PluginDetached{Instance: d.Instance, Reason: reason}, nil
}

// lends keeps that an author's process is used for an instance, and returns what it
// is started with: the block of that name, if there is one, and nothing that pins a
// file. added is whether there is no such block.
func (s *Supervisor) lends(d rpc.PluginDev) (spec inspect.Spec, added bool, err error) {
	s.applying.Lock()
	defer s.applying.Unlock()
	if _, taken := s.added[d.Instance]; taken {
		return spec, false, sdk.Errorf(sdk.Conflict, "another process is attached as %s: end its `bothy plugins dev` first", d.Instance)
	}
	_, missing := s.instance(d.Instance)
	s.added[d.Instance] = missing != nil
	if spec, err = s.block(d.Instance); err != nil {
		spec, added = inspect.Spec{Instance: d.Instance, Plugin: d.Instance}, true
	}
	spec.SHA256, spec.Locked, spec.Confine = "", nil, nil // its author changes it as they please
	spec.Path, spec.Foreign = d.Path, &inspect.Foreign{Address: d.Address, PID: d.PID}
	return spec, added, nil
}

// attachTo makes a foreign process the one of an instance, in the place of the
// instance's own, or of one that is added for it. It is never pinned. The channel
// closes when the process is not the instance's any more: it has gone, or something
// took its place. The instance does not go on by itself then.
func (s *Supervisor) attachTo(ctx context.Context, spec inspect.Spec) (gone <-chan struct{}, found []inspect.Diagnostic, err error) {
	i := s.begin(spec)
	if i != nil {
		found = s.await(ctx, []*instance{i})
	} else if i, err = s.instance(spec.Instance); err != nil {
		return nil, nil, err
	} else if a, err := i.asks(spec, false).wait(ctx); err != nil {
		return nil, nil, err
	} else {
		found = a.Diagnostics
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if l := i.link; l != nil && l.attached && l.proc.PID() == spec.Foreign.PID {
		return l.alive.Done(), found, nil
	}
	return nil, found, sdk.Errorf(sdk.Unavailable, "the process %d cannot be used as the plugin %s", spec.Foreign.PID, spec.Instance)
}

// detach makes the instance again what its block says now, or removes one that did
// not run before.
func (s *Supervisor) detach(stopping context.Context, instance string) {
	s.applying.Lock()
	added := s.added[instance]
	delete(s.added, instance)
	spec, gone := s.block(instance)
	i, missing := s.instance(instance)
	var r *request
	switch {
	case stopping.Err() != nil || missing != nil:
	case gone != nil || added && spec.Lazy:
		s.remove(instance)
	default:
		r = i.asks(spec, false) // what was asked for before the process came is not tried any more
	}
	s.applying.Unlock()
	if r != nil {
		_, _ = r.wait(stopping) // what it came to is kept; else a newer block came, or the end
	}
}
