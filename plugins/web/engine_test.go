package main

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestEngineChoice: the engine that is named is taken, else the first that is configured; what cannot
// work is said when it is configured, without a word of what may be a secret.
func TestEngineChoice(t *testing.T) {
	all := settings{TavilyURL: "https://api.tavily.com", TavilyKey: canary, BraveURL: "https://api.search.brave.com", BraveKey: canary, SearXNGURL: "http://127.0.0.1:8888"}
	with := func(change func(s *settings)) settings {
		s := all
		change(&s)
		return s
	}
	for row, c := range map[string]struct {
		settings settings
		name     string // empty: none
		says     string // of an error
	}{
		"none":            {settings{TavilyURL: all.TavilyURL, BraveURL: all.BraveURL}, "", ""},
		"the first":       {all, "tavily", ""},
		"the second":      {with(func(s *settings) { s.TavilyKey = "" }), "brave", ""},
		"the third":       {with(func(s *settings) { s.TavilyKey, s.BraveKey = "", "" }), "searxng", ""},
		"named":           {with(func(s *settings) { s.Engine = "searxng" }), "searxng", ""},
		"named without":   {with(func(s *settings) { s.Engine, s.BraveKey = "brave", "" }), "", "set brave_key"},
		"a path":          {with(func(s *settings) { s.TavilyURL = "https://proxy.example.com:8443/tavily/" }), "tavily", ""},
		"by name":         {with(func(s *settings) { s.Engine, s.SearXNGURL = "searxng", "http://searxng:8080/" }), "searxng", ""},
		"no address":      {with(func(s *settings) { s.TavilyURL = canary }), "", "tavily_url is no address"},
		"a password":      {with(func(s *settings) { s.TavilyURL = "https://me:" + canary + "@api.tavily.com" }), "", "user or a password"},
		"a query":         {with(func(s *settings) { s.TavilyURL += "?key=" + canary }), "", "has a query"},
		"a fragment":      {with(func(s *settings) { s.TavilyURL += "#" + canary }), "", "has a query"},
		"in clear":        {with(func(s *settings) { s.TavilyURL = "http://api.tavily.com" }), "", "write https://"},
		"in clear inside": {with(func(s *settings) { s.TavilyURL = "http://127.0.0.1:9000" }), "tavily", ""},
		"a broken key":    {with(func(s *settings) { s.TavilyKey += "\r\nX-Evil: 1" }), "", "tavily_key has blanks"},
		"a blank key":     {with(func(s *settings) { s.TavilyKey = " " + canary }), "", "tavily_key has blanks"},
		"too many ahead":  {with(func(s *settings) { s.Prefetch = 6 }), "", "prefetch is 6"},
		"fewer than none": {with(func(s *settings) { s.Prefetch = -1 }), "", "prefetch is -1"},
	} {
		t.Run(row, func(t *testing.T) {
			s, err := c.settings.searcher("web")
			switch {
			case c.says != "":
				if sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), c.says) {
					t.Fatal(err)
				}
				checkQuiet(t, err.Error())
			case err != nil:
				t.Fatal(err)
			case c.name == "":
				if s != nil || len(s.tools()) > 0 {
					t.Errorf("%+v", s)
				}
			case s.name != c.name:
				t.Errorf("it is %s", s.name)
			default:
				for _, f := range s.tools() {
					if strings.Contains(f.Spec().Description+string(f.Spec().Parameters), "CANARY") {
						t.Error("a key stands in what is offered")
					}
				}
			}
		})
	}
}

// TestReach: SearXNG is asked for a span that has the whole time since a day in it.
func TestReach(t *testing.T) {
	today := (asked{}).today.AddDate(2026, 5, 14)
	for ago, want := range map[int]string{0: "day", 1: "month", 28: "month", 29: "year", 364: "year", 365: "", 4000: ""} {
		if got := reach(today.AddDate(0, 0, -ago), today); got != want {
			t.Errorf("%d days ago: %q, want %q", ago, got, want)
		}
	}
	if got := reach((asked{}).since, today); got != "" {
		t.Error(got)
	}
}
