// Command bothy-plugin-mcp offers the tools of one server of the Model Context
// Protocol: it starts the server, or reaches it by HTTP, and passes calls on. Each
// block mcp "NAME" of the configuration is an instance of it in a process of its own, so
// that a server that hangs or dies costs nobody else. With the argument login it logs a person in.
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

func main() {
	loginInstead()
	collectLess()
	m := newMCP()
	plugin.Serve(plugin.Options{
		Name:      "mcp",
		Version:   sdk.Version,
		Tool:      m,
		Calls:     sdk.Calls{Tools: []string{sdk.ToolAskUser}},
		Config:    &m.settings,
		Configure: m.configure,
		Changed:   m.changed,
		Close:     m.close,
	})
}
