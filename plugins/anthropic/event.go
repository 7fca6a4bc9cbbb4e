package main

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
)

// event is one event of a stream, or the one document of an answer that does not
// stream. What servers may disagree about is kept raw and read with tolerance.
type event struct {
	Type    string          `json:"type"`
	Index   json.RawMessage `json:"index"`
	Message json.RawMessage `json:"message"` // message_start
	Block   json.RawMessage `json:"content_block"`
	Delta   delta           `json:"delta"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Content json.RawMessage `json:"content"`     // of a whole document, type message
	Reason  string          `json:"stop_reason"` // likewise
}

type delta struct {
	Type      string         `json:"type"`
	Text      modelhttp.Text `json:"text"`
	Thinking  modelhttp.Text `json:"thinking"`
	Signature modelhttp.Text `json:"signature"`
	Arguments modelhttp.Text `json:"partial_json"`
	Reason    string         `json:"stop_reason"` // message_delta
}

// blockStart is a block as content_block_start has it: whole, or to be gone on with.
type blockStart struct {
	Type      string          `json:"type"`
	Text      modelhttp.Text  `json:"text"`
	Thinking  modelhttp.Text  `json:"thinking"`
	Signature modelhttp.Text  `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// number reads a count; what is none is -1.
func number(raw json.RawMessage) int {
	var n float64
	if len(raw) == 0 || json.Unmarshal(raw, &n) != nil || n < 0 || n > 1e12 {
		return -1
	}
	return int(n)
}

// usage is what was reported so far. Every report is about the whole answer, and
// some servers tell a number at the beginning only, others at the end only.
type usage struct {
	told                 bool
	input, read, written int // the prompt: not from the cache, from it, put into it
	output, thinking     int
}

func (u *usage) add(raw json.RawMessage) {
	var w struct {
		Input   json.RawMessage `json:"input_tokens"`
		Read    json.RawMessage `json:"cache_read_input_tokens"`
		Written json.RawMessage `json:"cache_creation_input_tokens"`
		Output  json.RawMessage `json:"output_tokens"`
		Details struct {
			Thinking json.RawMessage `json:"thinking_tokens"`
		} `json:"output_tokens_details"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &w) != nil {
		return
	}
	for _, f := range []struct {
		to   *int
		from json.RawMessage
	}{{&u.input, w.Input}, {&u.read, w.Read}, {&u.written, w.Written}, {&u.output, w.Output}, {&u.thinking, w.Details.Thinking}} {
		if n := number(f.from); n >= 0 {
			u.told, *f.to = true, max(*f.to, n)
		}
	}
}

// report is nil when the server told nothing.
func (u *usage) report() *sdk.Usage {
	if !u.told {
		return nil
	}
	prompt := u.input + u.read + u.written
	return &sdk.Usage{Prompt: prompt, Cached: u.read, Completion: u.output, Reasoning: u.thinking, Total: prompt + u.output}
}
