// Package modelhttp is what providers that speak HTTP share: a client whose
// timeouts can be told apart, answers that are bounded and watched while they
// stream, one table that turns a server's failure into a class, and a sender of
// what the model says. It knows no model API; a provider plugin brings its own
// dialect.
//
// Nothing in it retries, and none of its errors holds a key: the host decides
// about retries, and shows the errors to people and models.
package modelhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Timeouts are four, for each has another cause and another remedy. Zero means
// the default.
type Timeouts struct {
	Connect   time.Duration // until the server takes the connection; default 10 s
	TLS       time.Duration // for the handshake; default 10 s
	FirstByte time.Duration // from the request to the first byte of the answer's body; default 5 min, for a local server loads its model first
	Idle      time.Duration // between two bytes of the answer; default 60 s
}

// The defaults of Timeouts.
const (
	DefaultConnect   = 10 * time.Second
	DefaultTLS       = 10 * time.Second
	DefaultFirstByte = 5 * time.Minute
	DefaultIdle      = 60 * time.Second
)

// Bounds of what is read from a server.
const (
	maxErrorBody = 64 << 10
	maxJSONBody  = 16 << 20
)

// Options say which server a Client speaks to.
type Options struct {
	Base      string            // absolute URL; paths are appended to it
	Key       string            // sent as a bearer token when it is not empty
	KeyHeader string            // the header that holds Key by itself, for a server that wants no bearer token
	Headers   map[string]string // sent with every request; they may replace the one with the key
	Timeouts  Timeouts
}

// Client speaks to one server. It may be used concurrently.
type Client struct {
	base     *url.URL
	header   http.Header
	http     *http.Client
	timeouts Timeouts
	redactor redactor
}

// BaseURL is what people write of a server as the URL below which its endpoints lie: plain
// HTTP where no scheme is named, and without the tails of an endpoint's URL, each taken off in its
// turn. What is no URL stays one that is none: New says what is wrong with it, without repeating it.
func BaseURL(text string, tails ...string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	path := strings.TrimRight(u.Path, "/")
	for _, tail := range tails {
		path = strings.TrimSuffix(path, tail)
	}
	u.Path, u.RawPath, u.Fragment = path, "", ""
	return u.String()
}

// New checks the options. Close the client when it is done with.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.Base)
	if err != nil {
		// The parser's own text repeats the URL, and a key may stand in it.
		return nil, errors.New("base_url is not a URL: write one such as \"http://127.0.0.1:8080/v1\"")
	}
	if (base.Scheme != "http" && base.Scheme != "https") || base.Hostname() == "" {
		return nil, fmt.Errorf("base_url %q is not an http or https URL: write one such as \"http://127.0.0.1:8080/v1\"", base.Redacted())
	}
	header := http.Header{}
	switch {
	case o.Key == "":
	case o.KeyHeader != "":
		header.Set(o.KeyHeader, o.Key)
	default:
		header.Set("Authorization", "Bearer "+o.Key)
	}
	for name, value := range o.Headers {
		if !validHeader(name, value) {
			return nil, fmt.Errorf("header %q cannot be sent: its name or value holds characters that HTTP does not allow", name)
		}
		header.Set(name, value)
	}
	if !validHeader("Authorization", o.Key) {
		return nil, errors.New("api_key holds a line break or another control character: check how the variable is set")
	}
	c := &Client{base: base, header: header, timeouts: o.Timeouts.withDefaults(), redactor: newRedactor(o, base)}
	c.http = &http.Client{Transport: c.transport(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, nil
}

func (t Timeouts) withDefaults() Timeouts {
	for _, d := range []struct {
		value *time.Duration
		or    time.Duration
	}{{&t.Connect, DefaultConnect}, {&t.TLS, DefaultTLS}, {&t.FirstByte, DefaultFirstByte}, {&t.Idle, DefaultIdle}} {
		if *d.value <= 0 {
			*d.value = d.or
		}
	}
	return t
}

func validHeader(name, value string) bool {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("()<>@,;:\\\"/[]?={}", r) }) {
		return false
	}
	return !strings.ContainsFunc(value, func(r rune) bool { return (r < ' ' && r != '\t') || r == 0x7f })
}

func (c *Client) transport() *http.Transport {
	dialer := &net.Dialer{Timeout: c.timeouts.Connect, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: c.timeouts.TLS,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     30 * time.Second,
	}
}

