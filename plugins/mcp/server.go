package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
)

// server is the connection to one server of MCP, which is made anew when it broke.
type server struct {
	name     string
	settings settings
	options  *mcp.ClientOptions
	log      *slog.Logger

	making chan struct{}      // holds something while a connection is made: others wait for that one
	life   context.Context    // ends with the plugin
	end    context.CancelFunc // ends life

	mu      sync.Mutex // nothing is waited for under it
	session *mcp.ClientSession
	process *process // of the connection that was made last, when it is a program
}

func newServer(name string, s settings, o *mcp.ClientOptions, log *slog.Logger) *server {
	life, end := context.WithCancel(context.Background())
	return &server{name: name, settings: s, options: o, log: log, making: make(chan struct{}, 1), life: life, end: end}
}

// live is the session there is; nil where a call would make one.
func (s *server) live() *mcp.ClientSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

// use is the session, of a connection that is made now if there is none. A server that is
// gone is started again by the next call, not by itself: one that always fails costs nothing.
func (s *server) use(ctx context.Context) (*mcp.ClientSession, error) {
	select {
	case s.making <- struct{}{}:
		defer func() { <-s.making }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.life.Done():
	}
	if session := s.live(); session != nil {
		return session, nil
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case s.life.Err() != nil:
		return nil, sdk.Errorf(sdk.Unavailable, "the MCP server %s has been ended", s.name)
	}
	// The connection lives on in the context that it is made with.
	live, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
	context.AfterFunc(s.life, func() { end(context.Cause(s.life)) })
	slow := time.AfterFunc(s.settings.Timeout, func() { end(errSlow) })
	session, err := s.connect(live)
	if !slow.Stop() && err == nil {
		_ = session.Close()
		err = errSlow
	}
	if err != nil {
		end(err)
		if errors.Is(context.Cause(live), errSlow) {
			err = fmt.Errorf("it did not answer within %v", s.settings.Timeout)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, s.fault(err)
	}
	s.mu.Lock()
	s.session = session
	s.mu.Unlock()
	go func() {
		_ = session.Wait()
		end(nil)
		s.lost(session)
	}()
	return session, nil
}

// errSlow ends a connection that is not made within the timeout of the block.
var errSlow = errors.New("the server is slow")

func (s *server) connect(ctx context.Context) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "bothy", Version: sdk.Version}, s.options)
	if s.settings.Command != "" {
		p := &process{settings: s.settings, log: s.log}
		s.mu.Lock()
		s.process = p
		s.mu.Unlock()
		return client.Connect(ctx, p, nil)
	}
	to, err := url.Parse(s.settings.URL)
	if err != nil {
		return nil, err
	}
	web := &http.Client{Transport: withHeaders{to, s.settings.Headers, http.DefaultTransport}}
	if s.settings.Transport != "sse" {
		session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.settings.URL, HTTPClient: web}, nil)
		if err == nil || s.settings.Transport == "http" || ctx.Err() != nil {
			return session, err
		}
		s.log.Debug("the server does not speak streamable HTTP; trying SSE", "error", err)
		if session, old := client.Connect(ctx, &mcp.SSEClientTransport{Endpoint: s.settings.URL, HTTPClient: web}, nil); old == nil {
			return session, nil
		}
		return nil, err // why the protocol of today fails says more
	}
	return client.Connect(ctx, &mcp.SSEClientTransport{Endpoint: s.settings.URL, HTTPClient: web}, nil)
}

// lost takes a session that has ended out of use.
func (s *server) lost(session *mcp.ClientSession) {
	s.mu.Lock()
	if s.session == session {
		s.session = nil
	}
	s.mu.Unlock()
	go func() { _ = session.Close() }() // its program may still run
}

// fault is one sentence on what went wrong with the server, for model and person.
func (s *server) fault(err error) error {
	var known *sdk.Error
	if errors.As(err, &known) {
		return err
	}
	how := err.Error()
	s.mu.Lock()
	p := s.process
	s.mu.Unlock()
	if p != nil && p.waited != nil {
		// The end of its output is read before the end of the process is known.
		select {
		case <-p.waited:
		case <-time.After(farewell):
		}
		if said := p.ended(); said != "" {
			how = said
		}
	}
	return sdk.Errorf(sdk.Unavailable, "the MCP server %s (%s) failed: %s", s.name, s.settings.source(), strings.TrimSuffix(how, "."))
}

// close ends the connection and the server that was started for it.
func (s *server) close() {
	s.end()
	s.making <- struct{}{} // a connection under way is given up
	defer func() { <-s.making }()
	s.mu.Lock()
	session := s.session
	s.session = nil
	s.mu.Unlock()
	if session != nil {
		_ = session.Close()
	}
}

// withHeaders adds the headers of the block to each request.
type withHeaders struct {
	to      *url.URL
	headers map[string]string
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.URL.Scheme == w.to.Scheme && r.URL.Host == w.to.Host { // a redirect, or the endpoint of an SSE server, may name another
		for name, v := range w.headers {
			r.Header.Set(name, v)
		}
	}
	return w.next.RoundTrip(r)
}
