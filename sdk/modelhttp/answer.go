package modelhttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
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
	gateway := func(format string, args ...any) error {
		return &sdk.ProviderError{Class: sdk.ClassGateway, Message: fmt.Sprintf(format, args...)}
	}
	switch context.Cause(w.ctx) {
	case errFirstByte:
		return gateway("%s took the request and sent nothing for %s; if the model needs longer, raise first_byte_timeout", c.Host(), c.timeouts.FirstByte)
	case errIdle:
		return gateway("%s stopped in the middle of its answer: nothing came for %s (idle_timeout)", c.Host(), w.idle)
	}
	err = innermost(err)
	var timeout net.Error
	timedOut := errors.As(err, &timeout) && timeout.Timeout()
	switch {
	case phase == phaseTLS && timedOut:
		return gateway("%s took the connection and did not finish the TLS handshake within %s", c.Host(), c.timeouts.TLS)
	case phase <= phaseTLS && isCertificate(err):
		return &sdk.ProviderError{Class: sdk.ClassNever, Message: fmt.Sprintf("%s cannot be trusted: %s; check base_url, or install the server's certificate", c.Host(), c.redactor.clean(err.Error()))}
	case errors.Is(err, http.ErrSchemeMismatch):
		return &sdk.ProviderError{Class: sdk.ClassNever, Message: c.Host() + " speaks plain HTTP: write http:// in base_url"}
	case phase == phaseConnect:
		return c.unreachable(err, timedOut)
	case phase == phaseBody:
		return gateway("%s broke off in the middle of its answer: %s", c.Host(), c.redactor.clean(err.Error()))
	default:
		return gateway("%s broke off before it answered: %s", c.Host(), c.redactor.clean(err.Error()))
	}
}

func (c *Client) unreachable(err error, timedOut bool) error {
	e := &sdk.ProviderError{Class: sdk.ClassGateway}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Class = sdk.ClassNever
		e.Message = fmt.Sprintf("the name of %s is not known: check base_url and the network", c.Host())
	case timedOut:
		e.Message = fmt.Sprintf("%s did not take the connection within %s", c.Host(), c.timeouts.Connect)
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message = fmt.Sprintf("nothing listens at %s: start the server, or correct base_url", c.Host())
	default:
		e.Message = fmt.Sprintf("%s cannot be reached: %s", c.Host(), c.redactor.clean(err.Error()))
	}
	return e
}

func isCertificate(err error) bool {
	var (
		unknown  x509.UnknownAuthorityError
		invalid  x509.CertificateInvalidError
		hostname x509.HostnameError
		record   tls.RecordHeaderError
		verify   *tls.CertificateVerificationError
	)
	return errors.As(err, &unknown) || errors.As(err, &invalid) || errors.As(err, &hostname) || errors.As(err, &record) || errors.As(err, &verify)
}
