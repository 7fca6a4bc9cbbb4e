package main

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// shape is what of the dialect a model takes. It is learned from refusals and
// kept while the process lives.
type shape struct {
	most          int  // max_tokens, at most; 0 is unknown
	noTemperature bool // newer models choose it themselves
	noMarks       bool // a server that only resembles Anthropic's and knows no cache_control
	noThinking    bool // it does not take back the thinking of this conversation
	byBudget      bool // it is told how much to think by a budget
	alwaysThinks  bool // it cannot be told not to think
	untold        bool // it cannot be told how much to think
	unprepared    bool // this conversation has calls that were made without thinking
}

func (a *anthropic) shape(model string) shape {
	s, _ := a.shapes.Load(model)
	known, _ := s.(shape)
	return known
}

// lasting is what also holds for other conversations.
func (s shape) lasting() shape {
	s.noThinking, s.unprepared = false, false
	return s
}

var (
	tooMany = regexp.MustCompile(`max_tokens: \d+ > (\d+)`)
	altered = regexp.MustCompile("(?i)invalid .?signature|invalid .?data.? in .?redacted_thinking|thinking.? blocks .*cannot be modified")
)

// without is the shape to try after err; the same one when err is no refusal
// of a field.
func (s shape) without(err error) shape {
	var e *sdk.ProviderError
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		return s
	}
	many := tooMany.FindStringSubmatch(e.Message)
	switch {
	case many != nil && s.most == 0:
		s.most, _ = strconv.Atoi(many[1]) // digits; too many of them are the largest number
	case altered.MatchString(e.Message):
		s.noThinking = true
	case strings.Contains(e.Message, "temperature"):
		s.noTemperature = true
	case strings.Contains(e.Message, "cache_control"):
		s.noMarks = true
	}
	return s
}
