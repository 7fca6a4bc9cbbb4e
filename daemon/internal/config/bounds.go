package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// The blocks within a plugin or provider block that bound it. A block of the
// user's file takes the place of a whole block of the defaults.
type (
	limitsBlock struct {
		Memory *string `hcl:"memory"`
		Files  *int64  `hcl:"files"`
		Call   *string `hcl:"call"`
	}
	quotaBlock struct {
		Calls       *int64 `hcl:"calls"`
		Completions *int64 `hcl:"completions"`
	}
	confineBlock struct {
		Paths      []string `hcl:"paths,optional"`
		ReadPaths  []string `hcl:"read_paths,optional"`
		Network    *bool    `hcl:"network"`
		BestEffort *bool    `hcl:"best_effort"`
	}
)

// bundled is what those plugins that come with Bothy are held to, where a kernel can and
// a block does not say something else. Of the others each says in its manifest why it
// cannot be confined.
var bundled = map[string]Confine{
	"anthropic": {Network: true, BestEffort: true, Bundled: true},
	"openai":    {Network: true, BestEffort: true, Bundled: true},
	"research":  {BestEffort: true, Bundled: true},
}

var schemePattern = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)

// bounds takes over what bounds a plugin, and makes its paths absolute.
func (l *loader) bounds(p *Plugin, b *pluginBlock) {
	if len(b.Limits) > 0 {
		p.Limits.Files = or(b.Limits[0].Files, 0)
		if text := or(b.Limits[0].Memory, ""); text != "" {
			size, err := ParseSize(text)
			if err != nil {
				l.reportAt(p.Range, "Wrong value", "limits: memory: "+err.Error()+".")
			}
			p.Limits.Memory = size
		}
		if text := or(b.Limits[0].Call, ""); text != "" {
			d, err := time.ParseDuration(text)
			if err != nil || d <= 0 || d > sdk.MaxCommandTime {
				l.reportAt(p.Range, "Wrong value", fmt.Sprintf("limits: call is %q; write how long a call may be silent, such as \"30s\" or \"5m\", and at most %v.", text, sdk.MaxCommandTime))
			}
			p.Limits.Call = d
		}
	}
	if len(b.Quota) > 0 {
		p.Quota = Quota{Calls: or(b.Quota[0].Calls, 0), Completions: or(b.Quota[0].Completions, 0)}
	}
	if len(b.Confine) > 0 {
		c := b.Confine[0]
		p.Confine = &Confine{Network: or(c.Network, false), BestEffort: or(c.BestEffort, false)}
		p.Confine.Paths, p.Confine.ReadPaths = l.absolute(p, "confine: paths", c.Paths), l.absolute(p, "confine: read_paths", c.ReadPaths)
	} else if c, ok := bundled[p.Binary]; ok && p.Path == "" {
		p.Confine = &c
	}
	p.Projects = l.absolute(p, "projects", p.Projects)
	for _, s := range p.Schemes {
		if !schemePattern.MatchString(s) {
			l.reportAt(p.Range, "Wrong value", fmt.Sprintf("schemes holds %q: write what stands before :// in a path, such as \"known\".", s))
		}
	}
	for _, r := range p.Requires {
		if r == p.Label {
			l.reportAt(p.Range, "Wrong value", fmt.Sprintf("%s cannot require itself.", p.Label))
		}
	}
}

func (l *loader) absolute(p *Plugin, name string, paths []string) []string {
	var out []string
	for _, path := range paths {
		full := l.path(path)
		if !filepath.IsAbs(full) {
			l.reportAt(p.Range, "Wrong value", fmt.Sprintf("%s holds %q, which is no path.", name, path))
			continue
		}
		out = append(out, full)
	}
	return out
}

// Grants are all that a block may grant.
func Grants() []string { return slices.Clone(knownGrants) }
