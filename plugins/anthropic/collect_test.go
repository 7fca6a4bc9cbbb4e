package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collect completes and puts the deltas together. It holds every stream to the
// contract of sdk.Delta: one field each, calls in order, finish last.
func collect(t testing.TB, p provider.Provider, req sdk.Request) (sdk.Completion, error) {
	t.Helper()
	var c sdk.Completion
	finished := false
	ids := map[string]bool{}
	err := p.Complete(t.Context(), req, func(d sdk.Delta) error {
		if finished {
			t.Errorf("a delta after the finish: %+v", d)
		}
		if n := fieldsOf(d); n != 1 {
			t.Errorf("a delta with %d fields: %+v", n, d)
		}
		if !utf8.ValidString(d.Text + d.Reasoning) {
			t.Errorf("a delta that is not UTF-8: %+v", d)
		}
		c.Text += d.Text
		c.Reasoning += d.Reasoning
		if d.Usage != nil {
			c.Usage = d.Usage
		}
		if d.Finish != nil {
			finished, c.Finish, c.Extra = true, d.Finish.Reason, d.Finish.Extra
		}
		if d.Call != nil {
			if err := addCall(&c, ids, *d.Call); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	if err == nil && !finished {
		t.Error("no finish and no error")
	}
	return c, err
}

func addCall(c *sdk.Completion, ids map[string]bool, d sdk.CallDelta) error {
	if d.Index == len(c.Calls) {
		if d.ID == "" || d.Tool == "" || ids[d.ID] {
			return fmt.Errorf("the first piece of a call needs an id of its own and a tool: %+v", d)
		}
		ids[d.ID] = true
		c.Calls = append(c.Calls, sdk.Call{ID: d.ID, Tool: d.Tool})
	}
	if d.Index < 0 || d.Index >= len(c.Calls) {
		return fmt.Errorf("call index %d of %d calls", d.Index, len(c.Calls))
	}
	c.Calls[d.Index].Arguments += d.Arguments
	return nil
}

func fieldsOf(d sdk.Delta) int {
	n := 0
	for _, set := range []bool{d.Text != "", d.Reasoning != "", d.Call != nil, d.Usage != nil, d.Finish != nil} {
		if set {
			n++
		}
	}
	return n
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

// TestStall: a stream that stops is cut after its time, and its end after the stop
// reason is waited for only shortly.
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
