package host

import (
	"path"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// mayCall holds a plugin to the tools that its block names. They may be written
// bare or as plugin__tool, whichever of the two the plugin calls them by.
func (b *backchannel) mayCall(name string) error {
	if b.spec.Tools == nil {
		return nil
	}
	o, err := b.s.tools().find(name)
	if err != nil {
		return err
	}
	if fits(b.spec.Tools, o.Name, o.owner.name+"__"+o.remote) {
		return nil
	}
	return sdk.Errorf(sdk.Permission, "the plugin %s may not call %s: the tools in its block are %s", b.i.name, name, list(b.spec.Tools))
}

// mayAsk holds a plugin to the run's own model, and to those that its block
// names. An empty name is the run's own.
func (b *backchannel) mayAsk(c Caller, model string) error {
	if model == "" || model == c.Model || fits(b.spec.Models, model) {
		return nil
	}
	return sdk.Errorf(sdk.Permission, "the plugin %s may ask the run's own model only, which is asked when none is named: to let it ask %s, add models = [%q] to its block", b.i.name, model, model)
}

// fits reports whether a pattern fits one of the names. A star spans slashes,
// so that "*" takes every provider/name.
func fits(patterns []string, names ...string) bool {
	flat := strings.NewReplacer("/", ":")
	for _, p := range patterns {
		for _, n := range names {
			if ok, err := path.Match(flat.Replace(p), flat.Replace(n)); ok && err == nil {
				return true
			}
		}
	}
	return false
}
