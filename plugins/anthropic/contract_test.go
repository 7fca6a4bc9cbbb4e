package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// TestContract configures the plugin as the daemon does and holds it to the
// contract of its kind, over the wire between daemon and plugins.
func TestContract(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			_, _ = io.WriteString(w, `{"data":[{"type":"model","id":"m","max_input_tokens":8192}],"has_more":false}`)
		case "/v1/messages":
			inPieces(readGolden(t, "thinking-tools"), 61)(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	s := configured()
	t.Cleanup(s.Close)
	if _, err := s.Models(t.Context()); err == nil {
		t.Error("models of a provider that is not configured")
	}
	if err := s.Complete(t.Context(), hello(), func(sdk.Delta) error { return nil }); err == nil {
		t.Error("a completion of a provider that is not configured")
	}
	for range 2 { // the second replaces the first
		if err := plugin.Decode(fmt.Appendf(nil, `{"base_url":%q,"api_key":"k","idle_timeout":"5s"}`, srv.URL), &s.Config); err != nil {
			t.Fatal(err)
		}
		if err := s.Configure(t.Context(), sdk.Settings{}); err != nil {
			t.Fatal(err)
		}
	}
	sdktest.Provider(t, s, hello())
}

func TestConfigureRefuses(t *testing.T) {
	s := configured()
	s.Config = settings{BaseURL: "ftp://x"}
	if err := s.Configure(t.Context(), sdk.Settings{}); err == nil {
		t.Error("ftp was accepted")
	}
}
