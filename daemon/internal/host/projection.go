package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// projecting bounds what a plugin may take, once it is ready, to say what an entry shows: a turn
// waits for it.
const projecting = 2 * time.Second

// Projectors are the schemes of whose entries a plugin says what a model reads, each with a text that is another whenever it may
// say something else: by another block, or another binary. Nil is that there is none. A plugin that crashed is among them; one
// that is broken, or never started, is not.
func (s *Supervisor) Projectors() (all map[string]string) {
	for _, i := range s.instances() {
		schemes, by := i.projects()
		for _, name := range schemes {
			if !s.HasScheme(i.name, name) {
				continue
			}
			if all == nil {
				all = map[string]string{}
			}
			all[name] = by
		}
	}
	return all
}

// projects are the schemes that the plugin projects and whose entries its block lets it read.
func (i *instance) projects() (schemes []string, by string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.gone() || i.manifest == nil || len(i.manifest.Projections) == 0 || !i.spec.Granted(sdk.GrantEntries) || !slices.Contains(i.manifest.Grants, sdk.GrantEntries) {
		return nil, ""
	}
	digest := ""
	if i.file != nil {
		digest = i.file.Digest
	}
	for _, name := range i.manifest.Projections {
		if i.spec.Schemes == nil || slices.Contains(i.spec.Schemes, name) {
			schemes = append(schemes, name)
		}
	}
	return schemes, fmt.Sprintf("%s %s %s", i.name, i.spec.Digest, digest)
}

// Project has the plugin that has an entry's scheme say what a model reads of it. The error is an *sdk.Error: not_found when
// none projects it, timeout when it does not answer in time, as that of a call otherwise.
func (s *Supervisor) Project(ctx context.Context, e sdk.Entry, level sdk.Visibility) (string, error) {
	for _, i := range s.instances() {
		schemes, _ := i.projects()
		if !slices.Contains(schemes, e.Scheme()) || !s.HasScheme(i.name, e.Scheme()) {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, projecting)
		defer cancel()
		l, end, err := i.called(ctx, "", "")
		if err != nil {
			return "", err
		}
		defer end()
		return bound(ctx, l, func(rpc context.Context) (string, error) { return l.base.Project(rpc, e, level) })
	}
	return "", sdk.Errorf(sdk.NotFound, "no plugin says what entries of %s:// show", e.Scheme())
}
