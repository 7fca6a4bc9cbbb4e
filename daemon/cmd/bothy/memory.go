package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/fact"
	"github.com/bothyd/bothy/sdk/rpc"
)

type memoryCmd struct {
	Ls     memoryLsCmd     `cmd:"" default:"withargs" help:"List what is remembered."`
	Search memorySearchCmd `cmd:"" help:"Find facts by words."`
	Show   memoryShowCmd   `cmd:"" help:"Show the facts under a key, with where they come from."`
	Add    memoryAddCmd    `cmd:"" help:"Remember a fact."`
	Edit   memoryEditCmd   `cmd:"" help:"Say otherwise what is remembered under a key."`
	Rm     memoryRmCmd     `cmd:"" help:"Forget all facts under keys."`
	Export memoryExportCmd `cmd:"" help:"Print all facts as JSON."`
	Log    memoryLogCmd    `cmd:"" help:"List what was learned, and from which words."`
	Off    memoryOffCmd    `cmd:"" help:"Learn nothing of somebody, of an agent's runs or in a project."`
	On     memoryOnCmd     `cmd:"" help:"Learn there again."`
}

// Help adds to the verb's help.
func (memoryCmd) Help() string {
	return `A fact is a key and a value, as "town" and "lives in Utrecht". Agents are told those of whoever their run belongs to: yours, a person's of a channel, or a group's. The plugin memory keeps them, where the configuration has its block.

Examples:

    bothy memory
    bothy memory search utrecht
    bothy memory add editor "uses vi"
    bothy memory edit editor "uses ed"
    bothy memory rm town
    bothy memory ls --owner chat/4711
    bothy memory off --project .
`
}

// ofOwner is how a verb takes whose memory is meant.
type ofOwner struct {
	Owner string `default:"local" placeholder:"OWNER" help:"Whose memory: the label of a person's block, or of a group, as 'bothy runs list --json' has it. Yours when absent."`
}

// mostPage is how many facts are asked for at once.
const mostPage = 1000

// facts are all that is remembered of the owner, in the order in which agents are told.
func (o ofOwner) facts(ctx context.Context, cl *client.Client) ([]fact.Fact, error) {
	all := []fact.Fact{}
	p := rpc.EntriesParams{Owner: o.Owner, Pattern: fact.Every, Limit: mostPage}
	for {
		page, err := cl.Entries(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Entries {
			if f, is := fact.Of(e); is {
				all = append(all, f)
			}
		}
		if p.Offset = page.Next; page.Next == 0 {
			break
		}
	}
	slices.SortFunc(all, fact.Before)
	return all, nil
}

// under are those under a key, of which there is one at least.
func (o ofOwner) under(ctx context.Context, cl *client.Client, key string) ([]fact.Fact, error) {
	all, err := o.facts(ctx, cl)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(all, func(f fact.Fact) bool { return !f.Under(key) })
	if len(found) == 0 {
		return nil, sdk.Errorf(sdk.NotFound, "nothing is remembered under %s; `bothy memory` lists what is", key)
	}
	return found, nil
}

// keep writes a fact. One in which the daemon knows a secret, and keeps something else in its place, is none.
func (o ofOwner) keep(ctx context.Context, cl *client.Client, f fact.Fact) error {
	_, err := cl.SetEntry(ctx, rpc.Set{Owner: o.Owner, Path: f.Path, Body: &f.Value, Attributes: f.Attributes(), Visibility: sdk.Archived})
	if err != nil {
		return err
	}
	kept, err := cl.Entries(ctx, rpc.EntriesParams{Owner: o.Owner, Pattern: f.Path, Limit: 1})
	if err != nil || len(kept.Entries) == 0 {
		return err
	}
	if now, _ := fact.Of(kept.Entries[0]); now.Key == f.Key && now.Value == f.Value {
		return nil
	}
	if err := o.drop(ctx, cl, f); err != nil {
		return err
	}
	return sdk.Errorf(sdk.Validation, "a secret stands in it, and none is remembered: leave it out")
}

// drop removes a fact.
func (o ofOwner) drop(ctx context.Context, cl *client.Client, f fact.Fact) error {
	_, err := cl.RemoveEntry(ctx, rpc.Remove{Owner: o.Owner, Path: f.Path})
	return err
}

// whence is the run in which a fact was said.
func whence(f fact.Fact) string {
	if f.Run == 0 {
		return ""
	}
	return fmt.Sprintf("run %d", f.Run)
}
