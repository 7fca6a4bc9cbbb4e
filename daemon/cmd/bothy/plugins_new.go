package main

import "context"

type pluginsNewCmd struct {
	Kind string `default:"tool" enum:"tool,provider,skill,hook,channel" placeholder:"KIND" help:"tool, provider, skill, hook or channel."`
	To   string `placeholder:"DIR" complete:"dir" help:"The folder to make; NAME in the working directory when absent."`
	SDK  string `name:"sdk" placeholder:"DIR" complete:"dir" help:"The checkout of Bothy to build with, instead of the one that this Bothy was built from, or of its version."`
	Lang string `default:"go" placeholder:"LANG" help:"go; for others there are documented examples."`
	Name string `arg:"" name:"name" help:"The NAME of bothy-plugin-NAME."`
}

// Help adds to the verb's help.
func (pluginsNewCmd) Help() string {
	return `Writes a Go module that builds, passes its tests and the test of the plugin protocol, and can be installed as it is. Nothing is overwritten: a folder that holds anything is refused.

Examples:

    bothy plugins new hello && cd hello && go build && ./bothy-plugin-hello test
    bothy plugins new my-guard --kind hook
`
}

// Run needs no daemon.
func (cmd pluginsNewCmd) Run(ctx context.Context, c *console) error {
	args := []string{"plugins", "new", "--kind=" + cmd.Kind, "--lang=" + cmd.Lang}
	if cmd.To != "" {
		args = append(args, "--to="+cmd.To)
	}
	if cmd.SDK != "" {
		args = append(args, "--sdk="+cmd.SDK)
	}
	return c.passThrough(ctx, append(args, "--", cmd.Name)...)
}
