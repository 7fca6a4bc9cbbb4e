// Command bothy-plugin-memory remembers facts of the people who work with Bothy: entries fact:// of their owner, of which a
// model is told a part with each prompt, and which it keeps, forgets and looks up with tools (docs/memory.md).
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/fact"
	"github.com/bothyd/bothy/sdk/plugin"
)

func main() { plugin.Serve(newMemory().options()) }

// options is what the plugin serves.
func (m *memory) options() plugin.Options {
	return plugin.Options{
		Name: "memory", Version: sdk.Version,
		Tool: m.tools(), Hook: m.hooks(),
		Schemes: []sdk.Scheme{
			{Name: fact.Scheme, Category: sdk.CategoryData, Scope: "owner", WritableBy: []sdk.Writer{sdk.WriterPlugin, sdk.WriterClient}},
			{Name: learnedScheme, Category: sdk.CategoryLogging, Scope: "run", WritableBy: []sdk.Writer{sdk.WriterPlugin}},
		},
		Grants: []string{sdk.GrantModels},
		Calls:  sdk.Calls{Tools: []string{sdk.ToolAskUser}, Schemes: []string{"prompt"}, Models: []string{"*"}},
		Config: &m.block, Configure: m.configure,
	}
}
