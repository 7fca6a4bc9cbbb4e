package main

import (
	"context"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// proposalNames are the ids of what waits for an answer.
func proposalNames(ctx context.Context, cl *client.Client) []candidate {
	list, err := cl.Proposals(ctx, rpc.ProposalsParams{Limit: 50})
	if err != nil {
		return nil
	}
	var found []candidate
	for _, p := range list {
		text := p.Command
		if text == "" {
			text = p.Tool
		}
		found = append(found, candidate{p.ID, shorten(oneLine(text), 60)})
	}
	return found
}

// ruleNames are the ids of the rules that can be forgotten.
func ruleNames(ctx context.Context, cl *client.Client) []candidate {
	list, err := cl.Rules(ctx, rpc.RulesParams{})
	if err != nil {
		return nil
	}
	var found []candidate
	for _, r := range list.Remembered {
		found = append(found, candidate{r.ID, shorten(oneLine(ruleText(r.PolicyRule)), 60)})
	}
	return found
}
