package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// searxng is an instance of SearXNG, which asks other engines: the user's own, or one that lets
// programs ask. It takes no count, and of a date only how far back.
type searxng struct{ base string }

func (s searxng) request(ctx context.Context, a asked) (*http.Request, error) {
	wanted := url.Values{"q": {a.query}, "format": {"json"}}
	if span := reach(a.since, a.today); span != "" {
		wanted.Set("time_range", span)
	}
	return http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/search?"+wanted.Encode(), nil)
}

// reach is the shortest of its spans back from today that has a day in it; empty where none has.
func reach(since, today time.Time) string {
	switch {
	case since.IsZero():
		return ""
	case !since.Before(today):
		return "day"
	case !since.Before(today.AddDate(0, 0, -28)):
		return "month"
	case !since.Before(today.AddDate(0, 0, -364)):
		return "year"
	}
	return ""
}

func (searxng) results(answer []byte) ([]sdk.SearchResult, error) {
	var read struct {
		Results few[struct {
			Title   string `json:"title"`
			URL     string `json:"url"`
			Content string `json:"content"`
			Date    string `json:"publishedDate"`
		}] `json:"results"`
		Unresponsive few[json.RawMessage] `json:"unresponsive_engines"`
	}
	if json.Unmarshal(answer, &read) != nil || read.Results == nil {
		return nil, errShape
	}
	if len(read.Results) == 0 && len(read.Unresponsive) > 0 {
		return nil, sdk.Errorf(sdk.Unavailable, "the engines that it asks do not answer it: %d of them", len(read.Unresponsive))
	}
	var all []sdk.SearchResult
	for _, r := range read.Results {
		all = append(all, sdk.SearchResult{Title: r.Title, Address: r.URL, Date: r.Date, Excerpt: r.Content})
	}
	return all, nil
}

func (searxng) meaning(status int) string {
	if status == http.StatusForbidden {
		return "it does not answer programs: a person has to add json to search.formats in its settings.yml"
	}
	return ""
}
