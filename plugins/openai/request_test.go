package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bothyd/bothy/sdk"
)

func nothing(time.Duration) {}

func readSeed(f *testing.F, name string) []byte {
	raw, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		f.Fatal(err)
	}
	return raw
}

const answered = "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

func TestRequest(t *testing.T) {
	var got map[string]any
	o := server(t, settings{APIKey: "sk-test-0123456789", Headers: map[string]string{"X-Title": "Bothy"}}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer sk-test-0123456789" || r.Header.Get("X-Title") != "Bothy" {
			t.Errorf("path %s, headers %v", r.URL.Path, r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, answered)
	})
	temperature := 0.2
	extra := `{"from":"` + o.client.Host() + `","reasoning_field":"reasoning_content","reasoning_details":[{"type":"x"}],"calls":{"c1":{"google":{}}}}`
	_, err := collect(t, o, sdk.Request{
		Run: "secret-run", Model: "m", Temperature: &temperature, MaxTokens: 7,
		Messages: []sdk.Message{
			{Role: sdk.RoleSystem, Text: "sys"},
			{Role: sdk.RoleUser, Text: "hi"},
			{Role: sdk.RoleAssistant, Reasoning: "hm", Extra: json.RawMessage(extra), Calls: []sdk.Call{
				{ID: "c1", Tool: "bash", Arguments: `{"command":"id"}`}, {ID: "c2", Tool: "no such tool!", Arguments: `not json`}, {ID: "c3", Tool: "now"}}},
			{Role: sdk.RoleTool, CallID: "c1", Tool: "bash", Text: "1000"},
			{Role: sdk.RoleTool, CallID: "c2", Tool: "no such tool!", Text: "unknown", Failed: true},
			{Role: sdk.RoleAssistant, Text: "done", Reasoning: "hm", Extra: json.RawMessage(`{"from":"http://elsewhere","reasoning_details":[{"type":"y"}]}`)},
		},
		Tools: []sdk.ToolDef{{Name: "now", Description: "tells the time"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"model": "m", "stream": true, "stream_options": map[string]any{"include_usage": true}, "temperature": 0.2, "max_tokens": 7.0,
		"messages": []any{
			map[string]any{"role": "system", "content": "sys"},
			map[string]any{"role": "user", "content": "hi"},
			map[string]any{"role": "assistant", "content": nil, "reasoning_content": "hm", "reasoning_details": []any{map[string]any{"type": "x"}}, "tool_calls": []any{
				map[string]any{"id": "c1", "type": "function", "extra_content": map[string]any{"google": map[string]any{}}, "function": map[string]any{"name": "bash", "arguments": `{"command":"id"}`}},
				map[string]any{"id": "c2", "type": "function", "function": map[string]any{"name": "no_such_tool_", "arguments": `{"invalid_arguments":"not json"}`}},
				map[string]any{"id": "c3", "type": "function", "function": map[string]any{"name": "now", "arguments": `{}`}},
			}},
			map[string]any{"role": "tool", "tool_call_id": "c1", "content": "1000"},
			map[string]any{"role": "tool", "tool_call_id": "c2", "content": "unknown"},
			map[string]any{"role": "assistant", "content": "done"},
		},
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "now", "description": "tells the time", "parameters": map[string]any{"type": "object", "properties": map[string]any{}}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestRefusedFieldIsDroppedOnceAndRemembered is about shape, not about luck:
// the same refusal for any other reason is an error at once.
func TestRefusedFieldIsDroppedOnceAndRemembered(t *testing.T) {
	for _, c := range []struct{ name, field, refusal string }{
		{"OpenAI's form", "stream_options", `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error"}}`},
		{"FastAPI's form", "stream_options", `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`},
		{"max_tokens", "max_tokens", `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked atomic.Int32
			o := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				body, _ := io.ReadAll(r.Body)
				if strings.Contains(string(body), `"`+c.field+`"`) {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, c.refusal)
					return
				}
				_, _ = io.WriteString(w, answered)
			})
			req := hello()
			req.MaxTokens = 5
			for want := int32(2); want <= 3; want++ {
				if _, err := collect(t, o, req); err != nil {
					t.Fatal(err)
				}
				if asked.Load() != want {
					t.Errorf("asked %d times, want %d", asked.Load(), want)
				}
			}
		})
	}
}

func TestNeverRetries(t *testing.T) {
	for _, status := range []int{400, 401, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529} {
		var asked atomic.Int32
		o := server(t, settings{}, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"message":"stream_options and max_completion_tokens are both wrong"}}`)
		})
		_, err := collect(t, o, hello())
		if e := providerError(t, err); e.Status != status || e.Streamed {
			t.Errorf("%d became %+v", status, *e)
		}
		most := int32(1)
		if status == 400 || status == 422 { // each shape once: without the one field, then with the other name
			most = 3
		}
		if asked.Load() > most {
			t.Errorf("status %d was asked for %d times", status, asked.Load())
		}
	}
}

func TestAnswerThatDoesNotStream(t *testing.T) {
	o := server(t, settings{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok","tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{\"command\":\"id\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`)
	})
	got, err := collect(t, o, hello())
	want := sdk.Completion{Text: "ok", Finish: "calls", Calls: []sdk.Call{call("a", "bash", `{"command":"id"}`)}, Usage: &sdk.Usage{Prompt: 1, Completion: 2, Total: 3}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got)\n%s", err, diff)
	}
}

func TestErrorWithStatus200(t *testing.T) {
	o := server(t, settings{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"error":{"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":8}}`)
	})
	_, err := collect(t, o, hello())
	if e := providerError(t, err); e.Class != sdk.ClassOverflow {
		t.Errorf("%+v", *e)
	}
}

func TestSilenceAfterTheFinishIsNoFailure(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	o := server(t, settings{IdleTimeout: 100 * time.Millisecond}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n")
		w.(http.Flusher).Flush()
		<-release
	})
	if got, err := collect(t, o, hello()); err != nil || got.Text != "ok" {
		t.Errorf("%+v, error %v", got, err)
	}
}

func TestStalledStreamKeepsWhatCame(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	o := server(t, settings{IdleTimeout: 50 * time.Millisecond}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-release
	})
	got, err := collect(t, o, hello())
	e := providerError(t, err)
	if got.Text != "half" || got.Finish != "" || e.Class != sdk.ClassGateway || !e.Streamed || !strings.Contains(e.Message, "idle_timeout") {
		t.Errorf("%+v, error %+v", got, *e)
	}
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"https://api.openai.com/v1":                     "https://api.openai.com/v1",
		"https://api.openai.com/v1/":                    "https://api.openai.com/v1",
		"http://127.0.0.1:8080":                         "http://127.0.0.1:8080/v1",
		"127.0.0.1:8080":                                "http://127.0.0.1:8080/v1",
		"https://openrouter.ai/api/v1/chat/completions": "https://openrouter.ai/api/v1",
		"https://api.groq.com/openai/v1/models":         "https://api.groq.com/openai/v1",
		" http://h:1/custom ":                           "http://h:1/custom",
	} {
		if got := normalise(in); got != want {
			t.Errorf("normalise(%q) = %q, want %q", in, got, want)
		}
	}
}
