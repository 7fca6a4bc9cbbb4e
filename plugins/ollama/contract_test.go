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
		if r.URL.Path == "/api/tags" {
			_, _ = io.WriteString(w, `{"models":[{"name":"m:latest"}]}`)
			return
		}
		chat(`{"message":{"content":"a","tool_calls":[{"function":{"name":"x","arguments":{}}},{"function":{"name":"y","arguments":{}}}]}}`, `{"done":true}`)(w, r)
	}))
	t.Cleanup(srv.Close)
	s := configured()
	t.Cleanup(s.Close)
	if _, err := s.Models(t.Context()); err == nil {
		t.Error("models of a provider that is not configured")
	}
	for range 2 { // the second replaces the first
		if err := plugin.Decode(fmt.Appendf(nil, `{"base_url":%q}`, srv.URL), &s.Config); err != nil {
			t.Fatal(err)
		}
		if err := s.Configure(t.Context(), sdk.Settings{}); err != nil {
			t.Fatal(err)
		}
	}
	sdktest.Provider(t, s, hello())
}

func TestConfigureRefuses(t *testing.T) {
	for _, c := range []settings{{BaseURL: "ftp://x", Context: 1}, {BaseURL: "x", Context: 0}, {BaseURL: "x", Context: -1}} {
		s := configured()
		s.Config = c
		if err := s.Configure(t.Context(), sdk.Settings{}); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}
