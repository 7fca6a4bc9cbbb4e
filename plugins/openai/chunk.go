package main

import (
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
)

// chunk is one document of a stream, or the one of an answer that does not
// stream. What servers disagree about is kept raw and read with tolerance: a
// field of an unexpected kind must not cost the whole answer.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Object  json.RawMessage `json:"object"`
	XGroq   struct {
		Usage json.RawMessage `json:"usage"`
		Error json.RawMessage `json:"error"`
	} `json:"x_groq"`
}

type choice struct {
	Index        int             `json:"index"`
	Delta        *delta          `json:"delta"`
	Message      *delta          `json:"message"`
	FinishReason json.RawMessage `json:"finish_reason"`
}

type delta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
}

type wireFragment struct {
	Index    json.RawMessage `json:"index"`
	ID       json.RawMessage `json:"id"`
	Function struct {
		Name      json.RawMessage `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content"`
}

// isError reports whether the document is an error in place of a chunk.
func (c chunk) isError() bool {
	return present(c.Error) || present(c.XGroq.Error) || word(c.Object) == "error"
}

func present(raw json.RawMessage) bool {
	switch strings.TrimSpace(string(raw)) {
	case "", "null", `""`, "{}", "false":
		return false
	}
	return true
}

// word reads a string or a number as text; anything else is "".
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// text reads a string's bytes; anything else is nothing.
func text(raw json.RawMessage) []byte {
	var t modelhttp.Text
	if len(raw) == 0 || t.UnmarshalJSON(raw) != nil {
		return nil
	}
	return t
}

// content reads message content: a string, or a list of parts of which some
// may be thinking (Mistral).
func content(raw json.RawMessage) (said, thought []byte) {
	if len(raw) == 0 || raw[0] != '[' {
		return text(raw), nil
	}
	var parts []struct {
		Text     json.RawMessage `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return nil, nil
	}
	for _, p := range parts {
		said = append(said, text(p.Text)...)
		inner, _ := content(p.Thinking)
		thought = append(thought, inner...)
	}
	return said, thought
}

// fragments reads the pieces of calls: a list, or one object.
func fragments(raw json.RawMessage) []fragment {
	if !present(raw) {
		return nil
	}
	var list []wireFragment
	if json.Unmarshal(raw, &list) != nil {
		var one wireFragment
		if json.Unmarshal(raw, &one) != nil {
			return nil
		}
		list = []wireFragment{one}
	}
	out := make([]fragment, 0, len(list))
	for _, w := range list {
		f := fragment{index: -1, id: word(w.ID), tool: word(w.Function.Name), extra: w.ExtraContent}
		var n int
		if index := word(w.Index); index != "" && json.Unmarshal([]byte(index), &n) == nil && n >= 0 {
			f.index = n
		}
		switch args := w.Function.Arguments; {
		case len(args) == 0 || string(args) == "null":
		case args[0] == '"':
			f.arguments = text(args)
		default:
			f.arguments, f.whole = args, true
		}
		out = append(out, f)
	}
	return out
}

type wireUsage struct {
	Prompt     *float64 `json:"prompt_tokens"`
	Completion *float64 `json:"completion_tokens"`
	Total      *float64 `json:"total_tokens"`
	Cost       *float64 `json:"cost"`
	CacheHit   *float64 `json:"prompt_cache_hit_tokens"` // DeepSeek
	PromptMore struct {
		Cached *float64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionMore struct {
		Reasoning *float64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// usage reads a usage report. One that is absent, broken or negative is none:
// the budget then counts by its own estimate.
func usage(raw json.RawMessage) *sdk.Usage {
	var w wireUsage
	if !present(raw) || json.Unmarshal(raw, &w) != nil || (w.Prompt == nil && w.Completion == nil && w.Total == nil) {
		return nil
	}
	u := &sdk.Usage{}
	for _, f := range []struct {
		to   *int
		from *float64
	}{
		{&u.Prompt, w.Prompt}, {&u.Completion, w.Completion}, {&u.Total, w.Total},
		{&u.Cached, w.CacheHit}, {&u.Cached, w.PromptMore.Cached}, {&u.Reasoning, w.CompletionMore.Reasoning},
	} {
		if f.from == nil {
			continue
		}
		if *f.from < 0 || *f.from > 1e12 {
			return nil
		}
		*f.to = int(*f.from)
	}
	if w.Cost != nil && *w.Cost > 0 {
		u.Cost = w.Cost
	}
	u.Total = max(u.Total, u.Prompt+u.Completion)
	return u
}
