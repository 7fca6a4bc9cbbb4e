package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// elder reads what a server of before 2025-06-18 says of its logins: it is its own authorization server, and has
// no metadata of a resource before that. That metadata may call it by a path of the same origin, where RFC 8414
// (section 3.3), which the SDK holds all to, wants the very address. It counts by the address then, so
// that the answer to a login which names another issuer is refused as ever.
type elder struct {
	server *url.URL
	next   http.RoundTripper
	told   bool // something was found before
}

// RoundTrip implements http.RoundTripper, for one request at a time.
func (e *elder) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := e.next.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	first := !e.told
	e.told = true
	if !first || origin(r.URL) != origin(e.server) || r.URL.Path != "/.well-known/oauth-authorization-server" {
		return answer, nil
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	_ = answer.Body.Close()
	if err != nil {
		return nil, err
	}
	text = e.renamed(text)
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	answer.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return answer, nil
}

// renamed is the metadata by the address of the server.
func (e *elder) renamed(text []byte) []byte {
	var m map[string]json.RawMessage
	var issuer string
	if json.Unmarshal(text, &m) != nil || json.Unmarshal(m["issuer"], &issuer) != nil {
		return text
	}
	if u, err := url.Parse(issuer); err != nil || u.Scheme != e.server.Scheme || origin(u) != origin(e.server) {
		return text
	}
	name, _ := json.Marshal((&url.URL{Scheme: e.server.Scheme, Host: e.server.Host}).String()) // a text
	m["issuer"] = name
	if renamed, err := json.Marshal(m); err == nil {
		return renamed
	}
	return text
}
