package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
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
	tokens   *tokens       // of a login; nil where none counts
	renewed  func()        // called after each connection but the first was made; may be nil
	over     chan struct{} // closed when the plugin ends
	discover time.Duration // how long it may take to answer the question of the protocol of today

	mu     sync.Mutex // nothing is waited for under it
	conn   *connection
	making *attempt // a connection that is being made: all who need one wait for it
	made   int      // how many connections were made
	closed bool
	ending sync.WaitGroup // of connections that were lost; nothing is added once it is closed
}

// connection is one session, and the program that was started for it.
type connection struct {
	*mcp.ClientSession
	process *process // nil where the server is reached by HTTP
	end     context.CancelCauseFunc
}

// attempt is a connection that is being made. It is of no call: one that is cancelled
// leaves it to the others.
type attempt struct {
	end  context.CancelCauseFunc
	done chan struct{} // closed when what follows is known
	conn *connection
	err  error
}

func newServer(name string, s settings, o *mcp.ClientOptions, log *slog.Logger) *server {
	return &server{name: name, settings: s, options: o, log: log, over: make(chan struct{}), discover: min(5*time.Second, s.Timeout/2)}
}

// Why a connection that is being made is given up.
var (
	errSlow  = errors.New("the server is slow")
	errEnded = errors.New("the plugin ends")
)

// live is the connection there is; nil where a call would make one.
func (s *server) live() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// use is the connection, which is made now if there is none. A server that is gone is
// started again by the next call, not by itself: one that always fails costs nothing.
func (s *server) use(ctx context.Context) (*connection, error) {
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		return nil, s.gone()
	case s.conn != nil:
		defer s.mu.Unlock()
		return s.conn, nil
	}
	a := s.making
	if a == nil {
		// No value of the call is in it either: what the server asks later is not of that call.
		ctx, end := context.WithCancelCause(context.Background())
		a = &attempt{end: end, done: make(chan struct{})}
		s.making = a
		go s.attempt(ctx, a)
	}
	s.mu.Unlock()
	select {
	case <-a.done:
		return a.conn, a.err
	case <-s.over:
		return nil, s.gone()
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), errSlow) {
			return nil, s.fault(ctx, nil, s.slow())
		}
		return nil, ctx.Err()
	}
}

func (s *server) gone() error {
	return sdk.Errorf(sdk.Unavailable, "the MCP server %s has been ended", s.name)
}

func (s *server) slow() error {
	return fmt.Errorf("it did not answer within %v", s.settings.Timeout)
}

// attempt makes the connection that others wait for.
func (s *server) attempt(ctx context.Context, a *attempt) {
	defer close(a.done)
	late := time.AfterFunc(s.settings.Timeout, func() { a.end(errSlow) })
	c := &connection{end: a.end}
	err := s.connect(ctx, c)
	late.Stop()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	switch {
	case errors.Is(err, errSlow):
		a.err = s.fault(ctx, nil, s.slow())
	case errors.Is(err, errEnded):
		a.err = s.gone()
	case err != nil:
		a.err = s.fault(ctx, c.process, err)
	}
	if err != nil {
		c.close() // before another can be made; the SDK does not end the program after each error
	}
	again := false
	s.mu.Lock()
	s.making = nil
	switch {
	case err != nil:
	case s.closed:
		a.err = s.gone()
		defer c.close()
	default:
		again = s.made > 0
		s.made++
		s.conn, a.conn = c, c
	}
	s.mu.Unlock()
	if a.conn == nil {
		return
	}
	go func() {
		_ = c.Wait()
		s.lost(c)
	}()
	if again && s.renewed != nil {
		s.renewed()
	}
}

