// Command bothy-plugin-telegram is a bot of Telegram: people who are configured write to it, and it brings that to the
// daemon and brings them the answers. It speaks the Bot API over HTTPS itself, as decision 122 has it.
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/plugin"
)

func main() {
	t := &telegram{}
	plugin.Serve(plugin.Options{
		Name:      "telegram",
		Version:   sdk.Version,
		Channel:   t,
		Schemes:   []sdk.Scheme{channel.Keeps(scheme)},
		Needs:     sdk.Needs{Network: true},
		Config:    &t.settings,
		Configure: t.configure,
	})
}
