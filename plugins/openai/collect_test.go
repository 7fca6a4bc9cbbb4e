package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

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
func server(t testing.TB, s settings, handle http.HandlerFunc) *openai {
	t.Helper()
	srv := httptest.NewServer(handle)
	t.Cleanup(srv.Close)
	s.BaseURL = srv.URL + "/v1"
	o, err := newOpenAI(s)
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
	return sdk.Request{Model: "m", Messages: []sdk.Message{{Role: sdk.RoleUser, Text: "hi"}}}
}

func TestCancelledIsTheContextsError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"))
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
	o := server(t, settings{}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\n"))
	})
	n := 0
	err := o.Complete(t.Context(), hello(), func(sdk.Delta) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("error %v after %d deltas, want %v after 1", err, n, stop)
	}
}
