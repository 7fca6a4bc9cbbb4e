// Command bothy-plugin-bash serves the tool bash: shell commands in a rootless
// Podman container, one container per run. Where Podman cannot be used, every
// call says so; nothing is ever run on the host.
package main

import (
	"os"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/hashicorp/go-hclog"
)

func main() {
	if code, done := check(os.Args[1:], os.Stdout, os.Stderr); done {
		os.Exit(code)
	}
	b := newBash(hclog.New(&hclog.LoggerOptions{Name: "bash", Level: hclog.Debug, Output: os.Stderr, JSONFormat: true}))
	plugin.Serve(plugin.Options{
		Name: "bash", Tool: b.tools(), Changed: b.changed, Hook: b, Grants: []string{sdk.GrantSandbox, sdk.GrantProject},
		Needs:     sdk.Needs{Unconfined: "it runs Podman, which makes users, namespaces and containers of its own"},
		Configure: b.configure, Release: b.release, Health: b.health, Drain: b.drain, Close: b.close,
	})
}
