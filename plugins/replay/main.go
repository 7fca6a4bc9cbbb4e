// Command bothy-plugin-replay plays recorded conversations, so that Bothy can
// be tried and tested without a model. It speaks to nobody. A request that is
// not the recorded one is an error that says where it differs and how to get a
// model; nothing is made up.
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/provider"
)

func main() { configured().Serve("replay", sdk.Version) }

// configured serves the replay of the last configuration.
func configured() *plugin.ConfiguredProvider[settings] {
	p := plugin.NewConfiguredProvider(func(c settings) (provider.Provider, error) { return newReplay(c) })
	p.Needs = sdk.Needs{Unconfined: "it reads the recordings that you name, wherever they lie"}
	return p
}
