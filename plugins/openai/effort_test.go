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

// TestReasoning: each profile tells a model how much to think in its server's words,
// and nothing where nobody said how much.
func TestReasoning(t *testing.T) {
	fields := []string{"reasoning_effort", "reasoning", "thinking", "chat_template_kwargs"}
	for _, c := range []struct {
		profile, model         string
		off, low, medium, high string
	}{
		{"plain", "m", `"none"`, `"low"`, `"medium"`, `"high"`},
		{"openai", "gpt-5.1", `"none"`, `"low"`, `"medium"`, `"high"`},
		{"groq", "openai/gpt-oss-20b", `"none"`, `"low"`, `"medium"`, `"high"`},
		{"groq", "qwen/qwen3-32b", `"none"`, `"default"`, `"default"`, `"default"`},
		{"openrouter", "a/b", `{"effort":"none"}`, `{"effort":"low"}`, `{"effort":"medium"}`, `{"effort":"high"}`},
		{"xai", "grok-4.3", `"none"`, `"low"`, `"medium"`, `"high"`},
		{"mistral", "mistral-medium-latest", `"none"`, `"high"`, `"high"`, `"high"`},
		{"deepseek", "deepseek-flash", `{"type":"disabled"}`, `"low"{"type":"enabled"}`, `"high"{"type":"enabled"}`, `"high"{"type":"enabled"}`},
		{"vllm", "Qwen/Qwen3-8B", `{"enable_thinking":false}`, `{"enable_thinking":true,"reasoning_effort":"low"}`, `{"enable_thinking":true,"reasoning_effort":"medium"}`, `{"enable_thinking":true,"reasoning_effort":"high"}`},
		{"llamacpp", "q", `{"enable_thinking":false}`, `{"enable_thinking":true,"reasoning_effort":"low"}`, `{"enable_thinking":true,"reasoning_effort":"medium"}`, `{"enable_thinking":true,"reasoning_effort":"high"}`},
		{"lmstudio", "q", `"none"`, `"low"`, `"medium"`, `"high"`},
	} {
		for level, want := range map[sdk.Reasoning]string{"": "", sdk.ReasoningOff: c.off, sdk.ReasoningLow: c.low, sdk.ReasoningMedium: c.medium, sdk.ReasoningHigh: c.high} {
			req := asking()
			req.Model, req.Reasoning = c.model, level
			body, _ := sent(t, settings{Profile: c.profile}, req)
			got := ""
			for _, field := range fields {
				if body[field] == nil {
					continue
				}
				raw, err := json.Marshal(body[field])
				if err != nil {
					t.Fatal(err)
				}
				got += string(raw)
			}
			if got != want {
				t.Errorf("%s %s %q: sent %s, want %s", c.profile, c.model, level, got, want)
			}
		}
	}
	for _, p := range profiles {
		if p.think == nil {
			t.Errorf("%s has no words for reasoning", p.name)
		}
	}
}

// TestHabitsAreLearned, of each model by itself: one that cannot stop thinking thinks
// a little, one that cannot be told is not told, one that chooses its temperature is
// left to it.
func TestHabitsAreLearned(t *testing.T) {
	refusals := map[string]func(body string) string{
		"thinks": func(body string) string {
			if strings.Contains(body, `"none"`) {
				return "Unsupported value: 'none' is not supported with the 'thinks' model. Supported values are: 'low', 'medium', and 'high'. (reasoning_effort)"
			}
			return ""
		},
		"grok-4": func(body string) string {
			if strings.Contains(body, "reasoning_effort") {
				return "Model grok-4 does not support parameter reasoningEffort."
			}
			return ""
		},
		"cool": func(body string) string {
			if strings.Contains(body, "temperature") {
				return "Unsupported value: 'temperature' does not support 0.2 with this model."
			}
			return ""
		},
		"missing": func(string) string { return "Missing `reasoning_content` field in the assistant message" },
	}
	asked := map[string][]string{}
	o := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body) // what did not come is no request that is known
		var body struct {
			Model  string `json:"model"`
			Effort string `json:"reasoning_effort"`
		}
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Error(err)
		}
		asked[body.Model] = append(asked[body.Model], body.Effort)
		if refusal := refusals[body.Model]; refusal != nil && refusal(string(raw)) != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, refusal(string(raw)))
			return
		}
		_, _ = io.WriteString(w, answered)
	})
	temperature := 0.2
	for _, c := range []struct {
		model, want string
		level       sdk.Reasoning
		fails       bool
	}{
		{"thinks", "[none low]", sdk.ReasoningOff, false},
		{"thinks", "[none low low]", sdk.ReasoningOff, false},
		{"thinks", "[none low low high]", sdk.ReasoningHigh, false},
		{"grok-4", "[none low ]", sdk.ReasoningOff, false},
		{"grok-4", "[none low  ]", sdk.ReasoningHigh, false},
		{"cool", "[medium medium]", sdk.ReasoningMedium, false},
		{"cool", "[medium medium medium]", sdk.ReasoningMedium, false},
		{"missing", "[low]", sdk.ReasoningLow, true},
		{"able", "[none]", sdk.ReasoningOff, false},
	} {
		req := asking()
		req.Model, req.Reasoning, req.Temperature = c.model, c.level, &temperature
		_, err := collect(t, o, req)
		if got := fmt.Sprint(asked[c.model]); got != c.want || (err != nil) != c.fails {
			t.Errorf("%s %s: asked with %s, %v; want %s", c.model, c.level, got, err, c.want)
		}
	}
}
