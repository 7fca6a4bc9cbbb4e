package main

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
)

// chatRequest is the body of POST /api/chat. Truncate and Shift are off: what
// does not fit must be an error, for a conversation whose beginning was cut off
// silently goes on without its task.
type chatRequest struct {
	Model    string         `json:"model"`
	Messages []chatMessage  `json:"messages"`
	Tools    []chatTool     `json:"tools,omitempty"`
	Stream   bool           `json:"stream"`
	Truncate bool           `json:"truncate"`
	Shift    bool           `json:"shift"`
	Think    any            `json:"think,omitempty"` // true, false or a level
	Options  map[string]any `json:"options"`
}

type chatMessage struct {
	Role       sdk.Role   `json:"role"`
	Content    string     `json:"content"`
	Images     []string   `json:"images,omitempty"` // base64
	Thinking   string     `json:"thinking,omitempty"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatToolSpec `json:"function"`
}

type chatToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

func wireRequest(req sdk.Request, numCtx int) chatRequest {
	w := chatRequest{Model: req.Model, Stream: true, Options: map[string]any{"num_ctx": numCtx}}
	if req.Temperature != nil {
		w.Options["temperature"] = *req.Temperature
	}
	if req.MaxTokens > 0 {
		w.Options["num_predict"] = req.MaxTokens
	}
	for _, m := range req.Messages {
		w.Messages = append(w.Messages, wireMessage(m))
	}
	for _, t := range req.Tools {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		w.Tools = append(w.Tools, chatTool{Type: "function", Function: chatToolSpec{Name: t.Name, Description: t.Description, Parameters: parameters}})
	}
	return w
}

func wireMessage(m sdk.Message) chatMessage {
	w := chatMessage{Role: m.Role, Content: m.Text}
	switch m.Role {
	case sdk.RoleUser:
		for _, x := range m.Media {
			w.Images = append(w.Images, x.Data)
		}
	case sdk.RoleTool:
		w.ToolName, w.ToolCallID = m.Tool, m.CallID
	case sdk.RoleAssistant:
		for i, c := range m.Calls {
			w.ToolCalls = append(w.ToolCalls, chatCall{ID: c.ID, Function: chatFunction{Index: i, Name: c.Tool, Arguments: modelhttp.Object(c.Arguments)}})
		}
		if len(m.Calls) > 0 {
			w.Thinking = m.Reasoning // gpt-oss and Qwen go on from it between calls
		}
	}
	return w
}

// imageTokens is what an image counts as, about.
const imageTokens = 1000

// tokens is a rough count of the request, four characters each.
func (r chatRequest) tokens() int {
	n := 0
	for _, m := range r.Messages {
		n += len(m.Content) + len(m.Thinking) + len(m.Images)*imageTokens*4
		for _, c := range m.ToolCalls {
			n += len(c.Function.Name) + len(c.Function.Arguments)
		}
	}
	for _, t := range r.Tools {
		n += len(t.Function.Name) + len(t.Function.Description) + len(t.Function.Parameters)
	}
	return n / 4
}
