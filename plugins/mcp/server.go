package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
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

	mu      sync.Mutex // held while a connection is made: others wait for that one
	session *mcp.ClientSession
	process *process // of session, when it is a program
}

// use is the session, of a connection that is made now if there is none. A server that is
// gone is started again by the next call, not by itself: one that always fails costs nothing.
func (s *server) use(ctx context.Context) (*mcp.ClientSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		return s.session, nil
	}
	// The connection lives on in the context that it is made with.
	live, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
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
		return nil, s.fault(err)
	}
	s.session = session
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
		s.process = &process{settings: s.settings, log: s.log}
		return client.Connect(ctx, s.process, nil)
	}
	web := &http.Client{Transport: withHeaders{s.settings.Headers, http.DefaultTransport}}
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
	defer s.mu.Unlock()
	if s.session == session {
		s.session = nil
	}
}

// fault is one sentence on what went wrong with the server, for model and person.
func (s *server) fault(err error) error {
	var known *sdk.Error
	if errors.As(err, &known) {
		return err
	}
	how := err.Error()
	if s.process != nil && s.process.waited != nil {
		// The end of its output is read before the end of the process is known.
		select {
		case <-s.process.waited:
		case <-time.After(farewell):
		}
		if said := s.process.ended(); said != "" {
			how = said
		}
	}
	return sdk.Errorf(sdk.Unavailable, "the MCP server %s (%s) failed: %s", s.name, s.settings.source(), strings.TrimSuffix(how, "."))
}

// close ends the connection and the server that was started for it.
func (s *server) close() {
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
	headers map[string]string
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, v := range w.headers {
		r.Header.Set(name, v)
	}
	return w.next.RoundTrip(r)
}
