package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// hashFlag says which version of a proposal an answer is about.
type hashFlag struct {
	Hash string `placeholder:"HASH" help:"The proposal's hash as it was shown, whole or its first 12 digits: what changed since is not answered."`
}

type proposalsAcceptCmd struct {
	proposalArg
	hashFlag
	Remember string `enum:",call,command,host,tool" default:"" placeholder:"WHAT" help:"Leave a rule, so that the like is not asked again in the project: this very call, its commands as they stand, the host that it asks, or this tool."`
	Yes      bool   `short:"y" help:"Do not ask on the terminal."`
}

// Help adds to the verb's help.
func (proposalsAcceptCmd) Help() string {
	return `Shows what would run and asks, as 'bothy run' does. Without a terminal it takes the hash of what was shown: nobody accepts what they have not seen. Only the one who answers first is heard; an answer to something that changed or expired is a conflict, and nothing runs.

Examples:

    bothy proposals accept 1a2b3c4d
    bothy proposals accept 1a2b3c4d --hash 0f1e2d3c4b5a
    bothy proposals accept 1a2b3c4d --remember command
`
}

// Run shows the proposal, asks, and accepts.
func (cmd proposalsAcceptCmd) Run(ctx context.Context, c *console) error {
	return c.withProposal(ctx, cmd.ID, cmd.Hash, func(cl *client.Client, p sdk.Proposal) error {
		if p.Question != nil {
			if c.asks() && !cmd.Yes {
				return (&asker{c: c, cl: cl}).askQuestion(ctx, p)
			}
			return usageError{fmt.Sprintf("proposal %[1]s asks something: `bothy proposals answer %[1]s FIELD=VALUE` answers it, `bothy proposals show %[1]s` has the fields", c.exact(p.ID))}
		}
		if !c.asks() && cmd.Hash == "" {
			return usageError{fmt.Sprintf("there is no terminal to ask on: say --hash with the hash that `bothy proposals show %s` shows", cmd.ID)}
		}
		if why := show.Unfit(p); why != "" {
			return sdk.Errorf(sdk.Conflict, "%s", why)
		}
		if err := c.showToAnswer(p); err != nil {
			return err
		}
		if c.asks() && !cmd.Yes {
			text := "Run it? [y/N] "
			if cmd.Remember != "" {
				text = "Run it, and remember the " + cmd.Remember + "? [y/N] "
			}
			line, err := (&asker{c: c, cl: cl}).prompt(ctx, text)
			if err != nil {
				return err
			}
			if word := strings.ToLower(strings.TrimSpace(line)); word != "y" && word != "yes" {
				c.say("it waits on: `bothy proposals reject %s` refuses it", c.exact(p.ID))
				return exitError{code: exitUnanswered}
			}
		}
		return c.resolve(ctx, cl, rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept, Remember: sdk.Remember(cmd.Remember)})
	})
}

// showToAnswer shows what is answered to who follows this on standard error;
// --json has it in the answer.
func (c *console) showToAnswer(p sdk.Proposal) error {
	if c.json {
		return nil
	}
	return c.propose(p, false)
}

type proposalsRejectCmd struct {
	proposalArg
	hashFlag
	Reason string `placeholder:"TEXT" help:"What the model is told."`
}

// Run rejects. It asks nothing: what is rejected can be proposed again.
func (cmd proposalsRejectCmd) Run(ctx context.Context, c *console) error {
	return c.withProposal(ctx, cmd.ID, cmd.Hash, func(cl *client.Client, p sdk.Proposal) error {
		return c.resolve(ctx, cl, rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Reject, Reason: cmd.Reason})
	})
}

type proposalsEditCmd struct {
	proposalArg
	hashFlag
	Arguments string `placeholder:"JSON" help:"The arguments to take instead, a JSON object; an editor is opened when absent."`
}

// Help adds to the verb's help.
func (proposalsEditCmd) Help() string {
	return `Opens $VISUAL or $EDITOR on the command, or on the arguments of a tool that runs none. What comes back is judged again: it runs when it needs no asking, waits as a proposal with another hash when it does, and is refused when it is denied.

Examples:

    bothy proposals edit 1a2b3c4d
    bothy proposals edit 1a2b3c4d --arguments '{"command": "go test ./..."}' --hash 0f1e2d3c4b5a
`
}

// Run changes the proposal and answers with it.
func (cmd proposalsEditCmd) Run(ctx context.Context, c *console) error {
	return c.withProposal(ctx, cmd.ID, cmd.Hash, func(cl *client.Client, p sdk.Proposal) error {
		arguments := json.RawMessage(cmd.Arguments)
		var object map[string]json.RawMessage
		switch {
		case cmd.Arguments != "" && (json.Unmarshal(arguments, &object) != nil || object == nil):
			return usageError{"--arguments must be a JSON object"}
		case cmd.Arguments == "" && !c.asks():
			return usageError{"there is no terminal to edit on: say --arguments JSON"}
		case cmd.Arguments == "":
			if err := c.showToAnswer(p); err != nil {
				return err
			}
			edited, err := (&asker{c: c, cl: cl}).edited(ctx, p)
			if err != nil {
				return err
			}
			if arguments = edited; arguments == nil {
				c.say("nothing was changed, and it waits on")
				return exitError{code: exitUnanswered}
			}
		}
		return c.resolve(ctx, cl, rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Edit, Arguments: arguments})
	})
}

// withProposal reads a proposal that waits and is the one that the hash names.
func (c *console) withProposal(ctx context.Context, id, hash string, do func(*client.Client, sdk.Proposal) error) error {
	if hash != "" && len(hash) < show.ShortHash {
		return usageError{fmt.Sprintf("--hash takes at least %d digits", show.ShortHash)}
	}
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	p, err := cl.Proposal(ctx, id)
	switch {
	case err != nil:
		return err
	case p.State != sdk.StateProposed:
		return sdk.Errorf(sdk.Conflict, "proposal %s does not wait any more (%s): nothing was done", id, proposalState(p))
	case !strings.HasPrefix(p.Hash, strings.ToLower(hash)):
		return sdk.Errorf(sdk.Conflict, "proposal %s has the hash %s by now: it is not what you saw, and nothing was done; `bothy proposals show %s` shows what it is", id, p.Hash, id)
	}
	return do(cl, p)
}

// resolve answers and says what came of it. Somebody who was faster is an error:
// this answer did nothing.
func (c *console) resolve(ctx context.Context, cl *client.Client, r rpc.Resolve) error {
	resolved, err := start.Again(ctx, c.daemon(), cl, func() (rpc.Resolved, error) { return cl.Resolve(ctx, r) })
	if errors.Is(err, client.ErrDisconnected) {
		return fmt.Errorf("%w: `bothy proposals show %s` tells whether the answer arrived", err, r.ID)
	}
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(resolved)
	}
	p := resolved.Proposal
	alias := c.exact(p.Alias)
	switch {
	case p.Question != nil && r.Answer == sdk.Accept:
		c.say("answered; `bothy runs show %s` tells how run %s goes on", alias, alias)
	case p.Question != nil:
		c.say("not answered, which the plugin is told; `bothy runs show %s` tells how run %s goes on", alias, alias)
	case r.Answer == sdk.Reject:
		c.say("rejected; `bothy runs show %s` tells how run %s goes on", alias, alias)
	case p.State == sdk.StateProposed:
		c.say("it has to be asked about as it is now: `bothy proposals accept %s`", c.exact(p.ID))
	default:
		c.say("accepted; `bothy runs show %s` tells how run %s goes on", alias, alias)
	}
	c.sayRule(resolved.Rule)
	return nil
}
