package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
	"github.com/bothyd/bothy/sdk/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collect completes and puts the deltas together. It holds every stream to the
// contract of sdk.Delta.
func collect(t testing.TB, p provider.Provider, req sdk.Request) (sdk.Completion, error) {
	t.Helper()
	var got conformance.Deltas
	err := p.Complete(t.Context(), req, got.Add)
	wrong := got.Wrong()
	if err == nil {
		wrong = got.End()
	}
	if wrong != nil {
		t.Error(wrong)
	}
	return got.Completion, err
}

// server makes a provider for a handler.
func server(t testing.TB, s settings, handle http.HandlerFunc) *anthropic {
	t.Helper()
	srv := httptest.NewServer(handle)
	t.Cleanup(srv.Close)
	s.BaseURL = srv.URL
	o, err := newAnthropic(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

func providerError(t testing.TB, err error) *sdk.ProviderError {
	t.Helper()
	var e *sdk.ProviderError
	if !errors.As(err, &e) {
		t.Fatalf("error is %v (%T), want a ProviderError", err, err)
	}
	return e
}

func hello() sdk.Request {
	return sdk.Request{Model: "m", MaxTokens: 100, Messages: []sdk.Message{{Role: sdk.RoleUser, Text: "hi"}}}
}

// a200 are the first events of an answer that says "a".
const a200 = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
	"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n"

// ended is the last event of an answer.
const ended = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

func TestCancelledIsTheContextsError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(a200))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	err := o.Complete(ctx, hello(), func(sdk.Delta) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func TestErrorOfSendEndsTheCall(t *testing.T) {
	stop := errors.New("enough")
	o := server(t, settings{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(a200 + a200 + ended)) })
	n := 0
	err := o.Complete(t.Context(), hello(), func(sdk.Delta) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("error %v after %d deltas, want %v after 1", err, n, stop)
	}
}

// TestStall: a stream that stops is cut after its time.
func TestStall(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	o := server(t, settings{IdleTimeout: 50 * time.Millisecond}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(a200))
		w.(http.Flusher).Flush()
		<-release
	})
	got, err := collect(t, o, hello())
	if e := providerError(t, err); got.Text != "a" || !e.Streamed || !strings.Contains(e.Message, "idle_timeout") {
		t.Errorf("%+v, error %+v", got, *e)
	}
}
