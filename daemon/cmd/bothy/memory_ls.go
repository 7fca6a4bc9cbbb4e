package main

import (
	"context"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/fact"
)

type memoryLsCmd struct{ ofOwner }

// Run prints a line for each fact.
func (cmd memoryLsCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) ([]fact.Fact, error) { return cmd.facts(ctx, cl) }, listed(c, "nothing is remembered"))
}

type memorySearchCmd struct {
	Words []string `arg:"" help:"Words of keys and values, in any order and whatever their capitals."`
	ofOwner
}

// Run prints those that have all of the words.
func (cmd memorySearchCmd) Run(ctx context.Context, c *console) error {
	words := fact.Words(strings.Join(cmd.Words, " "))
	return query(ctx, c, func(cl *client.Client) ([]fact.Fact, error) {
		all, err := cmd.facts(ctx, cl)
		return slices.DeleteFunc(all, func(f fact.Fact) bool { return f.Has(words) < len(words) }), err
	}, listed(c, "nothing is remembered of that"))
}

// listed shows facts as a table.
func listed(c *console, none string) func([]fact.Fact) error {
	return func(all []fact.Fact) error {
		return tableOf(c, all, none, []string{"KEY", "SOURCE", "SEEN", "VALUE"}, func(f fact.Fact) []string {
			return []string{f.Key, f.Source, show.When(f.Seen), f.Value}
		})
	}
}

type memoryShowCmd struct {
	Key string `arg:"" help:"The key, whatever its capitals."`
	ofOwner
}

// Run prints facts with where they come from.
func (cmd memoryShowCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) ([]fact.Fact, error) { return cmd.under(ctx, cl, cmd.Key) }, func(found []fact.Fact) error {
		for i, f := range found {
			if i > 0 {
				if err := c.lines(""); err != nil {
					return err
				}
			}
			if err := c.facts(7, [][2]string{{"key", show.Line(f.Key)}, {"value", show.Line(f.Value)}, {"source", show.Line(f.Source)}, {"seen", show.When(f.Seen)}, {"in", whence(f)}, {"quote", show.Line(f.Quote)}}); err != nil {
				return err
			}
		}
		return nil
	})
}

type memoryExportCmd struct{ ofOwner }

// Run prints all facts as JSON, also where nobody asked for it.
func (cmd memoryExportCmd) Run(ctx context.Context, c *console) error {
	c.json = true
	return query(ctx, c, func(cl *client.Client) ([]fact.Fact, error) { return cmd.facts(ctx, cl) }, nil)
}

type memoryLogCmd struct{ ofOwner }

// Run prints what was learned, the newest first.
func (cmd memoryLogCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) ([]fact.Fact, error) {
		all, err := cmd.facts(ctx, cl)
		return slices.DeleteFunc(all, func(f fact.Fact) bool { return f.Source != fact.Auto }), err
	}, func(all []fact.Fact) error {
		return tableOf(c, all, "nothing was learned", []string{"SEEN", "IN", "FACT", "WORDS"}, func(f fact.Fact) []string {
			return []string{show.When(f.Seen), whence(f), f.String(), f.Quote}
		})
	})
}
