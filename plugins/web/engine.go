package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/webguard"
)

// asked is one search of the web.
type asked struct {
	query string
	count int
	since time.Time // a day, or zero
	today time.Time
}

// engine is a search engine that answers programs. It has no connection: what is asked and
// what came back pass through searcher.
type engine interface {
	// request is how one search is asked.
	request(ctx context.Context, a asked) (*http.Request, error)
	// results are those of an answer, as it has them. They are nobody's word for anything: searcher
	// looks at each.
	results(answer []byte) ([]sdk.SearchResult, error)
	// meaning is what it says by a status that is no success, and what to do then; empty for what
	// all servers mean by it.
	meaning(status int) string
}

// engineNames are in the order in which the first that is configured is taken.
var engineNames = []string{"tavily", "brave", "searxng"}

// mostPrefetched is how many pages one search may fetch ahead.
const mostPrefetched = 5

// searcher is the engine that the settings of a block choose, with a client that goes there and nowhere
// else; nil without one.
func (s settings) searcher(instance string) (*searcher, error) {
	if s.Prefetch < 0 || s.Prefetch > mostPrefetched {
		return nil, sdk.Errorf(sdk.Validation, "prefetch is %d; it can be 0 to %d", s.Prefetch, mostPrefetched)
	}
	name := s.Engine
	for _, n := range engineNames {
		if name == "" && s.configured(n) {
			name = n
		}
	}
	switch {
	case name == "":
		return nil, nil
	case !s.configured(name):
		return nil, sdk.Errorf(sdk.Validation, "engine is %q, which is not configured: set %s", name, map[string]string{
			"tavily": "tavily_key", "brave": "brave_key", "searxng": "searxng_url"}[name])
	}
	base, origin, err := s.place(name)
	if err != nil {
		return nil, err
	}
	found := &searcher{name: name, instance: instance, origin: origin, prefetch: s.Prefetch, now: time.Now,
		http: webguard.Client(webguard.Options{Origins: []string{origin}, Only: true, MaxBytes: mostAnswer})}
	switch name {
	case "tavily":
		found.engine = tavily{base: base, key: s.TavilyKey}
	case "brave":
		found.engine = brave{base: base, key: s.BraveKey}
	case "searxng":
		found.engine = searxng{base: base}
	}
	return found, nil
}

func (s settings) configured(name string) bool {
	switch name {
	case "tavily":
		return s.TavilyKey != ""
	case "brave":
		return s.BraveKey != ""
	}
	return name == "searxng" && s.SearXNGURL != ""
}

// place is where an engine is. Nothing of an address that is refused is quoted, since a person
// may have put a password into it; nor is a key.
func (s settings) place(name string) (base, origin string, err error) {
	text, key := s.SearXNGURL, ""
	switch name {
	case "tavily":
		text, key = s.TavilyURL, s.TavilyKey
	case "brave":
		text, key = s.BraveURL, s.BraveKey
	}
	origin, err = webguard.Origin(text)
	if err != nil {
		return "", "", sdk.Errorf(sdk.Validation, "%s_url is no address of a server: %w", name, err)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.RawQuery != "" || u.Fragment != "":
		return "", "", sdk.Errorf(sdk.Validation, "%s_url has a query or a fragment: write scheme, host and path alone", name)
	case key != "" && u.Scheme != "https" && !ofThisMachine(u.Hostname()):
		return "", "", sdk.Errorf(sdk.Validation, "%s_url is not encrypted, and %s_key would go there in clear: write https://", name, name)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", "", sdk.Errorf(sdk.Validation, "%s_key has blanks or characters that no key has: set it anew", name)
	}
	return origin + strings.TrimRight(u.EscapedPath(), "/"), origin, nil
}

// ofThisMachine reports whether a host as a person writes it is the loopback.
func ofThisMachine(host string) bool {
	return host == "127.0.0.1" || host == "::1" || host == "localhost"
}

// errShape is an answer that is none of the engine's. To say what is wrong with it would quote it.
var errShape = sdk.Errorf(sdk.Unavailable, "its answer is not of the shape that it documents")

// few are the first of a list in JSON, as many as are looked at: an engine may send some hundred thousand. What is no list
// is of no shape that was documented.
type few[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (f *few[T]) UnmarshalJSON(raw []byte) error {
	in := json.NewDecoder(bytes.NewReader(raw))
	if begin, err := in.Token(); err != nil || begin != json.Delim('[') {
		return errShape
	}
	*f = few[T]{}
	for len(*f) < mostLooked && in.More() {
		var one T
		if err := in.Decode(&one); err != nil {
			return err
		}
		*f = append(*f, one)
	}
	return nil
}
