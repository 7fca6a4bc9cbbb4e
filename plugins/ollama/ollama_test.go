package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
	"github.com/bothyd/bothy/sdk/modelhttp"
	"github.com/bothyd/bothy/sdk/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func server(t testing.TB, s settings, handle http.HandlerFunc) *ollama {
	t.Helper()
	srv := httptest.NewServer(handle)
	t.Cleanup(srv.Close)
	s.BaseURL = srv.URL
	if s.Context == 0 {
		s.Context = 32768
	}
	o, err := newOllama(s, &servers{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

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

func chat(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/chat":
			_, _ = io.WriteString(w, strings.Join(lines, "\n"))
		default:
			http.NotFound(w, r)
		}
	}
}

func hello() sdk.Request {
	return sdk.Request{Model: "m", Context: 4096, Messages: []sdk.Message{{Role: sdk.RoleUser, Text: "hi"}}}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		class  sdk.FailureClass
		says   string
		check  func(*sdk.ProviderError) bool
	}{
		{"no tools", 400, `{"error":"registry.ollama.ai/library/gemma does not support tools"}`, sdk.ClassNever, "cannot call tools", func(e *sdk.ProviderError) bool { return e.NoTools }},
		{"no model", 404, `{"error":"model 'm' not found"}`, sdk.ClassNever, "ollama pull m", nil},
		{"no memory", 500, `{"error":"model requires more system memory (48.0 GiB) than is available (7.1 GiB)"}`, sdk.ClassNever, "smaller model", nil},
		{"busy", 503, `{"error":"server busy, please try again. maximum pending requests exceeded"}`, sdk.ClassGateway, "server busy", nil},
		{"died", 500, `{"error":"llama runner process has terminated: signal: killed"}`, sdk.ClassServer, "terminated", nil},
		{"too long", 400, `{"error":"the input length exceeds the context length"}`, sdk.ClassOverflow, "too long", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := server(t, settings{}, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			_, err := collect(t, o, hello())
			var e *sdk.ProviderError
			if !errors.As(err, &e) || e.Class != c.class || !strings.Contains(e.Message, c.says) || (c.check != nil && !c.check(e)) {
				t.Errorf("error %+v", err)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	var got map[string]any
	o := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, `{"done":true,"done_reason":"stop"}`)
	})
	temperature := 0.5
	_, err := collect(t, o, sdk.Request{
		Model: "m", Context: 16384, Temperature: &temperature, MaxTokens: 9,
		Messages: []sdk.Message{
			{Role: sdk.RoleSystem, Text: "sys"},
			{Role: sdk.RoleAssistant, Text: "t", Reasoning: "hm", Calls: []sdk.Call{{ID: "c", Tool: "bash", Arguments: `{"command":"id"}`}, {ID: "d", Tool: "bash", Arguments: `[1]`}}},
			{Role: sdk.RoleTool, Tool: "bash", CallID: "c", Text: "1000"},
			{Role: sdk.RoleAssistant, Text: "done", Reasoning: "hm"},
		},
		Tools: []sdk.ToolDef{{Name: "bash", Description: "runs", Parameters: json.RawMessage(`{"type":"object"}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	function := func(i float64, arguments map[string]any) map[string]any {
		return map[string]any{"index": i, "name": "bash", "arguments": arguments}
	}
	want := map[string]any{
		"model": "m", "stream": true, "truncate": false, "shift": false,
		"options": map[string]any{"num_ctx": 16384.0, "temperature": 0.5, "num_predict": 9.0},
		"messages": []any{
			map[string]any{"role": "system", "content": "sys"},
			map[string]any{"role": "assistant", "content": "t", "thinking": "hm", "tool_calls": []any{
				map[string]any{"id": "c", "function": function(0, map[string]any{"command": "id"})},
				map[string]any{"id": "d", "function": function(1, map[string]any{"invalid_arguments": "[1]"})},
			}},
			map[string]any{"role": "tool", "content": "1000", "tool_name": "bash", "tool_call_id": "c"},
			map[string]any{"role": "assistant", "content": "done"},
		},
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "bash", "description": "runs", "parameters": map[string]any{"type": "object"}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// installed answers like a server with some models.
func installed(t testing.TB, sent *map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/tags":
			_, _ = io.WriteString(w, `{"models":[
				{"name":"big:70b","digest":"1","details":{"parameter_size":"70B"}},
				{"name":"llama3.1:latest","digest":"2","details":{"parameter_size":"8.0B"}},
				{"name":"embedder:latest","digest":"3","details":{"parameter_size":"334M"}},
				{"name":"old:1b","digest":"4","details":{"parameter_size":"1B"}}]}`)
		case "/api/ps":
			_, _ = io.WriteString(w, `{"models":[{"name":"big:70b","context_length":65536},{"name":"llama3.1:latest","context_length":4096}]}`)
		case "/api/show":
			var q struct{ Model string }
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
				t.Error(err)
			}
			about := map[string]string{
				"big:70b":         `{"capabilities":["completion","tools","vision"],"model_info":{"general.architecture":"llama","llama.context_length":131072}}`,
				"llama3.1:latest": `{"capabilities":["completion","tools"],"model_info":{"llama.context_length":131072,"llama.rope.freq_base":500000}}`,
				"llama3.1":        `{"capabilities":["completion","tools"],"model_info":{"llama.context_length":131072}}`,
				"embedder:latest": `{"capabilities":["embedding"],"model_info":{"bert.context_length":512}}`,
				"old:1b":          `{"capabilities":["completion"],"model_info":{"llama.context_length":2048}}`,
			}[q.Model]
			if about == "" {
				http.NotFound(w, r)
				return
			}
			_, _ = io.WriteString(w, about)
		case "/api/chat":
			if err := json.NewDecoder(r.Body).Decode(sent); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, `{"done":true,"done_reason":"stop"}`)
		}
	}
}

func TestModels(t *testing.T) {
	yes, no := true, false
	o := server(t, settings{}, installed(t, nil))
	want := []sdk.Model{
		{Name: "llama3.1:latest", Context: 32768, Tools: &yes, Streaming: true, Inputs: []string{"text"}},
		{Name: "big:70b", Context: 65536, Tools: &yes, Streaming: true, Inputs: []string{"text", "image"}},
		{Name: "old:1b", Context: 2048, Tools: &no, Streaming: true, Inputs: []string{"text"}},
	}
	for range 2 { // the second time from memory
		got, err := o.Models(t.Context())
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("error %v (-want +got)\n%s", err, diff)
		}
	}
}

// TestModelsOfTheCloud: what Ollama hands on to another machine is told as such.
func TestModelsOfTheCloud(t *testing.T) {
	o := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/tags" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"models":[{"name":"gpt-oss:120b-cloud","remote_model":"gpt-oss:120b","remote_host":"https://ollama.com:443","size":384},{"name":"a"}]}`)
	})
	got, err := o.Models(t.Context())
	want := []sdk.Model{
		{Name: "gpt-oss:120b-cloud", Context: 32768, Streaming: true, Remote: true},
		{Name: "a", Context: 32768, Streaming: true},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got)\n%s", err, diff)
	}
}

func TestModelsOfAnOldServer(t *testing.T) {
	o := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/tags" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"models":[{"name":"a","details":{"parameter_size":"7B"}},{"name":"nomic-embed-text"},{"name":"m","details":{"families":["bert"]}}]}`)
	})
	got, err := o.Models(t.Context())
	want := []sdk.Model{{Name: "a", Context: 32768, Streaming: true}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got)\n%s", err, diff)
	}
}

