package main

import (
	"context"
	"strconv"
)

type pluginsTestCmd struct {
	Call     bool     `help:"Call also what may have effects: tools that are not read-only, skills, models."`
	Settings string   `placeholder:"JSON" help:"Attributes of the plugin's block as a JSON object; the others take their defaults."`
	Seed     *uint64  `placeholder:"N" help:"Repeat a test: which requests look as if a later daemon sent them."`
	Path     string   `arg:"" name:"path" complete:"file" help:"The binary."`
	Args     []string `arg:"" optional:"" name:"args" help:"Arguments for the plugin itself, as args in its block."`
}

// Help adds to the verb's help.
func (pluginsTestCmd) Help() string {
	return `Starts the binary as the daemon does, in whatever language it was written, configures it with its defaults, and tries what the plugin protocol promises: a line for each promise, with what to do where it is broken. The exit code is 1 when one is. Now and then a request looks as if a later daemon had sent it; the seed that is printed repeats a test.

Tools are called only when they are declared read-only; --call calls the others too, executes skills and asks a model.

Examples:

    bothy plugins test ./bothy-plugin-hello
    bothy plugins test --json ./bothy-plugin-hello | jq '.findings[] | select(.severity == "failed")'
    bothy plugins test --settings '{"base_url": "http://127.0.0.1:8080"}' --call ./bothy-plugin-mine
`
}

// Run needs no daemon.
func (cmd pluginsTestCmd) Run(ctx context.Context, c *console) error {
	args := []string{"plugins", "test"}
	if cmd.Call {
		args = append(args, "--call")
	}
	if cmd.Settings != "" {
		args = append(args, "--settings="+cmd.Settings)
	}
	if cmd.Seed != nil {
		args = append(args, "--seed="+strconv.FormatUint(*cmd.Seed, 10))
	}
	return c.passThrough(ctx, append(append(args, "--", cmd.Path), cmd.Args...)...)
}
