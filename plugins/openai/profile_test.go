package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestProfileOf: an address tells which server it is, a name where it does not, and
// what is neither has the common shape.
func TestProfileOf(t *testing.T) {
	for _, c := range []struct{ base, name, want string }{
		{"https://api.openai.com/v1", "", "openai"},
		{"https://api.groq.com/openai/v1", "", "groq"},
		{"https://openrouter.ai/api/v1", "", "openrouter"},
		{"https://API.X.AI/v1", "", "xai"},
		{"https://eu-west-1.api.x.ai/v1", "", "xai"},
		{"https://api.mistral.ai/v1", "", "mistral"},
		{"https://api.deepseek.com", "", "deepseek"},
		{"http://127.0.0.1:8000/v1", "", "vllm"},
		{"http://localhost:8080/v1", "", "llamacpp"},
		{"http://[::1]:1234/v1", "", "lmstudio"},
		{"http://10.0.0.1:8000/v1", "", "plain"},
		{"https://notgroq.com/v1", "", "plain"},
		{"https://groq.com.example.org/v1", "", "plain"},
		{"https://gpu.example.org/v1", "vllm", "vllm"},
		{"https://api.mistral.ai/v1", "plain", "plain"},
		{"https://gpu.example.org/v1", "vlm", ""},
	} {
		base, err := url.Parse(c.base)
		if err != nil {
			t.Fatal(err)
		}
		got, err := profileOf(c.name, base)
		if got.name != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %s: %q, %v; want %q", c.base, c.name, got.name, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "vllm") {
			t.Errorf("the error names no profile: %v", err)
		}
	}
}

// asking is a conversation with a call and its result, whose ids are of no short kind.
func asking() sdk.Request {
	return sdk.Request{Model: "m", MaxTokens: 7, Messages: []sdk.Message{
		{Role: sdk.RoleUser, Text: "hi"},
		{Role: sdk.RoleAssistant, Calls: []sdk.Call{{ID: "call_1", Tool: "now", Arguments: "{}"}, {ID: "a1B2c3D4e", Tool: "now", Arguments: "{}"}}},
		{Role: sdk.RoleTool, CallID: "call_1", Tool: "now", Text: "noon"},
		{Role: sdk.RoleTool, CallID: "a1B2c3D4e", Tool: "now", Text: "noon"},
	}}
}

// sent is a request of a profile as its server gets it, and its headers.
func sent(t *testing.T, s settings, req sdk.Request) (map[string]any, http.Header) {
	t.Helper()
	var body map[string]any
	var header http.Header
	o := server(t, s, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, answered)
	})
	if _, err := collect(t, o, req); err != nil {
		t.Fatal(err)
	}
	return body, header
}

// TestProfiles: what differs from the common shape is in the request of that profile,
// and in no other.
func TestProfiles(t *testing.T) {
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			body, header := sent(t, settings{Profile: p.name}, asking())
			has := func(field string) bool { return body[field] != nil }
			newer := p.name == "openai" || p.name == "groq" || p.name == "xai"
			if has("max_completion_tokens") != newer || has("max_tokens") == newer {
				t.Errorf("bounds of an answer: %v", body)
			}
			if has("stream_options") == (p.name == "mistral") {
				t.Errorf("stream_options: %v", body["stream_options"])
			}
			router := p.name == "openrouter"
			if has("usage") != router || (header.Get("X-Title") == "Bothy") != router || (header.Get("HTTP-Referer") != "") != router {
				t.Errorf("usage %v, headers %v", body["usage"], header)
			}
			messages := body["messages"].([]any)
			calls := messages[1].(map[string]any)["tool_calls"].([]any)
			for i, call := range calls {
				id := call.(map[string]any)["id"].(string)
				if result := messages[2+i].(map[string]any)["tool_call_id"]; result != id {
					t.Errorf("call %q has the result of %q", id, result)
				}
				if short := regexp.MustCompile(`^[a-zA-Z0-9]{9}$`).MatchString(id); p.name == "mistral" && !short || p.name != "mistral" && i == 0 && id != "call_1" {
					t.Errorf("id %q", id)
				}
			}
			if last := calls[1].(map[string]any)["id"]; last != "a1B2c3D4e" {
				t.Errorf("an id that will do became %v", last)
			}
		})
	}
}

// TestHeadersOfABlock go before those of the profile, however they are written.
func TestHeadersOfABlock(t *testing.T) {
	_, header := sent(t, settings{Profile: "openrouter", Headers: map[string]string{"x-title": "Mine", "X-Other": "yes"}}, asking())
	if header.Get("X-Title") != "Mine" || len(header.Values("X-Title")) != 1 || header.Get("X-Other") != "yes" || header.Get("HTTP-Referer") == "" {
		t.Errorf("headers %v", header)
	}
}

// TestShortIDsAreLearned: a model of Mistral's behind another server refuses ids, and
// gets its own kind from then on.
func TestShortIDsAreLearned(t *testing.T) {
	asked := 0
	o := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
		asked++
		body, _ := io.ReadAll(r.Body) // what did not come has the id
		if strings.Contains(string(body), "call_1") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"object":"error","message":"Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","param":null,"code":"3280"}`)
			return
		}
		_, _ = io.WriteString(w, answered)
	})
	for _, want := range []int{2, 3} {
		if _, err := collect(t, o, asking()); err != nil || asked != want {
			t.Errorf("%v, asked %d times, want %d", err, asked, want)
		}
	}
}

// TestKeyOnListing has the row M5: a server that is none of those that are known is
// sent the key with every question, and stays what it is.
func TestKeyOnListing(t *testing.T) {
	asked := map[string]string{}
	o := server(t, settings{APIKey: "sk-test-0123456789"}, func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path] = r.Header.Get("Authorization")
		if r.URL.Path == "/v1/models" {
			_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
			return
		}
		_, _ = io.WriteString(w, answered)
	})
	if list, err := o.Models(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := collect(t, o, asking()); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"/v1/models", "/v1/chat/completions"} {
		if asked[path] != "Bearer sk-test-0123456789" {
			t.Errorf("%s was sent %q", path, asked[path])
		}
	}
	if o.profile.name != plain {
		t.Errorf("it became %s", o.profile.name)
	}
}
