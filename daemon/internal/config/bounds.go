package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/sdk"
)

// PluginAttributes are the names of what the host reads of a plugin's or provider's block.
func PluginAttributes() (names []string) {
	schema, _ := gohcl.ImpliedBodySchema(Plugin{})
	for _, a := range schema.Attributes {
		names = append(names, a.Name)
	}
	for _, b := range schema.Blocks {
		names = append(names, b.Type)
	}
	return names
}

// bundled is what those plugins that come with Bothy are held to, where a kernel can and a block does
// not say something else. Of the others each says in its manifest why it cannot be confined.
var bundled = map[string]Confine{
	mcpBinary:   {BestEffort: true, Bundled: true},
	"anthropic": {Network: true, BestEffort: true, Bundled: true},
	"memory":    {BestEffort: true, Bundled: true},
	"openai":    {Network: true, BestEffort: true, Bundled: true},
	"research":  {BestEffort: true, Bundled: true},
	"telegram":  {Network: true, BestEffort: true, Bundled: true},
	"web":       {Network: true, BestEffort: true, Bundled: true},
}

var schemePattern = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)

// bounds takes over what bounds a plugin, and makes its paths absolute.
func (l *loader) bounds(p *Plugin, body *hclsyntax.Body) {
	var err error
	if text := p.Limits.MemoryText; text != "" {
		if p.Limits.Memory, err = ParseSize(text); err != nil {
			l.wrong(inner(body, "limits"), "memory", "limits: memory: %s.", err)
		}
	}
	if text := p.Limits.CallText; text != "" {
		if p.Limits.Call, err = time.ParseDuration(text); err != nil || p.Limits.Call <= 0 || p.Limits.Call > sdk.MaxCommandTime {
			l.wrong(inner(body, "limits"), "call", "limits: call is %q; write how long a call may be silent, such as \"30s\" or \"5m\", and at most %v.", text, sdk.MaxCommandTime)
		}
	}
	if c := p.Confine; c != nil {
		block := inner(body, "confine")
		c.Paths, c.ReadPaths = l.absolute(block, "paths", c.Paths), l.absolute(block, "read_paths", c.ReadPaths)
		if p.Server != nil && !p.Confined {
			l.wrong(body, "confined", "confined = false opens all, and the confine block beside it would hold to nothing: write one of the two.")
		}
	} else if c, ok := bundled[p.Binary]; ok && p.Path == "" && p.Confined {
		c.Network = c.Network || p.Binary == mcpBinary && l.says(body, "url")
		p.Confine = &c
	}
	p.Projects = l.absolute(body, "projects", p.Projects)
	for _, s := range p.Schemes {
		if !schemePattern.MatchString(s) {
			l.wrong(body, "schemes", "schemes holds %q: write what stands before :// in a path, such as \"known\".", s)
		}
	}
	if slices.Contains(p.Requires, p.Label) {
		l.wrong(body, "requires", "%s cannot require itself.", p.Label)
	}
	l.notNegative(inner(body, "price"), "price: ", p.Price)
}

// absolute are the paths of an attribute as they count wherever the daemon was started.
func (l *loader) absolute(body *hclsyntax.Body, name string, paths []string) (out []string) {
	for _, path := range paths {
		full := l.path(path)
		if !filepath.IsAbs(full) {
			l.wrong(body, name, "%s holds %q, which is no path.", name, path)
			continue
		}
		out = append(out, full)
	}
	return out
}
