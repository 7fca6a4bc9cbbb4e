package main

import (
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type entriesSetCmd struct {
	Path string  `arg:"" help:"The entry's path; or a pattern, without a text or with --pattern."`
	Body *string `arg:"" optional:"" name:"text" help:"The whole text; - reads it from standard input. Absent it stays as it is."`
	ofRun
	Append     bool   `help:"Put the text behind what is there."`
	Summary    string `help:"What it is about, in 80 characters."`
	Visibility string `enum:",visible,summarized,archived" default:"" placeholder:"LEVEL" help:"visible, summarized or archived."`
	State      string `enum:",resolved,failed,cancelled" default:"" placeholder:"STATE" help:"resolved, failed or cancelled."`
	Outcome    string `help:"Why it failed or was cancelled, in a word."`
	Attributes string `placeholder:"JSON" help:"An object that is merged into the attributes; null removes one."`
	Pattern    bool   `help:"The path is a pattern, and all that fit get the text."`
	Filter     string `placeholder:"PATTERN" help:"Only entries whose text has it."`
}

// Run says what was done.
func (cmd entriesSetCmd) Run(ctx context.Context, c *console) error {
	if cmd.Body != nil && *cmd.Body == "-" {
		text, err := c.readInput()
		if err != nil {
			return err
		}
		cmd.Body = &text
	}
	var attributes json.RawMessage
	if cmd.Attributes != "" {
		if attributes = json.RawMessage(cmd.Attributes); !json.Valid(attributes) {
			return usageError{"--attributes is no JSON"}
		}
	}
	return queryRun(ctx, c, cmd.of(cmd.Path), func(cl *client.Client, ctx context.Context, run rpc.RunRef) (sdk.EntryDone, error) {
		return cl.SetEntry(ctx, rpc.Set{
			Run: run.Run, Project: run.Project, Path: cmd.Path, Body: cmd.Body, Append: cmd.Append, Summary: cmd.Summary,
			Visibility: sdk.Visibility(cmd.Visibility), State: sdk.State(cmd.State), Outcome: sdk.Outcome(cmd.Outcome),
			Attributes: attributes, Pattern: cmd.Pattern, Filter: cmd.Filter,
		})
	}, done(c))
}
