package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/fact"
	"github.com/bothyd/bothy/sdk/rpc"
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
	var runs []string // where the words still stand
	return query(ctx, c, func(cl *client.Client) ([]fact.Fact, error) {
		var gone []fact.Fact
		for _, key := range cmd.Keys {
			if slices.ContainsFunc(gone, func(f fact.Fact) bool { return f.Under(key) }) {
				continue // it is named twice
			}
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
		var err error
		runs, err = runsOf(ctx, cl, gone)
		return gone, err
	}, func(gone []fact.Fact) error {
		for _, f := range gone {
			if err := c.text("forgotten: " + f.String()); err != nil {
				return err
			}
		}
		if len(runs) > 0 {
			return c.text(fmt.Sprintf("the words still stand in the runs where they were said: `bothy runs rm %s` deletes these", strings.Join(runs, " ")))
		}
		return nil
	})
}

// runsOf are the runs in which facts were said and that are there yet: a name that is wrong has 'bothy runs rm' delete none.
func runsOf(ctx context.Context, cl *client.Client, facts []fact.Fact) (runs []string, err error) {
	for _, f := range facts {
		id := strconv.FormatInt(f.Run, 10)
		if f.Run == 0 || slices.Contains(runs, id) {
			continue
		}
		switch _, err := cl.Run(ctx, rpc.RunRef{Run: id}); {
		case err == nil:
			runs = append(runs, id)
		case sdk.OutcomeOf(err) != sdk.NotFound:
			return nil, err
		}
	}
	return runs, nil
}
