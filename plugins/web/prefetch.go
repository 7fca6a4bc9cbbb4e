package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/tool"
)

// A search that fetches ahead asks for a call that follows it. By then the daemon has the results, and
// knows that their addresses are none that a model wrote; each page is one call of the tool that fetches, which is
// judged as a model's is, but that nobody is asked.

const fetchTool = "web_fetch"

// pages are the arguments of the tool that only results ask for.
type pages struct {
	Addresses []string `json:"addresses" jsonschema:"the pages"`
}

// pagesAhead asks for the pages of results.
func pagesAhead(results []sdk.SearchResult) (*sdk.FollowUp, error) {
	var p pages
	for _, r := range results {
		p.Addresses = append(p.Addresses, r.Address)
	}
	arguments, err := json.Marshal(p)
	return &sdk.FollowUp{Tool: sdk.PrefetchTool, Arguments: arguments, Otherwise: "No page was fetched ahead."}, err
}

// prefetching is the tool that only results ask for.
func (s *searcher) prefetching() tool.Func {
	return tool.New(sdk.PrefetchTool, "Fetches the first pages that a search found.",
		sdk.Annotations{ReadOnly: true, OpenWorld: true}, s.fetchAhead).Whole().Unlisted()
}

// fetchAhead fetches all pages side by side. One that cannot be had is named and costs no other.
func (s *searcher) fetchAhead(ctx context.Context, p pages, _ tool.Call) (sdk.ToolResult, error) {
	if len(p.Addresses) > mostPrefetched {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "there are %d addresses; it can be %d at most", len(p.Addresses), mostPrefetched)
	}
	lines := make([]string, len(p.Addresses))
	var fetched sync.WaitGroup
	for i, address := range p.Addresses {
		fetched.Go(func() { lines[i] = s.fetchedAhead(ctx, address) })
	}
	fetched.Wait()
	if ctx.Err() != nil {
		return sdk.ToolResult{}, context.Cause(ctx)
	}
	return tool.Text("Fetched ahead; " + fetchTool + " of the same address reads what you need of them, as does get:\n" + strings.Join(lines, "\n") + "\n"), nil
}

// fetchedAhead is a line about a page that was fetched, or could not be.
func (s *searcher) fetchedAhead(ctx context.Context, address string) string {
	r, err := host.Use(ctx, s.instance+"__"+fetchTool, map[string]any{"url": address})
	if err == nil && !r.Success {
		err = errors.New(r.Error)
	}
	if err != nil {
		return fmt.Sprintf("- %s: not fetched: %s", address, brief(err.Error(), mostExcerpt))
	}
	entry, _ := r.Metadata["entry"].(string)
	title, _ := r.Metadata["title"].(string)
	switch {
	case entry == "":
		return fmt.Sprintf("- %s: nothing there could be read", address)
	case title == "":
		return "- " + entry
	}
	return fmt.Sprintf("- %s: %s", entry, brief(title, mostTitle))
}
