package main

// pluginsCmd is what can be done with plugins while no daemon runs.
type pluginsCmd struct {
	Lock    pluginsLockCmd    `cmd:"" help:"Write into bothy.lock what plugins are now, and show what that changes."`
	Verify  pluginsVerifyCmd  `cmd:"" help:"Compare the files of plugins with what pins them. Nothing runs."`
	Install pluginsInstallCmd `cmd:"" help:"Copy a plugin into the store, and configure it."`
	Pack    pluginsPackCmd    `cmd:"" help:"Make the archive of a plugin of more than one file."`
	Remove  pluginsRemoveCmd  `cmd:"" help:"Take a plugin out of the configuration, the lock and the store."`
	Info    pluginsInfoCmd    `cmd:"" help:"Say what a plugin declares, wants and has."`
	Test    pluginsTestCmd    `cmd:"" help:"Say whether a plugin's binary keeps to the plugin protocol."`
	New     pluginsNewCmd     `cmd:"" help:"Write the beginning of a plugin."`
}
