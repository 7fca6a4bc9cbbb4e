package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Apply makes the plugins be what the blocks say: what is gone ends, what is new
// starts, what changed is replaced without losing a call, and the rest is left
// alone. A block that is off does not run; a lazy one starts when it is first asked
// for. Of two blocks of one label the first counts. Apply waits for what is new, and then
// for what is replaced, each no longer than Config.Patience: what is slower goes on by
// itself. It returns what went wrong in that time; Config.Diagnose is told all of it.
func (s *Supervisor) Apply(ctx context.Context, blocks []inspect.Spec) []inspect.Diagnostic {
	started, replaced := s.decide(blocks)
	found := s.await(ctx, started)
	bounded, cancel := context.WithTimeout(ctx, s.cfg.Patience) // only now: what starts had its own time
	defer cancel()
	for _, r := range replaced {
		a, err := r.wait(bounded)
		switch {
		case err == nil:
			found = append(found, a.Diagnostics...)
		case bounded.Err() != nil && ctx.Err() == nil:
			found = append(found, note(hcl.DiagWarning, "plugin %s is still being started with its new block; until it is ready the old one works, and `bothy status` shows what went wrong", r.spec.Instance))
		} // else a newer block came, or the end
	}
	return found
}

// note is a diagnostic that has no place in a file.
func note(severity hcl.DiagnosticSeverity, format string, args ...any) inspect.Diagnostic {
	return inspect.Diagnostic{Diagnostic: &hcl.Diagnostic{Severity: severity, Summary: fmt.Sprintf(format, args...)}}
}

// decide puts the blocks in force: it begins what is new, asks for what changed,
// and ends what is gone.
func (s *Supervisor) decide(blocks []inspect.Spec) (started []*instance, replaced []*request) {
	s.applying.Lock()
	defer s.applying.Unlock()
	s.blocks = blocks
	named, kept := map[string]bool{}, map[string]bool{}
	for _, spec := range blocks {
		if named[spec.Instance] {
			continue // the first block of a label counts
		}
		named[spec.Instance] = true
		if spec.Off {
			continue
		}
		i, err := s.instance(spec.Instance)
		switch {
		case err != nil && spec.Lazy:
		case err != nil:
			if i := s.begin(spec); i != nil {
				started = append(started, i)
			}
		case !s.goesOn(i, spec):
			replaced = append(replaced, i.asks(spec, false))
		}
		kept[spec.Instance] = true
	}
	s.inspect.SubscribesNoMore(func(label string) bool { return named[label] })
	for _, i := range s.instances() {
		if !kept[i.name] && !s.added[i.name] {
			s.remove(i.name)
		}
	}
	return started, replaced
}

// goesOn reports whether an instance may go on as it is under a block, which then only
// stands elsewhere. What it lacked when it broke may be there by now.
func (s *Supervisor) goesOn(i *instance, spec inspect.Spec) bool {
	i.mu.Lock()
	switch attached := i.spec.Foreign != nil; {
	case s.added[i.name], i.wanted == spec.Digest && i.spec.Digest != spec.Digest:
		i.mu.Unlock()
		return true // the process of its author was there before the block, or it is being replaced
	case i.wanted != spec.Digest, i.state == Broken, !attached && !sameLocked(i.spec.Locked, spec.Locked):
		i.mu.Unlock()
		return false
	case !attached: // else what the lock says counts again when its author's process is gone
		i.spec = spec
	}
	i.mu.Unlock()
	i.say(ofBlock)
	return true
}

// Forget ends those of the plugins of labels that serve, as if their blocks were gone: no new process
// of theirs is tried beside the old one, which must not go on. The next Apply, or their first use,
// starts them anew. An author's own process is left alone.
func (s *Supervisor) Forget(labels []string) {
	s.applying.Lock()
	defer s.applying.Unlock()
	for _, label := range labels {
		i, err := s.instance(label)
		if err != nil || s.added[label] {
			continue
		}
		if digest, _ := i.serving(); digest != "" {
			s.remove(label)
		}
	}
}

// Ensure starts the plugin of a block that waits for its first use, and returns
// when it is ready, has failed, or is slower than Config.Patience. The error is
// not_found for a label that no block has, validation for a block that is off.
func (s *Supervisor) Ensure(ctx context.Context, instance string) error {
	i, _, err := s.demand(instance)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience)
	defer cancel()
	i.await(ctx)
	return nil
}

