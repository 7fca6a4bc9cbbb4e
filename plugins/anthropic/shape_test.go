package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestShapes: a field that a model refuses is left out of the next attempt, each one
// once, and of later requests without another refusal.
func TestShapes(t *testing.T) {
	temperature := 0.2
	for _, c := range []struct {
		name, refusal string
		refuses       func(body string) bool
		again         int // refusals of a second request
	}{
		{"temperature", "`temperature` is deprecated for this model.", func(b string) bool { return strings.Contains(b, "temperature") }, 0},
		{"room", "max_tokens: 9000 > 4096, which is the maximum allowed number of output tokens for m", func(b string) bool { return !strings.Contains(b, `"max_tokens":4096`) }, 0},
		{"marks", "tools.0.cache_control: Extra inputs are not permitted", func(b string) bool { return strings.Contains(b, "cache_control") }, 0},
		{"thinking", "messages.1.content.0: Invalid `signature` in `thinking` block", func(b string) bool { return strings.Contains(b, "signature") }, 1},
		{"thinking, changed", "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", func(b string) bool { return strings.Contains(b, "signature") }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused := 0
			a := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if c.refuses(string(body)) {
					refused++
					w.WriteHeader(http.StatusBadRequest)
					_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, c.refusal)
					return
				}
				_, _ = io.WriteString(w, a200+ended)
			})
			m := played(t, "thinking-tools")
			m.Extra = []byte(strings.ReplaceAll(string(m.Extra), "HOST", a.client.Host()))
			req := sdk.Request{Model: "m", MaxTokens: 9000, Temperature: &temperature, Messages: []sdk.Message{user("a"), m, result("toolu_t", "1")}}
			for i, want := range []int{1, c.again} {
				refused = 0
				if _, err := collect(t, a, req); err != nil || refused != want {
					t.Errorf("request %d: %d refusals, want %d; error %v", i, refused, want, err)
				}
			}
		})
	}
}

// TestRefusalThatStays: what is refused whatever its shape is the error, after one
// attempt for each shape.
func TestRefusalThatStays(t *testing.T) {
	for _, message := range []string{"temperature and cache_control", "max_tokens: 9 > 4, which is too much", "Invalid signature in thinking block", "messages: at least one message is required"} {
		asked := 0
		a := server(t, settings{}, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"error":{"message":%q}}`, message)
		})
		_, err := collect(t, a, hello())
		if e := providerError(t, err); e.Class != sdk.ClassNever || e.Status != 400 || asked > 3 {
			t.Errorf("%q became %+v after %d attempts", message, *e, asked)
		}
	}
}

// TestHeaders: the key is no bearer token, and a header of the block replaces what
// it is named like.
func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		s    settings
		want map[string]string
	}{
		{settings{APIKey: " key-0123456789 \n"}, map[string]string{"X-Api-Key": "key-0123456789", "Authorization": "", "Anthropic-Version": "2023-06-01"}},
		{settings{Headers: map[string]string{"Authorization": "Bearer t", "Anthropic-Version": "2099-01-01"}}, map[string]string{"X-Api-Key": "", "Authorization": "Bearer t", "Anthropic-Version": "2099-01-01"}},
	} {
		a := server(t, c.s, func(w http.ResponseWriter, r *http.Request) {
			for name, want := range c.want {
				if got := r.Header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			_, _ = io.WriteString(w, a200+ended)
		})
		if _, err := collect(t, a, hello()); err != nil {
			t.Error(err)
		}
	}
}

// TestKeyIsInNoError: a server that quotes the key does not get it shown.
func TestKeyIsInNoError(t *testing.T) {
	const key = "sk-ant-api03-0123456789abcdef"
	a := server(t, settings{APIKey: key}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"type": "authentication_error", "message": "invalid x-api-key " + r.Header.Get("X-Api-Key")}})
	})
	_, err := collect(t, a, hello())
	if e := providerError(t, err); strings.Contains(e.Message, key) || !strings.Contains(e.Message, "[redacted]") || !strings.Contains(e.Message, "api_key") {
		t.Errorf("%+v", *e)
	}
	if _, err := newAnthropic(settings{BaseURL: "https://x", APIKey: "a\nb"}); err == nil || !strings.Contains(err.Error(), "api_key") {
		t.Errorf("a key with a line break: %v", err)
	}
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"https://api.anthropic.com":                "https://api.anthropic.com",
		" https://api.anthropic.com/v1/messages ":  "https://api.anthropic.com",
		"https://api.anthropic.com/v1/":            "https://api.anthropic.com",
		"https://api.moonshot.ai/anthropic":        "https://api.moonshot.ai/anthropic",
		"https://x/anthropic/v1/models?key=1#part": "https://x/anthropic?key=1",
		"127.0.0.1:8080":                           "http://127.0.0.1:8080",
	} {
		if got := normalise(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
