package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type pluginsCmd struct {
	List    pluginsListCmd                `cmd:"" default:"1" help:"List plugins and their state."`
	Info    offline[verbs.PluginsInfo]    `cmd:"" help:"Say what a plugin declares, wants and has."`
	Lock    offline[verbs.PluginsLock]    `cmd:"" help:"Write into bothy.lock what plugins are now, and show what that changes."`
	Verify  offline[verbs.PluginsVerify]  `cmd:"" help:"Compare the files of plugins with what pins them; nothing runs."`
	Install offline[verbs.PluginsInstall] `cmd:"" help:"Copy a plugin into the store, and configure it."`
	Pack    offline[verbs.PluginsPack]    `cmd:"" help:"Make the archive of a plugin of more than one file."`
	Remove  offline[verbs.PluginsRemove]  `cmd:"" help:"Take a plugin out of the configuration, the lock and the store."`
	Test    offline[verbs.PluginsTest]    `cmd:"" help:"Say whether a plugin's binary keeps to the plugin protocol."`
	New     offline[verbs.PluginsNew]     `cmd:"" help:"Write the beginning of a plugin."`
	Reload  pluginsReloadCmd              `cmd:"" help:"Load a plugin anew from its file and its block, without losing a call."`
	Dev     pluginsDevCmd                 `cmd:"" help:"Use a plugin that you run yourself, under a debugger for example."`
}

type pluginsListCmd struct{}

// Run prints one line a plugin; what is wrong with one stands below.
func (pluginsListCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) ([]rpc.Plugin, error) { return cl.Plugins(ctx) }, func(list []rpc.Plugin) error {
		header := []string{"PLUGIN", "STATE", "VERSION", "KINDS", "RESTARTS", "MEMORY", "DIGEST", "ORIGIN", "PINNED BY", "CONFINED"}
		err := tableOf(c, list, "", header, func(p rpc.Plugin) []string {
			memory := ""
			if p.RSS > 0 {
				memory = size(p.RSS)
			}
			return []string{
				p.Instance, p.State, p.Version, strings.Join(p.Kinds, ","), strconv.Itoa(p.Restarts), memory,
				p.Digest[:min(len(p.Digest), show.ShortHash)], p.Origin, p.PinnedBy, p.Confined,
			}
		})
		if err != nil {
			return err
		}
		for _, p := range list {
			if p.Script {
				c.say("%s: script: the interpreter, and what it imports from elsewhere, are not covered by its digest", show.Line(p.Instance))
			}
			if p.Error != "" {
				c.say("%s: %s", show.Line(p.Instance), show.Text(p.Error))
			} else if p.Detail != "" {
				c.say("%s: %s", show.Line(p.Instance), show.Line(p.Detail))
			}
		}
		return nil
	})
}
