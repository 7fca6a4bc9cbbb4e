// Command bothy-plugin-web looks at the web: it fetches pages and documents, keeps their text with
// the run, and searches. It asks public addresses alone (sdk/webguard), and has what it reads parsed by a process that
// can do nothing else: itself, with the argument read.
package main

import (
	"os"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

func main() {
	reader.Finish(article)
	if code, done := check(os.Args[1:], os.Stdout, os.Stderr); done {
		os.Exit(code)
	}
	w := newWeb()
	plugin.Serve(plugin.Options{
		Name:      "web",
		Version:   sdk.Version,
		Tool:      w,
		Calls:     sdk.Calls{Tools: []string{fetchTool}, Schemes: []string{"http", "https"}},
		Needs:     sdk.Needs{Network: true},
		Config:    &w.settings,
		Configure: w.configure,
		Close:     w.close,
	})
}
