// Command bothy-plugin-openai answers completions with any server that speaks
// OpenAI's Chat Completions: OpenAI, Groq, OpenRouter, xAI, vLLM, llama.cpp,
// LM Studio and their like. It speaks HTTP and server-sent events itself,
// because what differs between those servers is what a library smooths over.
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/provider"
)

func main() { configured().Serve("openai", sdk.Version) }

// configured serves the openai of the last configuration.
func configured() *plugin.ConfiguredProvider[settings] {
	return plugin.NewConfiguredProvider(func(c settings) (provider.Provider, error) { return newOpenAI(c) })
}
