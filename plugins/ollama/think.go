package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// think is how a model is told how much to think; nil is not at all. What it can be
// told newer servers say themselves; of others gpt-oss alone is known to have levels,
// and not to be stopped.
func (s shown) think(model string, level sdk.Reasoning) any {
	values := s.Thinking.Values
	switch {
	case level == "" || s.Capabilities != nil && !slices.Contains(s.Capabilities, "thinking"):
		return nil
	case len(values) == 0 && strings.Contains(model, "gpt-oss"):
		values = []any{"low", "medium", "high"}
	case len(values) == 0:
		values = []any{true, false}
	}
	for _, fits := range nearest(level) {
		if slices.Contains(values, fits) {
			return fits
		}
	}
	return nil
}

// nearest are the words for a level, the one that says it best first.
func nearest(level sdk.Reasoning) []any {
	switch level {
	case sdk.ReasoningOff:
		return []any{false, "none", "low"}
	case sdk.ReasoningLow:
		return []any{"low", true}
	case sdk.ReasoningMedium:
		return []any{"medium", true, "high"}
	default:
		return []any{"high", true}
	}
}

// thinkOf asks the server about a model, unless its list has told.
func (o *ollama) thinkOf(ctx context.Context, req sdk.Request) any {
	if req.Reasoning == "" {
		return nil
	}
	about, ok := o.known.Load(withTag(req.Model))
	known, is := about.(shown)
	if !ok || !is {
		limited, cancel := context.WithTimeout(ctx, listTime)
		defer cancel()
		var err error
		if known, err = o.show(limited, req.Model); err != nil {
			return nil // the completion will say what is wrong
		}
	}
	return known.think(req.Model, req.Reasoning)
}

// refusesThinking reports whether a model was told how much to think and cannot be.
func refusesThinking(err error) bool {
	var e *sdk.ProviderError
	return errors.As(err, &e) && e.Status == http.StatusBadRequest && strings.Contains(e.Message, "does not support thinking")
}
