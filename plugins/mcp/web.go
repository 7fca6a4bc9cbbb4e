package main

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// withHeaders adds the headers of the block to each request to the host of its URL.
type withHeaders struct {
	to      *url.URL
	headers map[string]string
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if origin(r.URL) != origin(w.to) { // a redirect, or the endpoint of an SSE server, may name another
		r.Header.Del("Referer") // the whole URL before the redirect
	} else {
		for name, v := range w.headers {
			r.Header.Set(name, v)
		}
	}
	answer, err := w.next.RoundTrip(r)
	if err == nil && !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") { // of which the SDK bounds each event
		answer.Body = &bounded{answer.Body, mcp.DefaultMaxLineLength}
	}
	return answer, err
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
