// Command bothy-plugin-web looks at the web: it fetches pages and documents, and keeps their text with
// the run. It asks public addresses alone (sdk/webguard), and has what it reads parsed by a process that
// can do nothing else: itself, with the argument read.
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

func main() {
	readInstead()
	w := newWeb()
	plugin.Serve(plugin.Options{
		Name:      "web",
		Version:   sdk.Version,
		Tool:      w.tools(),
		Calls:     sdk.Calls{Schemes: []string{"http", "https"}},
		Needs:     sdk.Needs{Network: true},
		Config:    &w.settings,
		Configure: w.configure,
		Close:     w.close,
	})
}