// demand is the instance of a label, begun now if its block waits for its first
// use. It waits for nothing.
func (s *Supervisor) demand(label string) (i *instance, fresh bool, err error) {
	s.applying.Lock()
	defer s.applying.Unlock()
	if i, err := s.instance(label); err == nil {
		return i, false, nil
	}
	spec, err := s.block(label)
	if err != nil {
		return nil, false, err
	}
	if i = s.begin(spec); i == nil { // the label is free
		return nil, false, sdk.Errorf(sdk.Unavailable, "the plugin %s is not started: the daemon stops", label)
	}
	return i, true, nil
}

// Gather starts the servers of MCP that an agent may use and that do not run yet, and returns
// when each is ready, has failed, or is slower than Config.ConfigureTimeout. One that failed
// before is tried again, for it may be there by now, and waited for no longer than
// Config.Patience. What went wrong is told as with any plugin.
func (s *Supervisor) Gather(ctx context.Context, agent sdk.Agent) {
	s.applying.Lock()
	blocks := s.blocks
	s.applying.Unlock()
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ConfigureTimeout)
	defer cancel()
	var starting sync.WaitGroup
	for _, spec := range blocks {
		server, is := strings.CutPrefix(spec.Instance, sdk.MCPPrefix)
		if !is || !spec.Lazy || spec.Off || !agent.UsesMCP(server) {
			continue
		}
		i, fresh, err := s.demand(spec.Instance)
		if err != nil {
			continue // the block is gone by now, or the daemon stops
		}
		starting.Go(func() {
			if i.await(ctx); fresh || i.unready() == nil {
				return
			}
			soon, cancel := context.WithTimeout(ctx, s.cfg.Patience)
			defer cancel()
			_, _ = i.asks(spec, false).wait(soon) // what came of it is told of the plugin
		})
	}
	starting.Wait()
}

// block is the enabled block of a label. It needs s.applying.
func (s *Supervisor) block(label string) (inspect.Spec, error) {
	var labels []string
	for _, spec := range s.blocks {
		switch {
		case spec.Instance == label && spec.Off:
			return spec, sdk.Errorf(sdk.Validation, "%s is switched off in the configuration (enabled = false)", label)
		case spec.Instance == label:
			return spec, nil
		}
		labels = append(labels, spec.Instance)
	}
	slices.Sort(labels)
	return inspect.Spec{}, sdk.Errorf(sdk.NotFound, "no plugin and no provider is called %q; there are: %s", label, callback.List(slices.Compact(labels)))
}

// Reload brings one plugin to what its file and its block in force are now, and
// with Force swaps its process though nothing changed. One that is broken, or waits for its
// first use, is started. The error is not_found for a label that no block has, validation
// for a block that is off, conflict when a newer block came meanwhile; aborted when ctx
// ended, and the plugin is reloaded all the same.
func (s *Supervisor) Reload(ctx context.Context, p rpc.PluginReload) (rpc.PluginReloaded, error) {
	s.applying.Lock()
	spec, err := s.block(p.Instance)
	i, missing := s.instance(p.Instance)
	var r *request
	if err == nil && missing == nil {
		r = i.asks(spec, p.Force)
	}
	s.applying.Unlock()
	var a Replaced
	switch {
	case err != nil:
	case r == nil: // it waited for its first use
		if i, _, err = s.demand(p.Instance); err == nil {
			s.await(context.WithoutCancel(ctx), []*instance{i})
			a = Replaced{How: Started, Diagnostics: i.wrong()}
			a.Digest, a.Generation = i.serving()
		}
	default:
		if a, err = r.wait(ctx); err != nil && ctx.Err() != nil {
			err = sdk.Errorf(sdk.Aborted, "nobody waits for the plugin %s any more, which is loaded all the same; `bothy plugins` shows what became of it", p.Instance)
		}
	}
	out := rpc.PluginReloaded{Instance: p.Instance, How: a.How, Digest: a.Digest, Generation: a.Generation}
	for _, d := range a.Diagnostics {
		out.Diagnostics = append(out.Diagnostics, s.Diagnostic(d))
	}
	return out, err
}

// serving says which binary serves now, and with settings of which generation;
// nothing when none does.
func (i *instance) serving() (digest string, generation int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.link == nil {
		return "", 0
	}
	return i.link.binary.Digest, i.generation
}

// Diagnostic is a diagnostic as clients get it.
func (s *Supervisor) Diagnostic(d inspect.Diagnostic) rpc.Diagnostic {
	severity := "error"
	if d.Warning() {
		severity = "warning"
	}
	return rpc.Diagnostic{Severity: severity, Text: s.cfg.Text(d)}
}

// texts writes diagnostics for people.
func (s *Supervisor) texts(found []inspect.Diagnostic) string {
	var out []string
	for _, d := range found {
		out = append(out, s.cfg.Text(d))
	}
	return strings.Join(out, "\n")
}
