package main

import (
	"context"
	"strconv"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type modelsCmd struct{}

// Run prints the models and which one is taken when none is named.
func (modelsCmd) Run(ctx context.Context, c *console) error {
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
