// Command bothy-plugin-ollama answers completions with Ollama, over its native
// API: only there can the context window be set and silent truncation be
// turned off, which its OpenAI-compatible address does not offer.
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

func main() {
	s := &served{}
	plugin.Serve(plugin.Options{
		Name:      "ollama",
		Version:   sdk.Version,
		Provider:  s,
		Config:    &s.config,
		Configure: s.configure,
		Close:     s.close,
	})
}
