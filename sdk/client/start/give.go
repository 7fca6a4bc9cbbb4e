package start

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/sdk/client"
)

// Give gives the daemon what its configuration asks for, what it lacks, and what is in the
// caller's environment: a daemon that runs was started with another one. It is told to Say, and
// the daemon keeps it until it ends. Prompt calls it; a front end does before other calls that
// begin work. Where nothing is lacking nothing is asked. What goes wrong is left to be told by
// the work that lacks its key.
func (d *Daemon) Give(ctx context.Context, cl *client.Client) {
	hello, err := cl.Hello(ctx)
	if err != nil {
		return
	}
	keys := map[string]string{}
	for _, name := range hello.Lacks {
		if value := d.env(name); value != "" {
			keys[name] = value
		}
	}
	if len(keys) == 0 {
		return
	}
	given, err := cl.Give(ctx, keys)
	if err != nil || len(given.Taken) == 0 {
		return
	}
	d.say("gave the daemon %s from this environment, until it ends; `bothy auth login` keeps a key for good", strings.Join(given.Taken, ", "))
}
