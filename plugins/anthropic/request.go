package main

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
)

// wireRequest is the body of POST /v1/messages.
type wireRequest struct {
	Model       string        `json:"model"`
	MaxTokens   int           `json:"max_tokens"` // the dialect requires it
	System      []*wireBlock  `json:"system,omitempty"`
	Tools       []wireTool    `json:"tools,omitempty"`
	Messages    []wireMessage `json:"messages"`
	Stream      bool          `json:"stream"`
	Temperature *float64      `json:"temperature,omitempty"`
	thought
}

type wireTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *cacheMark      `json:"cache_control,omitempty"`
}

type wireMessage struct {
	Role    sdk.Role     `json:"role"`
	Content []*wireBlock `json:"content"`
}

// wireBlock is one block of content. Kept is one of the server's own, which goes
// back as it came and in place of everything else.
type wireBlock struct {
	Type   string          `json:"type"`
	Text   string          `json:"text,omitempty"`
	ID     string          `json:"id,omitempty"`
	Name   string          `json:"name,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	CallID string          `json:"tool_use_id,omitempty"`
	Result string          `json:"content,omitempty"`
	Failed bool            `json:"is_error,omitempty"`
	Cache  *cacheMark      `json:"cache_control,omitempty"`
	Source *wireSource     `json:"source,omitempty"` // of an image
	Kept   json.RawMessage `json:"-"`
}

// MarshalJSON gives a kept block back to the byte.
func (b *wireBlock) MarshalJSON() ([]byte, error) {
	if b.Kept != nil {
		return b.Kept, nil
	}
	type plain wireBlock
	return encode((*plain)(b)), nil
}

// wireSource is an image.
type wireSource struct {
	Type string `json:"type"`
	MIME string `json:"media_type"`
	Data string `json:"data"`
}

// cacheMark says that what stands before it, in the order tools, system, messages,
// is to be kept by the server for a few minutes.
type cacheMark struct {
	Type string `json:"type"`
}

func textBlock(text string) *wireBlock { return &wireBlock{Type: "text", Text: text} }

// wireRequest writes a request whose answer may take room tokens.
func (a *anthropic) wireRequest(req sdk.Request, room int, s shape) wireRequest {
	w := wireRequest{Model: req.Model, MaxTokens: room, Stream: true}
	if s.most > 0 {
		w.MaxTokens = min(room, s.most)
	}
	if w.thought = s.thought(req.Reasoning, w.MaxTokens); !s.noTemperature && !w.thinks() {
		w.Temperature = req.Temperature
	}
	for _, t := range req.Tools {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		w.Tools = append(w.Tools, wireTool{Name: modelhttp.ToolName(t.Name), Description: t.Description, Schema: schema})
	}
	c := conversation{from: a.client.Host(), forgetful: s.noThinking}
	for _, m := range req.Messages {
		c.add(m)
	}
	w.System, w.Messages = c.end()
	if !s.noMarks {
		w.mark()
	}
	return w
}

// mark puts the cache marks: behind the tools and behind the system text, which
// stay the same from turn to turn, and at the end of the conversation, with which
// the next turn's begins.
func (w *wireRequest) mark() {
	cache := &cacheMark{Type: "ephemeral"}
	if n := len(w.Tools); n > 0 {
		w.Tools[n-1].Cache = cache
	}
	if n := len(w.System); n > 0 {
		w.System[n-1].Cache = cache
	}
	if n := len(w.Messages); n > 0 {
		content := w.Messages[n-1].Content
		content[len(content)-1].Cache = cache
	}
}
