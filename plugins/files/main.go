// Command bothy-plugin-files serves the tools that read, search and change the
// files of a project. All of them go through os.Root: no symbolic link and no
// ".." leads out of the project, and protected paths can only be read.
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

func main() {
	f := &files{}
	plugin.Serve(plugin.Options{
		Name:      "files",
		Version:   sdk.Version,
		Tool:      f.tools(),
		Grants:    []string{sdk.GrantProject},
		Needs:     sdk.Needs{Unconfined: "it reads and writes in every project that a run works in"},
		Config:    &f.config,
		Configure: f.configure,
	})
}
