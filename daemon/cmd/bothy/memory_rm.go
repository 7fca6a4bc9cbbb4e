package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/fact"
)

type memoryRmCmd struct {
	Keys []string `arg:"" name:"key" help:"Keys, whatever their capitals: all facts under them."`
	ofOwner
}

// Help adds to the verb's help.
func (memoryRmCmd) Help() string {
	return `What is forgotten is gone from the store and from all that agents are told. The words stay where they were said: the runs are named, and 'bothy runs rm' deletes them.`
}

// Run forgets facts; a key that has none forgets nothing.
func (cmd memoryRmCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) ([]fact.Fact, error) {
		var gone []fact.Fact
		for _, key := range cmd.Keys {
			found, err := cmd.under(ctx, cl, key)
			if err != nil {
				return nil, err
			}
			gone = append(gone, found...)
		}
		for _, f := range gone {
			if err := cmd.drop(ctx, cl, f); err != nil {
				return nil, err
			}
		}
		return gone, nil
	}, func(gone []fact.Fact) error {
		var runs []string
		for _, f := range gone {
			if err := c.text("forgotten: " + f.String()); err != nil {
				return err
			}
			if in := fmt.Sprint(f.Run); f.Run != 0 && !slices.Contains(runs, in) {
				runs = append(runs, in)
			}
		}
		if len(runs) > 0 {
			return c.text(fmt.Sprintf("the words still stand in the runs where they were said: `bothy runs rm %s` deletes these", strings.Join(runs, " ")))
		}
		return nil
	})
}
