package main

import (
	"context"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type pluginsReloadCmd struct {
	Name  string `arg:"" complete:"plugin" help:"The label of its block."`
	Force bool   `help:"Also when neither its file nor its block changed."`
}

// Help adds to the verb's help.
func (pluginsReloadCmd) Help() string {
	return "The daemon does so by itself when the file or the block changes; a plugin that is broken is tried again. " +
		"Calls under way end on the old process. When the new one cannot be had, the old one goes on and the exit code is 2."
}

// Run does not start a daemon: that would load the plugin anyway.
func (cmd pluginsReloadCmd) Run(ctx context.Context, c *console) error {
	return queryRunning(ctx, c, "it loads its plugins when it starts", func(cl *client.Client) (rpc.PluginReloaded, error) {
		return cl.ReloadPlugin(ctx, rpc.PluginReload{Instance: cmd.Name, Force: cmd.Force})
	}, func(r rpc.PluginReloaded) error {
		for _, d := range r.Diagnostics {
			c.say("%s", show.Text(d.Text))
		}
		return c.lines(r.Instance + ": " + loaded(r))
	}, exitUnless(exitUsage, well))
}

// loaded says in words what a reload came to.
func loaded(r rpc.PluginReloaded) string {
	switch r.How {
	case "unchanged":
		return "unchanged: neither its file nor its block is another (--force starts it anew all the same)"
	case "reconfigured":
		return "reconfigured: the same process took its new settings"
	case "swapped":
		return "swapped: another process took over, and the old one ends with its last call"
	case "started":
		if !well(r) {
			return "it does not start"
		}
		return "started"
	case "kept":
		return "kept as it was"
	}
	return r.How
}

// well reports whether the plugin is what its file and its block are now.
func well(r rpc.PluginReloaded) bool {
	return r.How != "kept" && !hasErrors(r.Diagnostics)
}
