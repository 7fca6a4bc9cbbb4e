package main

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk/rpc"
)

// mostValues is how many values a completion has (MCP, completion).
const mostValues = 100

// complete completes the name of a run in a resource's URI. Of a skill's input nothing is known.
func (b *bridge) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	r := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	ref := req.Params.Ref
	if ref == nil || !strings.HasPrefix(ref.URI, runsURI) || req.Params.Argument.Name != "run" {
		return r, nil
	}
	runs, err := repeat(ctx, b, func() ([]rpc.RunSummary, error) {
		return b.cl.Runs(ctx, rpc.RunsParams{Project: b.o.project, Last: true, Limit: 10 * mostValues})
	})
	if err != nil {
		return nil, fault(err)
	}
	for _, x := range runs {
		if !strings.HasPrefix(x.Alias, req.Params.Argument.Value) {
			continue
		}
		if len(r.Completion.Values) == mostValues {
			r.Completion.HasMore = true
			break
		}
		r.Completion.Values = append(r.Completion.Values, x.Alias)
	}
	return r, nil
}
