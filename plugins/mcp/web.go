package main

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/bothyd/bothy/sdk"
)

// withHeaders adds the headers of the block, and the token of a login, to each request to the
// host of its URL.
type withHeaders struct {
	to      *url.URL
	headers map[string]string
	tokens  *tokens // nil where no login counts
	next    http.RoundTripper

	// Another address is named by the server, and asked by elsewhere unless the server is near; nil asks it as its own.
	met       *nearness
	elsewhere http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	if origin(r.URL) != origin(w.to) { // a redirect, or the endpoint of an SSE server, may name another
		r = r.Clone(r.Context())
		r.Header.Del("Referer") // the whole URL before the redirect
		if w.met != nil && !w.met.near() {
			return w.send(w.elsewhere, r)
		}
		return w.send(w.next, r)
	}
	if w.met != nil {
		r = w.met.watched(r)
	}
	token := ""
	if w.tokens != nil {
		var err error
		if token, err = w.tokens.bearer(r.Context()); err != nil {
			return nil, w.tokens.unauthorized(err)
		}
	}
	answer, err := w.send(w.next, w.dressed(r, token))
	if err != nil || w.tokens == nil || answer.StatusCode != http.StatusUnauthorized && answer.StatusCode != http.StatusForbidden {
		return answer, err
	}
	return w.refused(r, token, answer)
}

// dressed is the request with what it brings along.
func (w withHeaders) dressed(r *http.Request, token string) *http.Request {
	r = r.Clone(r.Context())
	for name, v := range w.headers {
		r.Header.Set(name, v)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

func (w withHeaders) send(through http.RoundTripper, r *http.Request) (*http.Response, error) {
	answer, err := through.RoundTrip(r)
	if err == nil && !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") { // of which the SDK bounds each event
		answer.Body = &bounded{answer.Body, mcp.DefaultMaxLineLength}
	}
	return answer, err
}

// refused tries once more with another token, where there is one, and else says what the person can do.
func (w withHeaders) refused(r *http.Request, token string, answer *http.Response) (*http.Response, error) {
	scopes, insufficient := needed(answer)
	if answer.StatusCode == http.StatusForbidden && !insufficient {
		return answer, nil // it refuses this, whoever asks
	}
	_ = answer.Body.Close()
	another, err := "", error(nil)
	if insufficient {
		another, err = w.tokens.again(r.Context(), token)
	} else {
		another, err = w.tokens.renew(r.Context(), token)
	}
	if err != nil {
		return nil, w.tokens.unauthorized(err)
	}
	if another != "" && (r.Body == nil || r.GetBody != nil) {
		once := w.dressed(r, another)
		if r.GetBody != nil {
			if once.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		if answer, err = w.send(w.next, once); err != nil {
			return nil, err
		}
		if scopes, insufficient = needed(answer); answer.StatusCode != http.StatusUnauthorized && !insufficient {
			return answer, nil
		}
		_ = answer.Body.Close()
	}
	if insufficient {
		return nil, w.tokens.insufficient(scopes)
	}
	return nil, sdk.Errorf(sdk.Unavailable, "the MCP server %s refuses the login that is kept for it: `bothy mcp login %s`", w.tokens.what, w.tokens.name)
}

// needed are the scopes that a refusal names, and whether it is for the lack of them (RFC 6750, section 3.1).
func needed(answer *http.Response) (scopes []string, insufficient bool) {
	challenges, err := oauthex.ParseWWWAuthenticate(answer.Header.Values("WWW-Authenticate"))
	if err != nil || answer.StatusCode != http.StatusForbidden {
		return nil, false
	}
	for _, c := range challenges {
		if c.Scheme == "bearer" && c.Params["error"] == "insufficient_scope" {
			return strings.Fields(c.Params["scope"]), true
		}
	}
	return nil, false
}

// bounded is the body of an answer, with an end that is an error.
type bounded struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// origin is the scheme, the host and the port of the URL.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
