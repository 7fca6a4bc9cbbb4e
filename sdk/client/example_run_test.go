package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// A run is an entry: a body is a prompt, and the attributes are parameters of act.
func ExampleClient_SetEntry() {
	ctx := context.Background()
	var c client.Client
	defer func() { _ = c.Close() }()
	prompt := "find out why the build is slow"
	done, err := c.SetEntry(ctx, rpc.Set{
		Project: "/home/me/site", Path: "run://slow-build", Body: &prompt, Attributes: json.RawMessage(`{"mode":"act","noWeb":true}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Text)
	if _, err := c.SetEntry(ctx, rpc.Set{Project: "/home/me/site", Path: "run://slow-build", State: sdk.StateCancelled}); err != nil {
		log.Fatal(err)
	}
}

// A pattern lists the runs of a project, newest first.
func ExampleClient_GetEntry() {
	ctx := context.Background()
	var c client.Client
	defer func() { _ = c.Close() }()
	runs, err := c.GetEntry(ctx, rpc.Get{Project: "/home/me/site", Path: "run://slow-*"})
	if err != nil {
		log.Fatal(err)
	}
	for _, run := range runs.Entries {
		fmt.Println(run.Path, run.Status())
	}
}

// A prompt more for a run that is there interrupts nothing.
func ExampleClient_Inject() {
	ctx := context.Background()
	var c client.Client
	defer func() { _ = c.Close() }()
	queued, err := c.Inject(ctx, rpc.Inject{Project: "/home/me/site", Run: "slow-build", Message: "then write down what you found"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(queued.Ahead, "prompts come first")
}

// What a run proposes is answered by its path, as it was last read over this connection.
func ExampleClient_ResolveRun() {
	ctx := context.Background()
	c := client.Client{Role: rpc.RoleApprove}
	defer func() { _ = c.Close() }()
	waiting, err := c.Proposals(ctx, rpc.ProposalsParams{Project: "/home/me/site"})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range waiting {
		done, err := c.ResolveRun(ctx, rpc.RunResolve{Project: p.Project, Run: p.Alias, Resolution: rpc.Resolution{Path: p.Path, Action: rpc.ActionReject, Output: "leave the cache as it is"}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(done.Run, done.Status)
	}
}
