// Command bothy-plugin-replay plays recorded conversations, so that Bothy can
// be tried and tested without a model. It speaks to nobody. A request that is
// not the recorded one is an error that says where it differs and how to get a
// model; nothing is made up.
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

func main() {
	s := &served{}
	plugin.Serve(plugin.Options{
		Name:      "replay",
		Version:   sdk.Version,
		Provider:  s,
		Config:    &s.config,
		Configure: s.configure,
	})
}
