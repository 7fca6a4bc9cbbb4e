package main

import "context"

// Plugins as files: these verbs need no daemon, and one that runs takes up what
// they change.

type pluginsLockCmd struct {
	Check bool     `help:"Write nothing, and exit with 1 when something is not as it was locked."`
	Names []string `arg:"" optional:"" name:"name" complete:"plugin" help:"The labels of the blocks; all that are enabled when absent."`
}

// Help adds to the verb's help.
func (pluginsLockCmd) Help() string {
	return `Writes bothy.lock beside your configuration: for each plugin and provider the digest of its file, its version, its kinds, its tools by the hash of their schemas, its subscriptions, and the grants that it wants. It shows what that changes, line by line. A plugin that the lock names runs only as it was locked: when its file, or what it declares, is another, it is refused until you look and lock it again. A plugin that nothing pins yet is asked what it declares within walls.

After Bothy itself was upgraded, its own plugins are others, too.

Examples:

    bothy plugins lock --check
    bothy plugins lock
    bothy plugins lock websearch
`
}

// Run needs no daemon.
func (cmd pluginsLockCmd) Run(ctx context.Context, c *console) error {
	args := []string{"plugins", "lock"}
	if cmd.Check {
		args = append(args, "--check")
	}
	return c.passThrough(ctx, append(append(args, "--"), cmd.Names...)...)
}

type pluginsVerifyCmd struct {
	Names []string `arg:"" optional:"" name:"name" complete:"plugin" help:"The labels of the blocks; all that are enabled, and the whole store, when absent."`
}

// Help adds to the verb's help.
func (pluginsVerifyCmd) Help() string {
	return "Reads every file and compares its digest with sha256 in its block and with bothy.lock. Nothing runs. The exit code is 1 when a plugin would be refused."
}

// Run needs no daemon.
func (cmd pluginsVerifyCmd) Run(ctx context.Context, c *console) error {
	return c.passThrough(ctx, append([]string{"plugins", "verify", "--"}, cmd.Names...)...)
}

type pluginsInstallCmd struct {
	Name     string   `placeholder:"NAME" help:"The label of its block; the plugin's own name when absent."`
	Grant    []string `placeholder:"GRANT" sep:"none" help:"Grant it this; may be given again. Nothing is granted by itself."`
	NoConfig bool     `name:"no-config" help:"Only copy it into the store, and print the block that it would get."`
	Yes      bool     `short:"y" help:"Do not ask."`
	Path     string   `arg:"" name:"path" complete:"file" help:"The plugin's binary or script."`
}

// Help adds to the verb's help.
func (pluginsInstallCmd) Help() string {
	return `Copies the file into ~/.local/share/bothy/plugins, where it lies by its digest and is never written again, and asks the copy, within walls, what it declares. When you agree, its block goes into your configuration, pinned by its digest, and its entry into bothy.lock.

Examples:

    bothy plugins install ./bothy-plugin-websearch
    bothy plugins install --name search --grant secrets --yes ./bothy-plugin-websearch
`
}

// Run needs no daemon.
func (cmd pluginsInstallCmd) Run(ctx context.Context, c *console) error {
	args := []string{"plugins", "install"}
	if cmd.Name != "" {
		args = append(args, "--name="+cmd.Name)
	}
	for _, g := range cmd.Grant {
		args = append(args, "--grant="+g)
	}
	if cmd.NoConfig {
		args = append(args, "--no-config")
	}
	if cmd.Yes {
		args = append(args, "--yes")
	}
	return c.passThrough(ctx, append(args, "--", cmd.Path)...)
}

type pluginsRemoveCmd struct {
	Name string `arg:"" name:"name" complete:"plugin" help:"The label of its block."`
}

// Help adds to the verb's help.
func (pluginsRemoveCmd) Help() string {
	return "Takes its block out of your configuration, its entry out of bothy.lock, and its file out of the store when nothing else uses it. A plugin that comes with Bothy is switched off instead."
}

// Run needs no daemon.
func (cmd pluginsRemoveCmd) Run(ctx context.Context, c *console) error {
	return c.passThrough(ctx, "plugins", "remove", "--", cmd.Name)
}

type pluginsInfoCmd struct {
	Name string `arg:"" name:"name" complete:"plugin" help:"The label of its block."`
}

// Run needs no daemon.
func (cmd pluginsInfoCmd) Run(ctx context.Context, c *console) error {
	return c.passThrough(ctx, "plugins", "info", "--", cmd.Name)
}
