package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type usageCmd struct {
	By      string `default:"day" enum:"day,project,run,model" help:"A line for each day, project, run or model."`
	Since   string `placeholder:"TIME" help:"Not before: how long ago, as 24h, or when, as 2026-01-31."`
	Project string `placeholder:"DIR" complete:"dir" help:"Of one project; of all when absent."`
}

// Help adds to the verb's help.
func (usageCmd) Help() string {
	return `It is a view of the journal: what models answered, and what plugins asked of them, also in runs that were deleted. What a request cost is what its provider reported, else what a price block of the model or its provider in config.hcl makes of the tokens; a model on this machine costs nothing. The currency is that of the prices.

Examples:

    bothy usage
    bothy usage --by model --since 2026-01-01
    bothy usage --by run --project . --json | jq '.rows[0]'
`
}

// Run prints one line for each day, project, run or model.
func (cmd usageCmd) Run(ctx context.Context, c *console) error {
	p := rpc.UsageParams{By: cmd.By}
	var err error
	if p.Since, err = since(cmd.Since, time.Now()); err != nil {
		return err
	}
	if _, p.Project, err = c.filter("", cmd.Project); err != nil {
		return err
	}
	return query(ctx, c, func(cl *client.Client) (rpc.Usage, error) { return cl.Usage(ctx, p) }, func(u rpc.Usage) error {
		if len(u.Rows) == 0 {
			when := "yet"
			if cmd.Since != "" {
				when = "since then"
			}
			c.say("no model has answered %s", when)
			return nil
		}
		err := c.table([]string{"REQUESTS", "IN", "CACHED", "OUT", "COST", strings.ToUpper(u.By)}, each(u.Rows, usageCells))
		if err == nil && len(u.Rows) > 1 {
			err = c.lines("", fmt.Sprintf("in all: %s, %s tokens in, %s out, cost %s",
				show.Plural(u.All.Requests, "request"), strconv.Itoa(u.All.Prompt), strconv.Itoa(u.All.Completed), costWord(u.All)))
		}
		for _, note := range usageNotes(u.All) {
			c.say("%s", note)
		}
		return err
	})
}

func usageCells(r rpc.UsageRow) []string {
	return []string{strconv.Itoa(r.Requests), strconv.Itoa(r.Prompt), strconv.Itoa(r.Cached), strconv.Itoa(r.Completed), costWord(r.UsageSum), usageOf(r)}
}

// usageOf names what a row is of.
func usageOf(r rpc.UsageRow) string {
	switch {
	case r.RunID != 0 && r.Run == "":
		return fmt.Sprintf("(deleted run %d) %s", r.RunID, r.Project)
	case r.RunID != 0:
		return fmt.Sprintf("%s (%d) %s", r.Run, r.RunID, r.Project)
	case r.Day != "":
		return r.Day
	case r.Model != "":
		return r.Model
	}
	return r.Project
}

// costWord is what is known of a cost.
func costWord(s rpc.UsageSum) string {
	switch {
	case s.Cost == nil:
		return "unknown"
	case s.Unpriced > 0:
		return show.Money(*s.Cost) + " or more"
	}
	return show.Money(*s.Cost)
}

// usageNotes say what the numbers do not.
func usageNotes(s rpc.UsageSum) (notes []string) {
	if s.Unpriced > 0 {
		notes = append(notes, fmt.Sprintf("what %s cost is not known: a price block of the model or its provider in config.hcl tells for the next ones", show.Plural(s.Unpriced, "request")))
	}
	if s.Untold > 0 {
		notes = append(notes, fmt.Sprintf("the tokens of %s are not counted: their provider told none", show.Plural(s.Untold, "request")))
	}
	if s.Estimated > 0 {
		notes = append(notes, fmt.Sprintf("the tokens of %s are an estimate, and their cost the most that they could cost: their provider told none", show.Plural(s.Estimated, "request")))
	}
	return notes
}
