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

// TestReasoning: a model is told how much to think in the form that it takes, which is
// learned from what it refuses, once.
func TestReasoning(t *testing.T) {
	const adaptive, effort = `{"type":"adaptive"}`, `{"effort":"%s"}`
	newest := func(body string) string {
		if strings.Contains(body, `"disabled"`) || strings.Contains(body, `"enabled"`) {
			return `"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`
		}
		return ""
	}
	older := func(body string) string {
		if strings.Contains(body, "adaptive") {
			return "adaptive thinking is not supported on this model"
		}
		return ""
	}
	oldest := func(body string) string {
		if strings.Contains(body, `"thinking"`) {
			return "`thinking` is not supported: this model does not support extended thinking. adaptive"
		}
		return ""
	}
	unprepared := func(body string) string {
		if strings.Contains(body, `"thinking"`) {
			return "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block"
		}
		return ""
	}
	takes := func(string) string { return "" }
	for _, c := range []struct {
		name    string
		refuses func(body string) string
		level   sdk.Reasoning
		want    string // thinking and output_config
		asked   []int  // requests for the first completion, and for the second
	}{
		{"nobody said", takes, "", "", []int{1, 1}},
		{"a level", takes, sdk.ReasoningMedium, adaptive + fmt.Sprintf(effort, "medium"), []int{1, 1}},
		{"off", takes, sdk.ReasoningOff, `{"type":"disabled"}`, []int{1, 1}},
		{"off, and it always thinks", newest, sdk.ReasoningOff, adaptive + fmt.Sprintf(effort, "low"), []int{2, 1}},
		{"high, of the newest", newest, sdk.ReasoningHigh, adaptive + fmt.Sprintf(effort, "high"), []int{1, 1}},
		{"low, by a budget", older, sdk.ReasoningLow, `{"type":"enabled","budget_tokens":2048}`, []int{2, 1}},
		{"high, by half of the room", older, sdk.ReasoningHigh, `{"type":"enabled","budget_tokens":4500}`, []int{2, 1}},
		{"off, of an older one", older, sdk.ReasoningOff, `{"type":"disabled"}`, []int{1, 1}},
		{"one that cannot", oldest, sdk.ReasoningHigh, "", []int{3, 1}},
		{"calls that were made without", unprepared, sdk.ReasoningHigh, "", []int{2, 2}},
	} {
		asked := 0
		var body map[string]json.RawMessage
		a := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
			asked++
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			body = nil
			if err := json.Unmarshal(raw, &body); err != nil {
				t.Error(err)
			}
			if refusal := c.refuses(string(raw)); refusal != "" {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, refusal)
				return
			}
			_, _ = io.WriteString(w, a200+ended)
		})
		temperature := 0.2
		req := sdk.Request{Model: "m", MaxTokens: 9000, Reasoning: c.level, Temperature: &temperature, Messages: []sdk.Message{user("a")}}
		for i, want := range c.asked {
			asked = 0
			_, err := collect(t, a, req)
			got := string(body["thinking"]) + string(body["output_config"])
			if err != nil || asked != want || got != c.want {
				t.Errorf("%s, completion %d: sent %s after %d requests, %v; want %s after %d", c.name, i, got, asked, err, c.want, want)
			}
			if thinks := strings.Contains(got, "adaptive") || strings.Contains(got, "enabled"); thinks == (body["temperature"] != nil) {
				t.Errorf("%s: temperature %s", c.name, body["temperature"])
			}
		}
	}
}

// TestNoRoomToThink: a bound of an answer that is too small for any budget leaves the
// thinking out.
func TestNoRoomToThink(t *testing.T) {
	if got := (shape{byBudget: true}).thought(sdk.ReasoningHigh, 2000); got != (thought{}) {
		t.Errorf("%+v", got)
	}
}