// TestContextIsAlwaysSet: the caller's window, else the one that Models tells,
// else the block's.
func TestContextIsAlwaysSet(t *testing.T) {
	for _, c := range []struct {
		model string
		asked int
		want  float64
	}{{"llama3.1", 8192, 8192}, {"llama3.1", 0, 32768}, {"big:70b", 0, 65536}, {"old:1b", 0, 2048}, {"unknown", 0, 32768}} {
		var sent map[string]any
		o := server(t, settings{}, installed(t, &sent))
		if _, err := collect(t, o, sdk.Request{Model: c.model, Context: c.asked, Messages: hello().Messages}); err != nil {
			t.Fatal(err)
		}
		if got := sent["options"].(map[string]any)["num_ctx"]; got != c.want {
			t.Errorf("%s asked with %d runs with %v, want %v", c.model, c.asked, got, c.want)
		}
	}
}

// TestSilentTruncation is a server too old for truncate:false.
func TestSilentTruncation(t *testing.T) {
	long := sdk.Request{Model: "m", Context: 1024, Messages: []sdk.Message{{Role: sdk.RoleUser, Text: strings.Repeat("word ", 4000)}}}
	for read, overflow := range map[int]bool{1000: true, 0: false, 4900: false} {
		o := server(t, settings{}, chat(`{"message":{"content":"a"}}`, fmt.Sprintf(`{"done":true,"done_reason":"stop","prompt_eval_count":%d}`, read)))
		_, err := collect(t, o, long)
		var e *sdk.ProviderError
		if is := errors.As(err, &e) && e.Class == sdk.ClassOverflow; is != overflow {
			t.Errorf("%d of 5000 tokens read in a window of 1024: error %v", read, err)
		}
	}
}

func TestStall(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	o := server(t, settings{IdleTimeout: 50 * time.Millisecond}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"message":{"content":"half"}}`+"\n")
		w.(http.Flusher).Flush()
		<-release
	})
	got, err := collect(t, o, hello())
	var e *sdk.ProviderError
	if got.Text != "half" || !errors.As(err, &e) || !e.Streamed || !strings.Contains(e.Message, "idle_timeout") {
		t.Errorf("%+v, error %v", got, err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"message":{"content":"a","tool_calls":[{"function":{"name":"x","arguments":{}}}]}}` + "\n" + `{"done":true}`))
	f.Add([]byte(`{"error":"{\"error\":1}"}`))
	client, err := modelhttp.New(modelhttp.Options{Base: "http://127.0.0.1:1"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var got conformance.Deltas
		c := &completion{client: client, model: "m", out: modelhttp.NewSender(client, got.Add)}
		err := c.read(bytes.NewReader(in))
		wrong := got.Wrong()
		if err == nil {
			wrong = got.End()
		}
		var e *sdk.ProviderError
		if wrong != nil || (err != nil && !errors.As(err, &e)) {
			t.Errorf("%v, error %v (%T)", wrong, err, err)
		}
	})
}
