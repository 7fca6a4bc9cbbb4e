package main

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/fact"
)

type memoryAddCmd struct {
	Key   string `arg:"" help:"What it is about, in a word or two."`
	Value string `arg:"" help:"The fact."`
	ofOwner
}

// Run remembers a fact.
func (cmd memoryAddCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) (fact.Fact, error) {
		f, err := said(cmd.Key, cmd.Value)
		if err != nil {
			return f, err
		}
		return f, cmd.keep(ctx, cl, f)
	}, told(c, func(f fact.Fact) string { return "remembered: " + f.String() }))
}

type memoryEditCmd struct {
	Key   string `arg:"" help:"The key, whatever its capitals."`
	Value string `arg:"" help:"What is to be remembered in the place of what is."`
	ofOwner
}

// Run puts a fact in the place of the one under its key. The new one is there before the old one goes.
func (cmd memoryEditCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) (fact.Fact, error) {
		was, err := cmd.under(ctx, cl, cmd.Key)
		if err != nil {
			return fact.Fact{}, err
		}
		if len(was) > 1 {
			return fact.Fact{}, sdk.Errorf(sdk.Conflict, "%d facts are under %s: `bothy memory rm` forgets them, and `bothy memory add` says it anew", len(was), cmd.Key)
		}
		f, err := said(was[0].Key, cmd.Value)
		if err == nil {
			err = cmd.keep(ctx, cl, f)
		}
		if err == nil && f.Path != was[0].Path {
			err = cmd.drop(ctx, cl, was[0])
		}
		return f, err
	}, told(c, func(f fact.Fact) string { return "remembered: " + f.String() }))
}

// said is a fact that a person gives here.
func said(key, value string) (fact.Fact, error) {
	return fact.New(key, value, fact.About{Source: fact.Explicit, Seen: time.Now().UTC()})
}
