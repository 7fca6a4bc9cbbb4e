package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/rpc"
)

// The environment variables that make this binary the plugin front, with a
// project that is not its own, and the plugin veto, with a file that keeps it
// from starting.
const (
	playFront = "BOTHY_TEST_FRONT"
	frontAsks = "BOTHY_TEST_FRONT_ASKS" // prompts that front gives in the place of what it tries
	frontLent = "BOTHY_TEST_FRONT_LENT" // front uses what a channel is lent besides, and tells what came of it
	playVeto  = "BOTHY_TEST_VETO"
)

// serveFront serves a channel that makes a run in its project, tries what is not
// its own, and tells what it was answered.
func serveFront() {
	plugin.Serve(plugin.Options{
		Name: "front", Version: "1", Schemes: []sdk.Scheme{channel.Keeps("front")},
		Channel: channel.Func(func(ctx context.Context, access channel.Access, say func(string)) error {
			c := client.Client{Socket: access.Socket, Token: access.Token, Name: "front"}
			defer func() { _ = c.Close() }() // all was said
			if os.Getenv(frontLent) != "" {
				say(frontUses(ctx, &c, access))
				frontClaims(ctx, &c, say)
				return ctx.Err()
			}
			if file := os.Getenv(frontSweep); file != "" {
				return serveSweep(ctx, &c, access, file, say)
			}
			if file := os.Getenv(frontAnswers); file != "" {
				return servePresses(ctx, access, file)
			}
			if file := os.Getenv(frontSpies); file != "" {
				err := serveSpy(ctx, access, file)
				say(fmt.Sprintf("spied: %v", err))
				<-ctx.Done()
				return err
			}
			if asks := os.Getenv(frontAsks); asks != "" {
				say(fmt.Sprintf("asked: %v", frontPrompts(ctx, &c, access.Projects[0], asks)))
				<-ctx.Done()
				return ctx.Err()
			}
			var told []string
			for _, try := range []struct {
				what, method string
				params       any
			}{
				{"own", rpc.MethodStartRun, rpc.StartRun{Project: access.Projects[0], Run: "from-front", From: &sdk.From{Person: "ada"}}},
				{"other", rpc.MethodStartRun, rpc.StartRun{Project: os.Getenv(playFront), Run: "from-front", From: &sdk.From{Person: "ada"}}},
				{"stranger", rpc.MethodStartRun, rpc.StartRun{Project: access.Projects[0], Run: "of-eve", From: &sdk.From{Person: "eve"}}},
				{"resolve", rpc.MethodResolve, rpc.Resolve{ID: "0000", Hash: "x", Answer: sdk.Accept}},
				{"status", rpc.MethodStatus, nil},
				{"rows", rpc.MethodJournal, nil},
			} {
				var answer any
				err := c.Call(ctx, try.method, try.params, &answer)
				outcome := "done"
				if err != nil {
					outcome = string(sdk.OutcomeOf(err))
				}
				told = append(told, try.what+" "+outcome)
			}
			say("told: " + strings.Join(told, ", "))
			<-ctx.Done()
			return ctx.Err()
		}),
	})
}

// frontUses counts how often it was served, by an entry that it keeps, puts a file into the folder of a run and fetches it,
// and tells whom it may serve. It gives the same message each time.
func frontUses(ctx context.Context, c *client.Client, access channel.Access) string {
	count := 0
	if kept, err := c.Entries(ctx, rpc.EntriesParams{Pattern: "front://**"}); err != nil {
		return err.Error()
	} else if len(kept.Entries) > 0 {
		count = len(kept.Entries[0].Body)
	}
	body := strings.Repeat("x", count+1)
	if _, err := c.SetEntry(ctx, rpc.Set{Path: "front://served", Body: &body}); err != nil {
		return err.Error()
	}
	given, err := c.Act(ctx, rpc.Prompt{
		Project: access.Projects[0], Run: fmt.Sprintf("run-%d", count), Prompt: fmt.Sprintf("call list_directory {\"path\":\".\"} %d", count),
		From: &sdk.From{Person: "ada", Message: "17"},
	})
	if err != nil {
		return err.Error()
	}
	name, err := c.PutFile(ctx, given.Run, access.Projects[0], "../report.txt", 3, strings.NewReader("sum"))
	if err != nil {
		return err.Error()
	}
	data, err := c.FetchFile(ctx, fmt.Sprint(given.ID), "", "/workspace/"+name)
	if err != nil {
		return err.Error()
	}
	listed, err := c.People(ctx, rpc.PeopleParams{})
	if err != nil {
		return err.Error()
	}
	var names []string
	for _, p := range listed.People {
		names = append(names, p.Called)
	}
	agents, err := c.Agents(ctx, rpc.AgentsParams{Project: access.Projects[0], Untrusted: true})
	if err != nil {
		return err.Error()
	}
	spies := 0
	for _, a := range agents {
		if a.Name == "spy" || a.Place != "" {
			spies++
		}
	}
	_, spied := c.Act(ctx, rpc.Prompt{Project: access.Projects[0], Prompt: "hello", Agent: "spy", From: &sdk.From{Person: "ada"}})
	skills, err := c.Skills(ctx, rpc.SkillQuery{Project: access.Projects[0]})
	if err != nil {
		return err.Error()
	}
	for _, s := range skills.Skills {
		if s.Name == "tell" {
			spies++
		}
	}
	return fmt.Sprintf("served %d times; in %s as prompt %d; %s has %q; for %v, a code waits: %v; of the project: %d, %s", count+1, given.Run, given.Sequence, name, data, names, listed.Pairing, spies, sdk.OutcomeOf(spied))
}

// frontClaims passes on the codes that it finds in a file, as people send them, until ctx ends.
func frontClaims(ctx context.Context, c *client.Client, say func(string)) {
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		text, _ := os.ReadFile(os.Getenv(frontLent)) // it is not there mostly
		for _, word := range strings.Fields(string(text)) {
			if sdk.PairingCode(word) == "" {
				continue
			}
			listed, err := c.People(ctx, rpc.PeopleParams{})
			if err != nil || !listed.Pairing {
				continue
			}
			err = c.Claim(ctx, rpc.Claim{Code: word, From: &sdk.From{Person: "eve"}, Name: "Eve"})
			say(fmt.Sprintf("claimed: %v", err))
		}
	}
}

// frontPrompts gives prompts, a JSON array of them, in a project.
func frontPrompts(ctx context.Context, c *client.Client, project, asks string) error {
	var all []rpc.Prompt
	if err := json.Unmarshal([]byte(asks), &all); err != nil {
		return err
	}
	for _, p := range all {
		p.Project = project
		if err := c.Call(ctx, rpc.MethodAct, p, nil); err != nil {
			return err
		}
	}
	return nil
}

// serveVeto serves a hook without which no action is recorded, and which lets no
// rm pass.
func serveVeto() {
	if _, err := os.Stat(os.Getenv(playVeto)); err == nil {
		fmt.Fprintln(os.Stderr, "told to stay away")
		os.Exit(3)
	}
	plugin.Serve(plugin.Options{
		Name: "veto", Version: "1",
		Hook: hook.Set{hook.Filter("entry.recording", func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
			if r.Tool == "rm" {
				r.State, r.Outcome, r.Body = sdk.StateFailed, sdk.Permission, "nothing is removed here"
			}
			return r, nil
		}).Closed().Priority(0)},
	})
}
