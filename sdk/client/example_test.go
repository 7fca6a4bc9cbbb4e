package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// A prompt is answered at once; what comes of it is read from the journal, behind the position that the
// answer says, until its loop has ended.
func ExampleClient_Follow() {
	ctx := context.Background()
	var c client.Client
	defer func() { _ = c.Close() }()
	accepted, err := c.Act(ctx, rpc.Prompt{Project: "/home/me/demo", Prompt: "run the tests"})
	if err != nil {
		log.Fatal(err)
	}
	err = c.Follow(ctx, client.Watch{Run: accepted.ID, After: accepted.Seq}, func(e client.Event) error {
		if e.Row.Kind == sdk.KindLoopEnded && e.Row.Loop == accepted.Loop {
			return client.ErrDone
		}
		fmt.Println(e.Row.Kind, e.Row.Path)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
}

// A front end of one project is told how its runs are. It answers nothing here: what waits is printed.
func ExampleClient_FollowStates() {
	var c client.Client
	err := c.FollowStates(context.Background(), rpc.Init{ProjectRoot: "/home/me/demo"}, func(t client.Told) error {
		switch {
		case t.State != nil:
			fmt.Println(t.State.Run, t.State.Status, t.State.Summary)
		case t.Proposal != nil:
			fmt.Println(t.Proposal.Run, "waits for an answer to", t.Proposal.Proposed[0].Path)
		case t.Notify != nil:
			fmt.Println(t.Notify.Run, t.Notify.Text)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err) // client.ErrDisconnected: call it again, and read by Run what was missed
	}
}

// A run can be given less than its agent and its model have, from its next prompt on.
func ExampleClient_Configure() {
	var c client.Client
	defer func() { _ = c.Close() }()
	cool, yes := 0.2, true
	now, err := c.Configure(context.Background(), rpc.RunConfig{Project: "/home/me/demo", Run: "release", RunOptions: rpc.RunOptions{Temperature: &cool, NoWeb: &yes}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(now.Run, "works with", now.Model)
}

// A model gets a name of one's own. That is written into the configuration, so the client needs the role admin.
func ExampleClient_AddModel() {
	ctx := context.Background()
	c := client.Client{Role: rpc.RoleAdmin}
	defer func() { _ = c.Close() }()
	_, err := c.AddModel(ctx, rpc.ModelAdd{Alias: "fast", Actual: "groq/llama-3.3-70b-versatile", ContextLength: 131072})
	if sdk.OutcomeOf(err) == sdk.Conflict {
		fmt.Println("fast is another model already")
	} else if err != nil {
		log.Fatal(err)
	}
}
