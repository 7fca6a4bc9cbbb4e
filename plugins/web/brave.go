package main

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// brave is api.search.brave.com, which has an index of its own.
type brave struct{ base, key string }

func (b brave) request(ctx context.Context, a asked) (*http.Request, error) {
	wanted := url.Values{"q": {a.query}, "count": {strconv.Itoa(a.count)}, "result_filter": {"web"}, "text_decorations": {"false"}}
	if !a.since.IsZero() {
		wanted.Set("freshness", day(a.since)+"to"+day(a.today))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+"/res/v1/web/search?"+wanted.Encode(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Subscription-Token", b.key)
	return r, nil
}

func (brave) results(answer []byte) ([]sdk.SearchResult, error) {
	var read struct {
		Type string `json:"type"` // "search", also where nothing was found and Web is left out
		Web  struct {
			Results few[struct {
				Title       string `json:"title"`
				URL         string `json:"url"`
				Description string `json:"description"`
				PageAge     string `json:"page_age"`
			}] `json:"results"`
		} `json:"web"`
	}
	if json.Unmarshal(answer, &read) != nil || read.Type != "search" && read.Web.Results == nil {
		return nil, errShape
	}
	var all []sdk.SearchResult
	for _, r := range read.Web.Results {
		all = append(all, sdk.SearchResult{Title: plainText(r.Title), Address: r.URL, Date: r.PageAge, Excerpt: plainText(r.Description)})
	}
	return all, nil
}

// marks are what it sets around the words that were looked for, asked not to or not.
var marks = strings.NewReplacer("<strong>", "", "</strong>", "")

// plainText is a text that it has as HTML.
func plainText(text string) string { return html.UnescapeString(marks.Replace(text)) }

func (brave) meaning(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "it does not take its key: a person has to set brave_key anew"
	case http.StatusUnprocessableEntity:
		return "it does not take the query, or its key: write other words, and if it refuses those too a person has to set brave_key anew"
	case http.StatusPaymentRequired:
		return "what its plan allows is used up: a person has to raise that, or configure another engine"
	}
	return ""
}
