package main

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// thought are the fields by which servers are told how much a model is to think. Each
// profile sets those that its server knows.
type thought struct {
	Effort    string           `json:"reasoning_effort,omitempty"`
	Reasoning *routerReasoning `json:"reasoning,omitempty"`
	Thinking  *thinkingSwitch  `json:"thinking,omitempty"`
	Template  map[string]any   `json:"chat_template_kwargs,omitempty"`
}

type routerReasoning struct {
	Effort string `json:"effort"`
}

type thinkingSwitch struct {
	Type string `json:"type"`
}

// effortOf is a level in OpenAI's words.
func effortOf(level sdk.Reasoning) string {
	if level == sdk.ReasoningOff {
		return "none"
	}
	return string(level)
}

// effort is the field of the common shape.
func effort(_ string, level sdk.Reasoning) thought { return thought{Effort: effortOf(level)} }

// groqEffort: Groq's Qwen only knows thinking and not thinking.
func groqEffort(model string, level sdk.Reasoning) thought {
	if strings.Contains(model, "qwen") && level != sdk.ReasoningOff {
		return thought{Effort: "default"}
	}
	return effort(model, level)
}

func router(_ string, level sdk.Reasoning) thought {
	return thought{Reasoning: &routerReasoning{Effort: effortOf(level)}}
}

// onOrOff: Mistral knows no levels between none and high.
func onOrOff(_ string, level sdk.Reasoning) thought {
	if level != sdk.ReasoningOff {
		level = sdk.ReasoningHigh
	}
	return thought{Effort: effortOf(level)}
}

// deepseekThinking is a switch, and an effort that is low or high.
func deepseekThinking(_ string, level sdk.Reasoning) thought {
	switch level {
	case sdk.ReasoningOff:
		return thought{Thinking: &thinkingSwitch{"disabled"}}
	case sdk.ReasoningLow:
		return thought{Thinking: &thinkingSwitch{"enabled"}, Effort: "low"}
	}
	return thought{Thinking: &thinkingSwitch{"enabled"}, Effort: "high"}
}

// template tells the model's chat template, which a local server fills in: most know a
// switch, gpt-oss an effort. Both are ignored by a template that does not know them.
func template(_ string, level sdk.Reasoning) thought {
	if level == sdk.ReasoningOff {
		return thought{Template: map[string]any{"enable_thinking": false}}
	}
	return thought{Template: map[string]any{"enable_thinking": true, "reasoning_effort": string(level)}}
}

// habits are what one model was found to refuse.
type habits struct {
	noTemperature bool
	alwaysThinks  bool // it refuses not to think: the least is low
	fixed         bool // it refuses to be told how much to think
}

func (o *openai) habits(model string) habits {
	h, _ := o.models.Load(model)
	known, _ := h.(habits)
	return known
}

// level is what to ask the model for, the nearest that it takes; empty is nothing.
func (h habits) level(wanted sdk.Reasoning) sdk.Reasoning {
	switch {
	case h.fixed:
		return ""
	case h.alwaysThinks && wanted == sdk.ReasoningOff:
		return sdk.ReasoningLow
	}
	return wanted
}

var aboutThinking = regexp.MustCompile(`(?i)reasoning|thinking|chat_template`)

// learn learns from a refusal what the model of a request does not take. It reports
// whether that is news, so that the request can be made once more without it.
func (o *openai) learn(req sdk.Request, err error) bool {
	var e *sdk.ProviderError
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	was := o.habits(req.Model)
	now := was
	switch level := was.level(req.Reasoning); {
	case strings.Contains(e.Message, "reasoning_content"): // of an earlier message
	case level != "" && aboutThinking.MatchString(e.Message):
		now.fixed, now.alwaysThinks = level != sdk.ReasoningOff, true
	case req.Temperature != nil && strings.Contains(e.Message, "temperature"):
		now.noTemperature = true
	}
	o.models.Store(req.Model, now)
	return now != was
}
