package main

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bothyd/bothy/sdk"
)

func paths(answers map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, body)
	}
}

func TestModels(t *testing.T) {
	yes, no := true, false
	text, both := []string{"text"}, []string{"text", "image"}
	for _, c := range []struct {
		name    string
		answers map[string]string
		want    []sdk.Model
	}{
		{"OpenAI", map[string]string{"/v1/models": `{"object":"list","data":[{"id":"gpt-4.1","object":"model","owned_by":"openai"},{"id":"text-embedding-3-small"},{"id":"whisper-1"},{"id":"tts-1"},{"id":"dall-e-3"},{"id":"omni-moderation-latest"}]}`},
			[]sdk.Model{{Name: "gpt-4.1", Streaming: true}}},
		{"llama.cpp", map[string]string{"/v1/models": `{"models":[{"name":"q"}],"data":[{"id":"q","owned_by":"llamacpp","meta":{"n_ctx":8192,"n_ctx_train":131072}}]}`, "/props": `{"default_generation_settings":{"n_ctx":4096},"chat_template_caps":{"supports_tools":true},"modalities":{"vision":false,"audio":false}}`},
			[]sdk.Model{{Name: "q", Context: 8192, Tools: &yes, Streaming: true, Inputs: text}}},
		{"llama.cpp that sees", map[string]string{"/v1/models": `{"data":[{"id":"q","owned_by":"llamacpp","meta":{"n_ctx":8192}}]}`, "/props": `{"modalities":{"vision":true}}`},
			[]sdk.Model{{Name: "q", Context: 8192, Streaming: true, Inputs: both}}},
		{"llama.cpp before n_ctx", map[string]string{"/v1/models": `{"data":[{"id":"q","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`, "/props": `{"default_generation_settings":{"n_ctx":4096}}`},
			[]sdk.Model{{Name: "q", Context: 4096, Streaming: true}}},
		{"llama.cpp without props", map[string]string{"/v1/models": `{"data":[{"id":"q","owned_by":"llamacpp"}]}`},
			[]sdk.Model{{Name: "q", Streaming: true}}},
		{"vLLM", map[string]string{"/v1/models": `{"data":[{"id":"Qwen/Qwen3-8B","owned_by":"vllm","max_model_len":40960}]}`},
			[]sdk.Model{{Name: "Qwen/Qwen3-8B", Context: 40960, Streaming: true}}},
		{"Groq", map[string]string{"/v1/models": `{"data":[{"id":"llama-3.3-70b-versatile","active":true,"context_window":131072,"max_completion_tokens":32768},{"id":"old","active":false,"context_window":8192},{"id":"whisper-large-v3","active":true}]}`},
			[]sdk.Model{{Name: "llama-3.3-70b-versatile", Context: 131072, MaxOutput: 32768, Streaming: true}}},
		{"OpenRouter", map[string]string{"/v1/models": `{"data":[{"id":"a/b","context_length":200000,"architecture":{"input_modalities":["text","image"],"output_modalities":["text"]},"pricing":{"prompt":"0.000003","completion":"0.000015"},"top_provider":{"max_completion_tokens":64000},"supported_parameters":["tools","temperature"]},{"id":"c/d","context_length":4096,"supported_parameters":["temperature"],"pricing":{"prompt":"-1","completion":"-1"}},{"id":"e/img","architecture":{"output_modalities":["image"]}}]}`},
			[]sdk.Model{{Name: "a/b", Context: 200000, MaxOutput: 64000, Tools: &yes, Streaming: true, Inputs: both, Price: &sdk.Price{Prompt: 3, Completion: 15}}, {Name: "c/d", Context: 4096, Tools: &no, Streaming: true}}},
		{"Together: a bare list", map[string]string{"/v1/models": `[{"id":"m","type":"chat","context_length":8192},{"id":"e","type":"embedding"},{"id":7}]`},
			[]sdk.Model{{Name: "m", Context: 8192, Streaming: true}}},
		{"LM Studio 0.4", map[string]string{
			"/v1/models":     `{"data":[{"id":"a","owned_by":"organization_owner"},{"id":"b","owned_by":"organization_owner"},{"id":"e","owned_by":"organization_owner"}]}`,
			"/api/v1/models": `{"models":[{"key":"a","type":"llm","max_context_length":131072,"capabilities":{"vision":false,"trained_for_tool_use":false},"loaded_instances":[]},{"key":"b","type":"llm","max_context_length":131072,"capabilities":{"vision":true,"trained_for_tool_use":true},"loaded_instances":[{"id":"b","config":{"context_length":16384}}]},{"key":"e","type":"embedding"}]}`},
			[]sdk.Model{{Name: "b", Context: 16384, Tools: &yes, Streaming: true, Inputs: both}, {Name: "a", Context: 131072, Tools: &no, Streaming: true, Inputs: text}}},
		{"LM Studio 0.3", map[string]string{
			"/v1/models":     `{"data":[{"id":"a","owned_by":"organization_owner"}]}`,
			"/api/v0/models": `{"data":[{"id":"a","type":"llm","state":"loaded","max_context_length":131072,"loaded_context_length":8192,"capabilities":["tool_use"]}]}`},
			[]sdk.Model{{Name: "a", Context: 8192, Tools: &yes, Streaming: true, Inputs: text}}},
		{"a server that cannot list", map[string]string{}, nil},
		{"an empty list", map[string]string{"/v1/models": `{"data":null}`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := server(t, settings{}, paths(c.answers)).Models(t.Context())
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// TestModelsSendTheKey is case M5: a server that only differs in its address
// keeps its key, for the listing too.
func TestModelsSendTheKey(t *testing.T) {
	o := server(t, settings{APIKey: "generic-key-123456"}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer generic-key-123456" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
	})
	if got, err := o.Models(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("%v, error %v", got, err)
	}
}

func TestModelsErrors(t *testing.T) {
	for status, class := range map[int]sdk.FailureClass{401: sdk.ClassNever, 503: sdk.ClassGateway} {
		o := server(t, settings{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, err := o.Models(t.Context())
		if e := providerError(t, err); e.Class != class {
			t.Errorf("%d became %+v", status, *e)
		}
	}
	o := server(t, settings{}, paths(map[string]string{"/v1/models": `<html>`}))
	if _, err := o.Models(t.Context()); err == nil {
		t.Error("a page that is no JSON is no list")
	}
}
