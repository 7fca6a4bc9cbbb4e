package main

// pluginsCmd is what can be done with plugins while no daemon runs.
type pluginsCmd struct {
	Test pluginsTestCmd `cmd:"" help:"Say whether a plugin's binary keeps to the plugin protocol."`
	New  pluginsNewCmd  `cmd:"" help:"Write the beginning of a plugin."`
}
