package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/bothyd/bothy/sdk/rpc"
)

type modelsCmd struct{}

// Run prints the models and which one is taken when none is named.
func (modelsCmd) Run(ctx context.Context, c *console) error {
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	found, err := cl.Models(ctx, rpc.ModelsParams{})
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(found)
	}
	var rows [][]string
	why := ""
	for _, m := range found.Models {
		context, mark := "", "no"
		if m.ContextLength > 0 {
			context = strconv.Itoa(m.ContextLength)
		}
		if m.Default {
			mark, why = "yes", m.Alias+": "+m.Why
		}
		rows = append(rows, []string{m.Alias, m.Provider, context, toolsWord(m.Tools), mark})
	}
	if err := c.table([]string{"MODEL", "PROVIDER", "CONTEXT", "TOOLS", "DEFAULT"}, rows); err != nil {
		return err
	}
	if why != "" {
		if _, err := fmt.Fprintln(c.out, "\n"+escapeLine(why)); err != nil {
			return err
		}
	}
	for _, p := range found.Problems {
		c.say("%s", escape(p))
	}
	return nil
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
