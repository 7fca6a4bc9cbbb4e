package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestThink: a model is told how much to think in the words that it knows, and not at
// all where it cannot be told, or nobody said how much.
func TestThink(t *testing.T) {
	const capable = `"capabilities":["completion","thinking"]`
	for _, c := range []struct {
		name, model, show            string
		none, off, low, medium, high string
	}{
		{"a switch", "qwen3", `{` + capable + `}`, "null", "false", "true", "true", "true"},
		{"gpt-oss", "gpt-oss:20b", `{` + capable + `}`, "null", `"low"`, `"low"`, `"medium"`, `"high"`},
		{"what the server says", "new", `{` + capable + `,"thinking":{"values":["low","high"]}}`, "null", `"low"`, `"low"`, `"high"`, `"high"`},
		{"a switch, as the server says", "new", `{` + capable + `,"thinking":{"values":[true,false]}}`, "null", "false", "true", "true", "true"},
		{"cannot be told to", "new", `{` + capable + `,"thinking":{"values":[false]}}`, "null", "false", "null", "null", "null"},
		{"does not think", "llama3.1", `{"capabilities":["completion","tools"]}`, "null", "null", "null", "null", "null"},
		{"an old server", "m", `{}`, "null", "false", "true", "true", "true"},
	} {
		for level, want := range map[sdk.Reasoning]string{"": c.none, sdk.ReasoningOff: c.off, sdk.ReasoningLow: c.low, sdk.ReasoningMedium: c.medium, sdk.ReasoningHigh: c.high} {
			sent := "nothing came"
			o := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/show" {
					_, _ = io.WriteString(w, c.show)
					return
				}
				var body struct{ Think any }
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
					t.Error(err)
				}
				raw, err := json.Marshal(body.Think)
				sent = string(raw)
				if err != nil {
					t.Error(err)
				}
				_, _ = io.WriteString(w, `{"message":{"content":"a"},"done":true}`)
			})
			req := hello()
			req.Model, req.Reasoning = c.model, level
			if _, err := collect(t, o, req); err != nil || sent != want {
				t.Errorf("%s %q: sent %s, want %s (%v)", c.name, level, sent, want, err)
			}
		}
	}
}

// TestThinkRefused: a model of an old server that cannot think answers all the same.
func TestThinkRefused(t *testing.T) {
	asked := 0
	o := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			http.NotFound(w, r)
			return
		}
		asked++
		var body struct{ Think any }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if body.Think != nil {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"\"m\" does not support thinking"}`)
			return
		}
		_, _ = io.WriteString(w, `{"message":{"content":"a"},"done":true}`)
	})
	o.known.Store("m:latest", shown{})
	req := hello()
	req.Reasoning = sdk.ReasoningHigh
	if got, err := collect(t, o, req); err != nil || got.Text != "a" || asked != 2 {
		t.Errorf("%+v, %v, asked %d times", got, err, asked)
	}
}
