package main

import (
	"errors"
	"net/http"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// thought are the fields that say how much a model is to think: newer ones decide by
// an effort, older ones get a budget.
type thought struct {
	Thinking *thinkingMode `json:"thinking,omitempty"`
	Output   *outputConfig `json:"output_config,omitempty"`
}

type thinkingMode struct {
	Type   string `json:"type"` // adaptive, enabled or disabled
	Budget int    `json:"budget_tokens,omitempty"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

// leastBudget is the smallest that the dialect has.
const leastBudget = 1024

// budgets are what older models may think by, in tokens.
var budgets = map[sdk.Reasoning]int{sdk.ReasoningLow: 2048, sdk.ReasoningMedium: 8192, sdk.ReasoningHigh: 24576}

// thought says how much to think by what the model takes, in an answer of room tokens;
// nothing where nobody said how much.
func (s shape) thought(level sdk.Reasoning, room int) thought {
	if level == sdk.ReasoningOff && s.alwaysThinks {
		level = sdk.ReasoningLow
	}
	budget := min(budgets[level], room/2)
	switch {
	case level == "" || s.untold || s.unprepared:
		return thought{}
	case level == sdk.ReasoningOff:
		return thought{Thinking: &thinkingMode{Type: "disabled"}}
	case !s.byBudget:
		return thought{Thinking: &thinkingMode{Type: "adaptive"}, Output: &outputConfig{Effort: string(level)}}
	case budget < leastBudget:
		return thought{}
	}
	return thought{Thinking: &thinkingMode{Type: "enabled", Budget: budget}}
}

// thinks reports whether the model is asked to: then it takes no temperature.
func (t thought) thinks() bool { return t.Thinking != nil && t.Thinking.Type != "disabled" }

// told is the shape to try after err for a model that was told how much to think; the
// same one when err is no refusal of that.
func (s shape) told(err error) shape {
	var e *sdk.ProviderError
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		return s
	}
	about := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(strings.ToLower(e.Message), w) {
				return true
			}
		}
		return false
	}
	switch {
	case about("must start with a thinking block"):
		s.unprepared = true
	case !s.alwaysThinks && about("disabled"):
		s.alwaysThinks = true
	case !s.byBudget && about("adaptive", "output_config", "effort"):
		s.byBudget = true
	case about("thinking", "budget_tokens", "adaptive", "output_config", "effort"):
		s.untold = true
	}
	return s
}
