package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// LearnSecrets looks up every secret that a file names, so that its value is
// redacted from now on, also while the plugin that uses it has not been started
// yet. One that is not set is left for the moment when it is used.
func (c *Config) LearnSecrets() {
	for _, file := range c.Files {
		body, ok := file.Body.(*hclsyntax.Body)
		if !ok {
			continue
		}
		_ = hclsyntax.VisitAll(body, func(node hclsyntax.Node) hcl.Diagnostics { // it reports what the function below does: nothing
			if name, ok := c.secretName(node); ok {
				_, _ = c.Secret(name) // who uses it is told that it is not set
			}
			return nil
		})
	}
	for _, p := range slices.Concat(c.Plugins, c.Providers) {
		for _, name := range p.Secrets {
			_, _ = c.Secret(name) // likewise
		}
	}
}

// secretName returns NAME of a call secret("NAME"), with a default or without.
func (c *Config) secretName(node hclsyntax.Node) (string, bool) {
	call, ok := node.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "secret" || len(call.Args) == 0 {
		return "", false
	}
	name := textOf(call.Args[0], c.Context)
	return name, name != ""
}