// connect makes the connection, which lives on in ctx.
func (s *server) connect(ctx context.Context, c *connection) (err error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "bothy", Version: sdk.Version}, s.options)
	client.AddSendingMiddleware(s.ages)
	if s.settings.Command != "" {
		c.process = &process{settings: s.settings, log: s.log}
		c.ClientSession, err = client.Connect(ctx, c.process, nil)
		return err
	}
	to, err := url.Parse(s.settings.URL)
	if err != nil {
		return err
	}
	web := &http.Client{Transport: withHeaders{
		to: to, headers: s.settings.Headers, tokens: s.tokens, next: http.DefaultTransport,
		met: new(nearness), elsewhere: outward(to, false).Transport,
	}}
	if s.settings.Transport != "sse" {
		c.ClientSession, err = client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.settings.URL, HTTPClient: web}, nil)
		var known *sdk.Error // it wants a login, by whatever way
		if err == nil || s.settings.Transport == "http" || ctx.Err() != nil || errors.As(err, &known) {
			return err
		}
		s.log.Debug("the server does not speak streamable HTTP; trying SSE", "error", sentence(err))
		var old error
		if c.ClientSession, old = client.Connect(ctx, &mcp.SSEClientTransport{Endpoint: s.settings.URL, HTTPClient: web}, nil); old == nil {
			return nil
		}
		return err // why the protocol of today fails says more
	}
	c.ClientSession, err = client.Connect(ctx, &mcp.SSEClientTransport{Endpoint: s.settings.URL, HTTPClient: web}, nil)
	return err
}

// ages bounds the wait for an answer to server/discover: a server of before 2026 may leave a
// method that it does not know without one, and is asked by initialize then.
func (s *server) ages(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method != "server/discover" {
			return next(ctx, method, r)
		}
		ctx, cancel := context.WithTimeout(ctx, s.discover)
		defer cancel()
		return next(ctx, method, r)
	}
}

// close ends the session and its program, and waits for that.
func (c *connection) close() {
	if c.ClientSession != nil {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = c.ClientSession.Close()
		}()
		select {
		case <-done:
		case <-time.After(farewell): // it waits for each call that the server does not answer
		}
	}
	if c.process != nil {
		_ = c.process.stop()
	}
	c.end(nil)
}

// lost takes a connection that has ended, or is of no use, out of use.
func (s *server) lost(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == c {
		s.conn = nil
	}
	if !s.closed { // or else close does it
		s.ending.Go(c.close) // its program may still run
	}
}

// fault is one sentence on what went wrong with the server, for model and person. p is the
// program that it went wrong with, if there is one.
func (s *server) fault(ctx context.Context, p *process, err error) error {
	var known *sdk.Error
	if errors.As(err, &known) {
		return known // without what the SDK puts before it
	}
	how := sentence(err)
	if p != nil && p.waited != nil {
		// The end of its output is read before the end of the process is known.
		select {
		case <-p.waited:
		case <-time.After(farewell):
		case <-ctx.Done():
		}
		if said := p.ended(); said != "" {
			how = said
		}
	}
	return sdk.Errorf(sdk.Unavailable, "the MCP server %s (%s) failed: %s", s.name, s.settings.source(), strings.TrimSuffix(how, "."))
}

// errLarge is what the SDK says in words of its own of a program's line.
var errLarge = fmt.Errorf("it sent a message of more than %d MB", mcp.DefaultMaxLineLength>>20)

var (
	closing = regexp.MustCompile(`^(connection closed: )?calling "[^"]*": ((client|server) is closing: |sending "[^"]*": )?`)
	inText  = regexp.MustCompile(`(?i)(https?://)(?:[^/\s"'?#@]*@)?([^/\s"'?#@]*)[^\s"']*`)
)

// sentence is the error without what the SDK puts before each, and with scheme and host
// alone of each URL: its path and its query may be secrets.
func sentence(err error) string {
	var at *url.Error
	if errors.As(err, &at) && at.Err != nil {
		err = at.Err
	}
	text := inText.ReplaceAllString(closing.ReplaceAllString(err.Error(), ""), "$1$2")
	if strings.Contains(text, "exceeded the configured maximum line length") || strings.Contains(text, errLarge.Error()) {
		return errLarge.Error()
	}
	return text
}

// close ends the connection and the server that was started for it.
func (s *server) close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.over)
	}
	c, a := s.conn, s.making
	s.mu.Unlock()
	if a != nil {
		a.end(errEnded)
		<-a.done
	}
	if c != nil {
		c.close()
	}
	s.ending.Wait()
}
