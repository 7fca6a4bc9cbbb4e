package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Keys finds what secret("NAME") comes to.
type Keys interface {
	// Expect is told the names that a configuration asks for, before most of them are looked up.
	Expect(names []string)
	// Find returns the value of a name. The error says how to give one.
	Find(name string) (string, error)
	// Place says where the value is, as in "its key is in the environment"; empty without one.
	Place(name string) string
}

// keys are the Keys of a source.
func (s Source) keys() Keys {
	if s.Keys != nil {
		return s.Keys
	}
	return environmentKeys(s.Getenv)
}

// environmentKeys are those of the environment alone.
type environmentKeys func(string) (string, bool)

func (environmentKeys) Expect([]string) {}

func (e environmentKeys) Find(name string) (string, error) {
	if v, _ := e(name); v != "" {
		return v, nil
	}
	return "", fmt.Errorf("the secret %s is not set: export %s", name, name)
}

func (e environmentKeys) Place(name string) string {
	if v, _ := e(name); v != "" {
		return "in the environment"
	}
	return ""
}

// KeyPlace says where the api_key of a provider's block is, as in "its key is in the
// environment"; empty when there is none that resolves now.
func (c *Config) KeyPlace(p Plugin) string {
	if p.text(c.Context, "api_key") == "" {
		return ""
	}
	attrs, _ := p.Body.JustAttributes() // it has this one
	for _, name := range secretsIn(attrs["api_key"].Expr, c.Context) {
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
		attrs, _ := p.Body.JustAttributes() // what is wrong is told when the plugin starts
		for _, a := range attrs {
			missing := slices.ContainsFunc(secretsIn(a.Expr, c.Context), func(name string) bool { return c.keys.Place(name) == "" })
			if _, wrong := a.Expr.Value(c.Context); p.Enabled && missing && wrong.HasErrors() {
				labels = append(labels, p.Label)
				break
			}
		}
	}
	return labels
}

// keyUses finds who asks for which key.
func (c *Config) keyUses() map[string][]string {
	uses := map[string][]string{}
	add := func(user string, names ...string) {
		for _, name := range names {
			if !slices.Contains(uses[name], user) {
				uses[name] = append(uses[name], user)
			}
		}
	}
	blocks := map[string]Plugin{}
	for kind, list := range map[string][]Plugin{"plugin": c.Plugins, "provider": c.Providers} {
		for _, p := range list {
			user := kind + " " + p.Label
			blocks[user] = p
			if !p.Enabled {
				continue
			}
			add(user, p.Secrets...)
			attrs, _ := p.Body.JustAttributes() // what is wrong is told when the plugin starts
			for _, a := range attrs {
				add(user, secretsIn(a.Expr, c.Context)...)
			}
		}
	}
	// What was decoded already is found where it stands.
	for _, f := range c.Files {
		body, ok := f.Body.(*hclsyntax.Body)
		if !ok {
			continue
		}
		for _, b := range body.Blocks {
			user := b.Type
			if len(b.Labels) > 0 {
				user += " " + b.Labels[0]
			}
			p, known := blocks[user]
			if known && !p.Enabled {
				continue
			}
			undecoded := hcl.Attributes{}
			if known {
				undecoded, _ = p.Body.JustAttributes()
			}
			for name, a := range b.Body.Attributes {
				if undecoded[name] == nil {
					add(user, secretsIn(a.Expr, c.Context)...)
				}
			}
			for _, inner := range b.Body.Blocks {
				add(user, secretsUnder(inner.Body, c.Context)...)
			}
		}
	}
	for _, users := range uses {
		slices.Sort(users)
	}
	return uses
}

// secretNames are the names that files ask for by secret().
func secretNames(files map[string]*hcl.File, ctx *hcl.EvalContext) (names []string) {
	for _, f := range files {
		if body, ok := f.Body.(*hclsyntax.Body); ok {
			names = append(names, secretsUnder(body, ctx)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// secretsIn are the names in an expression.
func secretsIn(expr hcl.Expression, ctx *hcl.EvalContext) []string {
	if node, ok := expr.(hclsyntax.Node); ok {
		return secretsUnder(node, ctx)
	}
	return nil
}

// secretsUnder are the names below a node.
func secretsUnder(node hclsyntax.Node, ctx *hcl.EvalContext) (names []string) {
	_ = hclsyntax.VisitAll(node, func(node hclsyntax.Node) hcl.Diagnostics { // it reports what the function below does: nothing
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
