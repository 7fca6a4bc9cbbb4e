package main

import (
	"context"
	"strconv"
	"strings"
)

type pluginsCmd struct {
	List   pluginsListCmd   `cmd:"" default:"1" help:"List plugins and their state."`
	Reload pluginsReloadCmd `cmd:"" help:"Load a plugin anew from its file and its block, without losing a call."`
	Test   pluginsTestCmd   `cmd:"" help:"Say whether a plugin's binary keeps to the plugin protocol."`
	New    pluginsNewCmd    `cmd:"" help:"Write the beginning of a plugin."`
	Dev    pluginsDevCmd    `cmd:"" help:"Use a plugin that you run yourself, under a debugger for example."`
}

type pluginsListCmd struct{}

// Run prints one line a plugin; what is wrong with one stands below.
func (pluginsListCmd) Run(ctx context.Context, c *console) error {
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	list, err := cl.Plugins(ctx)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(list)
	}
	var rows [][]string
	for _, p := range list {
		rows = append(rows, []string{p.Instance, p.State, p.Version, strings.Join(p.Kinds, ","), strconv.Itoa(p.Restarts), p.Path})
	}
	if err := c.table([]string{"PLUGIN", "STATE", "VERSION", "KINDS", "RESTARTS", "PATH"}, rows); err != nil {
		return err
	}
	for _, p := range list {
		if p.Error != "" {
			c.say("%s: %s", escapeLine(p.Instance), escape(p.Error))
		}
	}
	return nil
}
