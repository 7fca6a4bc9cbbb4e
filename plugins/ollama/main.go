// Command bothy-plugin-ollama answers completions with Ollama, over its native
// API: only there can the context window be set and silent truncation be
// turned off, which its OpenAI-compatible address does not offer.
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/provider"
)

func main() { configured().Serve("ollama", sdk.Version) }

// configured serves the ollama of the last configuration.
func configured() *plugin.ConfiguredProvider[settings] {
	started := &servers{}
	p := plugin.NewConfiguredProvider(func(c settings) (provider.Provider, error) { return newOllama(c, started) })
	p.Needs = sdk.Needs{Unconfined: "it starts `ollama serve`, which needs your models and your graphics card"}
	return p
}
