package modelhttp

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Answer is a streaming answer. Reading fails with a *sdk.ProviderError when
// nothing came for too long or the connection broke; io.EOF is a proper end of
// the HTTP message, which says nothing about the stream inside of it.
type Answer struct {
	Header http.Header

	client *Client
	parent context.Context
	watch  *watch
	body   io.ReadCloser
}

// Read waits for the next bytes, at most for the timeout that holds now. The
// time the caller takes between two reads does not count.
func (a *Answer) Read(p []byte) (int, error) {
	a.watch.begin()
	n, err := a.body.Read(p)
	a.watch.end(n > 0)
	if err != nil && err != io.EOF {
		err = a.client.broken(a.parent, a.watch, phaseBody, err)
	}
	return n, err
}

// Hurry shortens the time that the rest of the answer may take between two
// bytes: what matters has come.
func (a *Answer) Hurry(idle time.Duration) { a.watch.hurry(idle) }

// Close ends the answer, read to its end or not.
func (a *Answer) Close() error {
	err := a.body.Close()
	a.watch.stop()
	return err
}

func (a *Answer) decode(out any) error {
	raw, err := io.ReadAll(io.LimitReader(a, maxJSONBody+1))
	_ = a.Close() // read as far as it was wanted
	if err != nil {
		return err
	}
	if len(raw) > maxJSONBody {
		return a.client.Broken("sent more than %d MiB", maxJSONBody>>20)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return a.client.Broken("did not answer with the JSON that was expected: %v", err)
	}
	return nil
}

var (
	errFirstByte = errors.New("no first byte")
	errIdle      = errors.New("idle")
)

// watch cancels a request whose answer does not come. It runs while a read
// waits, and rests while the caller works.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	timer   *time.Timer
	limit   time.Duration
	cause   error
	idle    time.Duration
	running bool
}

func newWatch(parent context.Context, t Timeouts) *watch {
	w := &watch{limit: t.FirstByte, idle: t.Idle, cause: errFirstByte, running: true}
	w.ctx, w.cancel = context.WithCancelCause(parent)
	w.timer = time.AfterFunc(w.limit, w.expire)
	return w
}

func (w *watch) expire() {
	w.mu.Lock()
	running, cause := w.running, w.cause
	w.mu.Unlock()
	if running {
		w.cancel(cause)
	}
}

func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running { // the first read goes on with the time that the headers left
		w.running = true
		w.timer.Reset(w.limit)
	}
}

func (w *watch) end(got bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	w.timer.Stop()
	if got {
		w.limit, w.cause = w.idle, errIdle
	}
}

func (w *watch) hurry(idle time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle, w.limit = min(w.idle, idle), min(w.limit, idle)
}

func (w *watch) stop() {
	w.mu.Lock()
	w.running = false
	w.timer.Stop()
	w.mu.Unlock()
	w.cancel(nil)
}

// broken says why a request or its answer ended without a status.
func (c *Client) broken(parent context.Context, w *watch, phase int, err error) error {
	if parent.Err() != nil {
		return fmt.Errorf("the request to %s was given up: %w", c.Host(), context.Cause(parent))
	}
	switch context.Cause(w.ctx) {
	case errFirstByte:
		return c.Broken("took the request and sent nothing for %s; if the model needs longer, raise first_byte_timeout", c.timeouts.FirstByte)
	case errIdle:
		return c.Broken("stopped in the middle of its answer: nothing came for %s (idle_timeout)", w.idle)
	}
	err = innermost(err)
	var timeout net.Error
	timedOut := errors.As(err, &timeout) && timeout.Timeout()
	switch {
	case phase == phaseTLS && timedOut:
		return c.Broken("took the connection and did not finish the TLS handshake within %s", c.timeouts.TLS)
	case phase <= phaseTLS && isCertificate(err):
		why := c.redactor.clean(err.Error()) // a certificate of many names must leave room for what to do
		return &sdk.ProviderError{Class: sdk.ClassNever, Message: c.Host() + " cannot be trusted: " + why + "; check base_url, or install the server's certificate"}
	case errors.Is(err, http.ErrSchemeMismatch):
		return c.Faulty(sdk.ClassNever, "speaks plain HTTP: write http:// in base_url")
	case phase == phaseConnect:
		return c.unreachable(err, timedOut)
	case phase == phaseBody:
		return c.Broken("broke off in the middle of its answer: %v", err)
	default:
		return c.Broken("broke off before it answered: %v", err)
	}
}

func (c *Client) unreachable(err error, timedOut bool) error {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return &sdk.ProviderError{Class: sdk.ClassNever, Message: "the name of " + c.Host() + " is not known: check base_url and the network"}
	case timedOut:
		return c.Broken("did not take the connection within %s", c.timeouts.Connect)
	case errors.Is(err, syscall.ECONNREFUSED):
		return &sdk.ProviderError{Class: sdk.ClassGateway, Message: "nothing listens at " + c.Host() + ": start the server, or correct base_url"}
	default:
		return c.Broken("cannot be reached: %v", err)
	}
}

func isCertificate(err error) bool {
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	return errors.As(err, &record) || errors.As(err, &verify)
}
