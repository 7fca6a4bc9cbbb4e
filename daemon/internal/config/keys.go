package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Registry keeps the secret values that a configuration comes to know, and takes
// them out of texts. Package daemon gives the redactor of the whole daemon.
type Registry interface {
	// Name takes in a value, and what it is called, which people are told in its place.
	Name(name, value string)
	Redact(text string) string
}

// Keys finds what secret("NAME") comes to.
type Keys interface {
	// Expect is told the names that a configuration asks for, before most of them are looked up.
	Expect(names []string)
	// Find returns the value of a name. The error says how to give one.
	Find(name string) (string, error)
	// Place says where the value is, as in "its key is in the environment"; empty without one.
	Place(name string) string
}

// noKeys finds none.
type noKeys struct{}

func (noKeys) Expect([]string) {}

func (noKeys) Find(name string) (string, error) {
	return "", fmt.Errorf("the secret %s is not set", name)
}

func (noKeys) Place(string) string { return "" }

// KeyPlace says where the api_key of a provider's block is, as in "its key is in the
// environment"; empty when there is none that resolves now.
func (c *Config) KeyPlace(p Plugin) string {
	if p.text(c.Context, "api_key") == "" {
		return ""
	}
	for _, name := range secretsUnder(p.attributes()["api_key"].Expr, c.Context) {
		if place := c.keys.Place(name); place != "" {
			return place
		}
	}
	return "in its block of the configuration"
}

// Keyless are the labels of the plugins and providers that cannot be configured now, since their
// blocks name a secret that is not set.
func (c *Config) Keyless() (labels []string) {
	for _, p := range slices.Concat(c.Plugins, c.Providers) {
		for _, a := range p.attributes() {
			missing := slices.ContainsFunc(secretsUnder(a.Expr, c.Context), func(name string) bool { return c.keys.Place(name) == "" })
			if _, wrong := a.Expr.Value(c.Context); p.Enabled && missing && wrong.HasErrors() {
				labels = append(labels, p.Label)
				break
			}
		}
	}
	return labels
}

// LearnSecrets looks up every secret that a file names, so that its value is redacted from now on, also
// before the plugin that uses it was started. One that is not set is left for the moment when it is used.
func (c *Config) LearnSecrets() {
	names := c.secretNames()
	for _, p := range slices.Concat(c.Plugins, c.Providers) {
		names = append(names, p.Secrets...)
	}
	for _, name := range names {
		_, _ = c.Secret(name) // who uses it is told that it is not set
	}
}

// keyUses finds who asks for which key. What is overridden, or switched off, asks for none.
func (l *loader) keyUses() map[string][]string {
	uses, plugins := map[string][]string{}, slices.Concat(l.cfg.Plugins, l.cfg.Providers)
	for kind, list := range l.kept {
		for _, b := range list {
			names := secretsUnder(b.body, l.cfg.Context)
			i := slices.IndexFunc(plugins, func(p Plugin) bool { return p.Range == b.at })
			switch {
			case i >= 0 && !plugins[i].Enabled:
				continue
			case i >= 0:
				names = append(names, plugins[i].Secrets...)
			}
			for _, name := range names {
				uses[name] = append(uses[name], strings.TrimSpace(kind+" "+b.label))
			}
		}
	}
	for name, users := range uses {
		slices.Sort(users)
		uses[name] = slices.Compact(users)
	}
	return uses
}

// secretNames are the names that files ask for by secret().
func (c *Config) secretNames() (names []string) {
	for _, f := range c.Files {
		names = append(names, secretsUnder(f.Body, c.Context)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// loginNames are the keys that logins at the servers of mcp blocks may be kept under.
func (l *loader) loginNames() (names []string) {
	for _, b := range l.kept["mcp"] {
		if b.body.Attributes["url"] != nil {
			names = append(names, sdk.MCPLogin(b.label))
		}
	}
	return names
}

// Logins are the keys of logins, each with its block as KeyUses has them.
func (c *Config) Logins() map[string]string {
	logins := map[string]string{}
	for _, p := range c.Plugins {
		if p.Login != "" {
			logins[p.Login] = "mcp " + strings.TrimPrefix(p.Label, sdk.MCPPrefix)
		}
	}
	return logins
}

// secretsUnder are the names in an expression or a body.
func secretsUnder(in any, ctx *hcl.EvalContext) (names []string) {
	_ = hclsyntax.VisitAll(in.(hclsyntax.Node), func(node hclsyntax.Node) hcl.Diagnostics { // no other syntax is read; it reports nothing
		call, ok := node.(*hclsyntax.FunctionCallExpr)
		if ok && call.Name == "secret" && len(call.Args) > 0 {
			if name := textOf(call.Args[0], ctx); name != "" {
				names = append(names, name)
			}
		}
		return nil
	})
	return names
}
