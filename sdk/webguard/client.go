package webguard

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	mostHeader = 64 << 10
	mostBody   = 20 << 20
)

// limits are how long an answer may take.
type limits struct {
	header time.Duration // from the beginning of a hop until its header is there
	whole  time.Duration // all hops and the body
	grace  time.Duration // how long a body may bring nothing
	floor  int64         // bytes of a body for each second in which it is waited for
}

var usual = limits{header: 10 * time.Second, whole: 30 * time.Second, grace: 5 * time.Second, floor: 1000}

// guard is the transport of a client. All rules are here, so that a client whose
// CheckRedirect somebody sets is held to them too.
type guard struct {
	options Options
	limits  limits
	network network
	http    *http.Transport
}

// Client is a client that asks for nothing but what [Options.Judge] allows, at every
// hop, and connects to public addresses alone, except for the options' origins. It
// speaks HTTP/1.1, follows five redirects and decompresses gzip. A caller may set its
// CheckRedirect to follow fewer, and has to leave its Transport as it is. Its errors,
// and those of reading a body, have a *[Refusal] unless the request's own context ended.
func Client(options Options) *http.Client {
	return &http.Client{Transport: newGuard(options, usual, outside())}
}

func newGuard(options Options, limits limits, network network) *guard {
	g := &guard{options: options.normal(), limits: limits, network: network}
	if g.options.MaxBytes <= 0 {
		g.options.MaxBytes = mostBody
	}
	var versions http.Protocols
	versions.SetHTTP1(true)
	g.http = &http.Transport{
		Proxy:                  nil, // never one from the environment, which would resolve and connect for us
		DialContext:            g.dial,
		Protocols:              &versions,
		MaxResponseHeaderBytes: mostHeader,
		DisableKeepAlives:      true, // a connection is judged for one request
	}
	return g
}

// RoundTrip judges one hop and makes it.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	h, err := g.next(req)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(req.Context(), hopKey{}, h))
	h.ctx = ctx
	whole := time.AfterFunc(time.Until(h.end), func() {
		cancel(failed(Timeout, "%s took longer than %s", h.target.host, g.limits.whole))
	})
	header := time.AfterFunc(g.limits.header, func() {
		cancel(failed(Timeout, "%s did not begin to answer within %s", h.target.host, g.limits.header))
	})
	stop := func() {
		whole.Stop()
		cancel(nil)
	}
	resp, err := g.http.RoundTrip(h.request(ctx, req))
	if late := !header.Stop(); err == nil && late {
		err = context.Cause(ctx)
		_ = resp.Body.Close() // nobody reads it
	}
	if err == nil {
		resp.Body = &body{inner: resp.Body, hop: h, limits: g.limits, caller: req.Context(), cancel: cancel, stop: stop,
			most: g.options.MaxBytes, left: g.options.MaxBytes, credit: g.limits.grace}
		if err = checkAnswer(h, resp); err != nil {
			_ = resp.Body.Close()
		}
	}
	if err != nil {
		stop()
		return nil, h.failure(req.Context(), err)
	}
	return resp, nil
}

// checkAnswer refuses an answer of which nobody could make use.
func checkAnswer(h *hop, resp *http.Response) error {
	host := h.target.host
	encoded := func(name string) bool { return name != "" && !strings.EqualFold(name, "identity") }
	switch {
	case resp.StatusCode == http.StatusSwitchingProtocols:
		return failed(Answer, "%s answers with another protocol than HTTP", host)
	case resp.Request.Method != http.MethodHead && slices.ContainsFunc(resp.Header.Values("Content-Encoding"), encoded):
		return failed(Encoding, "%s encodes its answer in a way that was not asked for", host)
	case resp.StatusCode/100 == 3 && resp.Header.Get("Location") != "":
		if _, err := h.target.url.Parse(resp.Header.Get("Location")); err != nil {
			return failed(Redirect, "%s redirects to what is no address", host)
		}
	}
	return nil
}

// failure is what becomes of an error on the way to an answer or within it.
func (h *hop) failure(caller context.Context, err error) error {
	if cause, is := errors.AsType[*Refusal](context.Cause(h.ctx)); is {
		return cause // a limit cancelled it
	}
	if caller.Err() != nil {
		return context.Cause(caller)
	}
	if refusal, is := errors.AsType[*Refusal](err); is {
		return refusal
	}
	host := h.target.host
	if unproven, is := errors.AsType[*tls.CertificateVerificationError](err); is {
		return failed(TLS, "%s does not prove to be that host: %s", host, unproved(unproven.Err)).because(err)
	}
	if strings.Contains(err.Error(), "tls: ") {
		return failed(TLS, "%s does not speak TLS as it should", host).because(err)
	}
	return failed(Answer, "%s does not answer as a web server does: %s", host, unanswered(err)).because(err)
}

// unproved and unanswered are what is wrong, in words of our own: the errors of Go quote
// what the server sent.
func unproved(err error) string {
	if _, is := errors.AsType[x509.HostnameError](err); is {
		return "its certificate is for other names"
	}
	if _, is := errors.AsType[x509.UnknownAuthorityError](err); is {
		return "nobody who is known here vouches for its certificate"
	}
	if invalid, is := errors.AsType[x509.CertificateInvalidError](err); is && invalid.Reason == x509.Expired {
		return "its certificate has expired, or is not valid yet"
	}
	return "its certificate is not valid"
}

func unanswered(err error) string {
	switch text := err.Error(); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer ends before its end"
	case strings.Contains(text, "exceeded"):
		return "the header is larger than 64 KiB"
	case strings.Contains(text, "gzip"):
		return "the body is not the gzip that it is said to be"
	}
	return "what it sends is no HTTP/1.1, or the connection broke"
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // a transport does; there is nobody to tell
	}
}