// proxy is the proxy of the environment, but for a server on this machine: what it is told stays here
// also where it is named by the address at which it listens (0.0.0.0), which Go's rule does not know.
func proxy(r *http.Request) (*url.URL, error) {
	if net.ParseIP(r.URL.Hostname()).IsUnspecified() {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// Close ends idle connections; an answer that is being read is not touched.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Host is the server as errors name it: scheme, host and port, without the
// parts of a URL that may hold a key.
func (c *Client) Host() string { return c.base.Scheme + "://" + c.base.Host }

// Base is the configured URL, for a provider that also knows other paths.
func (c *Client) Base() *url.URL {
	u := *c.base
	return &u
}

// At is the same client for another path of the same server.
func (c *Client) At(path string) *Client {
	other := *c
	base := *c.base
	base.Path, base.RawPath = path, ""
	other.base = &base
	return &other
}

// Patient is the same client for answers that may stay silent for longer.
func (c *Client) Patient(idle time.Duration) *Client {
	other := *c
	other.timeouts.Idle = max(idle, c.timeouts.Idle)
	return &other
}

// Post sends body as JSON, whose raw parts stay as they are but for blank space
// between them. A status other than 2xx is a *sdk.ProviderError,
// and so is a failed connection; a cancelled ctx is ctx's error.
func (c *Client) Post(ctx context.Context, path string, body any) (*Answer, error) {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, fmt.Errorf("the request cannot be written as JSON: %w", err)
	}
	return c.do(ctx, http.MethodPost, path, structured, "application/json", raw.Bytes())
}

// Do makes a request of any kind, whose answer is read as it comes: a list of lines, a
// form. An empty contentType is none. The path may have a query. Failures are as with
// Post.
func (c *Client) Do(ctx context.Context, method, path, contentType string, body []byte) (*Answer, error) {
	return c.do(ctx, method, path, "*/*", contentType, body)
}

// Get reads a bounded JSON answer into out. The path may have a query, which is
// added to that of the base URL.
func (c *Client) Get(ctx context.Context, path string, out any) error {
	answer, err := c.do(ctx, http.MethodGet, path, structured, "", nil)
	if err != nil {
		return err
	}
	return answer.decode(out)
}

// PostJSON is Post for an answer that does not stream.
func (c *Client) PostJSON(ctx context.Context, path string, body, out any) error {
	answer, err := c.Post(ctx, path, body)
	if err != nil {
		return err
	}
	return answer.decode(out)
}

// structured are the answers of model servers.
const structured = "application/json, text/event-stream, application/x-ndjson"

func (c *Client) do(ctx context.Context, method, path, accept, contentType string, body []byte) (*Answer, error) {
	u := *c.base
	path, query, _ := strings.Cut(path, "?")
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	u.RawQuery = strings.Trim(u.RawQuery+"&"+query, "&")
	watch := newWatch(ctx, c.timeouts)
	var phase atomic.Int32
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(watch.ctx, traced(&phase)), method, u.String(), bytes.NewReader(body))
	if err != nil {
		watch.stop()
		return nil, fmt.Errorf("%s: %s", c.Host(), c.redactor.clean(innermost(err).Error()))
	}
	req.Header = c.header.Clone()
	req.Header.Set("Accept", accept)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		watch.stop()
		return nil, c.broken(ctx, watch, int(phase.Load()), err)
	}
	answer := &Answer{client: c, parent: ctx, watch: watch, body: resp.Body, Header: resp.Header}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, answer.refused(resp.StatusCode)
	}
	return answer, nil
}

// Phases of a request, for telling timeouts apart.
const (
	phaseConnect = iota
	phaseTLS
	phaseWait
	phaseBody
)

func traced(phase *atomic.Int32) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		ConnectStart:      func(string, string) { phase.Store(phaseConnect) },
		TLSHandshakeStart: func() { phase.Store(phaseTLS) },
		GotConn:           func(httptrace.GotConnInfo) { phase.Store(phaseWait) },
	}
}

func innermost(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// Failure is the error of an answer that arrived with status 200 and turned out
// to be one: a provider found an error object inside of it. Status may be 0.
func (c *Client) Failure(status int, header http.Header, body []byte) *sdk.ProviderError {
	return c.redactor.failure(c.Host(), status, header, body)
}

// Broken is the error of an answer that ended too early or cannot be read.
func (c *Client) Broken(format string, args ...any) *sdk.ProviderError {
	return c.Faulty(sdk.ClassGateway, format, args...)
}

// Faulty is Broken in another class.
func (c *Client) Faulty(class sdk.FailureClass, format string, args ...any) *sdk.ProviderError {
	return &sdk.ProviderError{Class: class, Message: c.Host() + " " + c.redactor.clean(fmt.Sprintf(format, args...))}
}

// refused reads the error body of an answer, bounded in size and time.
func (a *Answer) refused(status int) error {
	body, err := io.ReadAll(io.LimitReader(a, maxErrorBody))
	_ = a.Close() // the answer is a failure already
	if err != nil && a.parent.Err() != nil {
		return err
	}
	e := a.client.Failure(status, a.Header, body)
	if status >= 300 && status < 400 {
		e.Message = fmt.Sprintf("%s sends the request elsewhere (%s): correct base_url", a.client.Host(), a.client.redactor.clean(a.Header.Get("Location")))
	}
	return e
}
