// Command bothy-plugin-anthropic answers completions with any server that speaks
// Anthropic's Messages. It speaks HTTP and server-sent events itself, as its
// neighbours do: decision 6 has why.
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/provider"
)

func main() { configured().Serve("anthropic", sdk.Version) }

// configured serves the anthropic of the last configuration.
func configured() *plugin.ConfiguredProvider[settings] {
	return plugin.NewConfiguredProvider(func(c settings) (provider.Provider, error) { return newAnthropic(c) })
}
