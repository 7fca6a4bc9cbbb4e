package main

import "context"

type runsResetCmd struct {
	namedRun
}

// Help adds to the verb's help.
func (runsResetCmd) Help() string {
	return `The run's container goes, with its /tmp and its home: what was installed or cached there. The next command makes a new one. What the run knows stays, and no file of the project is touched.

A run at work cannot be reset: wait for its end, or end it with 'bothy runs abort'.

Example:

    bothy runs reset fix-42
`
}

// Run returns when the sandbox is gone.
func (cmd runsResetCmd) Run(ctx context.Context, c *console) error {
	cl, ref, err := cmd.open(ctx, c)
	if err != nil {
		return err
	}
	defer c.close(cl)
	reset, err := cl.Reset(ctx, ref)
	if err != nil {
		return err
	}
	return c.told(reset, "reset run "+reset.Run+": its next command gets a new sandbox with an empty home")
}
