package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// tavily is api.tavily.com, whose excerpts are made for models.
type tavily struct{ base, key string }

func (t tavily) request(ctx context.Context, a asked) (*http.Request, error) {
	wanted := struct {
		Query     string `json:"query"`
		Max       int    `json:"max_results"`
		Depth     string `json:"search_depth"`
		StartDate string `json:"start_date,omitempty"`
	}{a.query, a.count, "basic", day(a.since)}
	body, err := json.Marshal(wanted)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.base+"/search", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+t.key)
	return r, nil
}

func (tavily) results(answer []byte) ([]sdk.SearchResult, error) {
	var read struct {
		Results few[struct {
			Title   string `json:"title"`
			URL     string `json:"url"`
			Content string `json:"content"`
			Date    string `json:"published_date"` // of news alone
		}] `json:"results"`
	}
	if json.Unmarshal(answer, &read) != nil || read.Results == nil {
		return nil, errShape
	}
	var all []sdk.SearchResult
	for _, r := range read.Results {
		all = append(all, sdk.SearchResult{Title: r.Title, Address: r.URL, Date: r.Date, Excerpt: r.Content})
	}
	return all, nil
}

func (tavily) meaning(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "it does not take its key: a person has to set tavily_key anew"
	case 432, 433:
		return "what its plan allows is used up: a person has to raise that, or configure another engine"
	}
	return ""
}

// day is a day as programs write it; empty for none.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}
