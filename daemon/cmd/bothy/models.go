package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type modelsCmd struct {
	List modelsListCmd `cmd:"" default:"1" help:"List models, and the one that is taken when none is named."`
	Pull modelsPullCmd `cmd:"" help:"Get a model onto the server of its provider."`
}

type modelsPullCmd struct {
	Name string `arg:"" help:"provider/name, or the name of one for the Ollama of this machine."`
}

// Help adds to the verb's help.
func (modelsPullCmd) Help() string {
	return "Ollama gets it from its registry, and is started when it is installed and does not run. Ctrl-C gives it up; what came by then it keeps, so that the next pull goes on from there."
}

// Run waits until the model can be used.
func (cmd modelsPullCmd) Run(ctx context.Context, c *console) error {
	ctx, release := c.untilPressed(ctx)
	defer release()
	said := ""
	return query(ctx, c, func(cl *client.Client) (rpc.Pulled, error) {
		done, err := cl.Pull(ctx, rpc.Pull{Model: cmd.Name}, func(at rpc.PullProgress) { said = c.showPull(at, said) })
		if c.errTTY {
			fmt.Fprint(c.err, "\r\x1b[K")
		}
		if err != nil && ctx.Err() != nil {
			err = exitError{exitAborted, fmt.Errorf("%s was given up; what came by then is kept, so that another `bothy models pull %s` goes on from there", cmd.Name, cmd.Name)}
		}
		return done, err
	}, func(done rpc.Pulled) error {
		return c.lines(done.Model + " can be used: bothy run -m " + done.Model)
	})
}

// showPull keeps one line on a terminal up to date, and elsewhere says each step once.
// It returns what was said last.
func (c *console) showPull(at rpc.PullProgress, said string) string {
	text := show.Line(at.Status)
	switch {
	case c.errTTY && at.Total > 0:
		fmt.Fprintf(c.err, "\r\x1b[K%s: %s of %s (%d %%)", text, size(at.Done), size(at.Total), at.Done*100/at.Total)
	case c.errTTY:
		fmt.Fprintf(c.err, "\r\x1b[K%s", text)
	case text != said:
		c.say("%s", text)
	}
	return text
}

type modelsListCmd struct{}

// Run prints the models and which one is taken when none is named.
func (modelsListCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) (rpc.Models, error) { return cl.Models(ctx, rpc.ModelsParams{}) }, func(found rpc.Models) error {
		why := ""
		err := tableOf(c, found.Models, "", []string{"MODEL", "PROVIDER", "CONTEXT", "TOOLS", "DEFAULT"}, func(m rpc.Model) []string {
			context, mark := "", "no"
			if m.ContextLength > 0 {
				context = strconv.Itoa(m.ContextLength)
			}
			if m.Default {
				mark, why = "yes", m.Alias+": "+m.Why
			}
			return []string{m.Alias, m.Provider, context, toolsWord(m.Tools), mark}
		})
		for _, m := range found.Models {
			if err == nil && len(m.Fallback) > 0 {
				err = c.lines("", m.Alias+" gives way to "+strings.Join(m.Fallback, ", then "))
			}
		}
		if err == nil && why != "" {
			err = c.lines("", why)
		}
		for _, p := range found.Problems {
			c.say("%s", show.Text(p))
		}
		return err
	})
}

func toolsWord(tools *bool) string {
	switch {
	case tools == nil:
		return "unknown"
	case *tools:
		return "yes"
	default:
		return "no"
	}
}
