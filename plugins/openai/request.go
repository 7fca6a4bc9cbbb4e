package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
)

// shape is what of the dialect a server takes. It is learned from refusals and
// kept while the process lives.
type shape struct {
	noUsage          bool // it refuses stream_options
	completionTokens bool // it wants max_completion_tokens in place of max_tokens
	turned           bool // completionTokens was changed once, and is not again
	shortIDs         bool // it takes no ids of calls but of nine letters and digits
}

// without is the shape to try after err; the same one when err is no refusal
// of a field.
func (s shape) without(err error) shape {
	var e *sdk.ProviderError
	if !errors.As(err, &e) || (e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity) {
		return s
	}
	switch {
	case !s.noUsage && (strings.Contains(e.Message, "stream_options") || strings.Contains(e.Message, "include_usage")):
		s.noUsage = true
	case !s.shortIDs && strings.Contains(e.Message, "with a length of 9"):
		s.shortIDs = true // a model of Mistral's, wherever it runs
	case !s.turned && strings.Contains(e.Message, "max_completion_tokens"):
		s.completionTokens, s.turned = !s.completionTokens, true
	}
	return s
}

type wireRequest struct {
	Model               string         `json:"model"`
	Messages            []wireMessage  `json:"messages"`
	Tools               []wireTool     `json:"tools,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Usage               *usageOptions  `json:"usage,omitempty"`
	thought
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type usageOptions struct {
	Include bool `json:"include"`
}

type wireMessage struct {
	Role             sdk.Role          `json:"role"`
	Content          any               `json:"content"` // a text, a []wirePart, or nil
	ReasoningContent string            `json:"reasoning_content,omitempty"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []wireCall        `json:"tool_calls,omitempty"`
	ToolCallID       string            `json:"tool_call_id,omitempty"`
}

// wirePart is a part of a message with images.
type wirePart struct {
	Type  string     `json:"type"`
	Text  string     `json:"text,omitempty"`
	Image *wireImage `json:"image_url,omitempty"`
}

type wireImage struct {
	URL string `json:"url"`
}

// illustrated are images with the text behind them.
func illustrated(m sdk.Message) []wirePart {
	var parts []wirePart
	for _, x := range m.Media {
		parts = append(parts, wirePart{Type: "image_url", Image: &wireImage{"data:" + x.MIMEType + ";base64," + x.Data}})
	}
	if m.Text != "" {
		parts = append(parts, wirePart{Type: "text", Text: m.Text})
	}
	return parts
}

type wireCall struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Function     wireFunction    `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content,omitempty"`
}

type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type wireTool struct {
	Type     string       `json:"type"`
	Function wireToolSpec `json:"function"`
}

type wireToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (o *openai) wireRequest(req sdk.Request, s shape) wireRequest {
	w := wireRequest{Model: req.Model, Stream: true}
	known := o.habits(req.Model)
	if !known.noTemperature {
		w.Temperature = req.Temperature
	}
	if level := known.level(req.Reasoning); level != "" {
		w.thought = o.profile.think(req.Model, level)
	}
	if !s.noUsage {
		w.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if o.profile.cost {
		w.Usage = &usageOptions{Include: true}
	}
	if s.completionTokens {
		w.MaxCompletionTokens = req.MaxTokens
	} else {
		w.MaxTokens = req.MaxTokens
	}
	for _, m := range req.Messages {
		w.Messages = append(w.Messages, o.wireMessage(m, s))
	}
	for _, t := range req.Tools {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		w.Tools = append(w.Tools, wireTool{Type: "function", Function: wireToolSpec{Name: t.Name, Description: t.Description, Parameters: parameters}})
	}
	return w
}

func (o *openai) wireMessage(m sdk.Message, s shape) wireMessage {
	w := wireMessage{Role: m.Role, ToolCallID: s.id(m.CallID), Content: m.Text}
	if m.Role == sdk.RoleUser && len(m.Media) > 0 {
		w.Content = illustrated(m)
	}
	if m.Role != sdk.RoleAssistant {
		return w
	}
	if m.Text == "" && len(m.Calls) > 0 {
		w.Content = nil // an empty text beside calls is refused by some
	}
	kept := o.kept(m.Extra)
	w.ReasoningDetails = kept.Details
	if kept.Field == fieldReasoningContent && len(m.Calls) > 0 {
		// DeepSeek refuses calls whose reasoning is not passed back, and older
		// models refuse reasoning with any other message.
		w.ReasoningContent = m.Reasoning
	}
	for _, c := range m.Calls {
		w.ToolCalls = append(w.ToolCalls, wireCall{
			ID: s.id(c.ID), Type: "function", ExtraContent: kept.Calls[c.ID],
			Function: wireFunction{Name: modelhttp.ToolName(c.Tool), Arguments: string(modelhttp.Object(c.Arguments))},
		})
	}
	return w
}

// idLength is that of the ids which Mistral takes.
const idLength = 9

var shortID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// id is a call's id as the server takes it: the same one for the call and for its
// result.
func (s shape) id(id string) string {
	if !s.shortIDs || id == "" || shortID.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:idLength]
}

// kept is what a completion leaves for the next request, in Finish.Extra. From
// is the server's host: another one would refuse what it does not know.
type kept struct {
	From    string                     `json:"from"`
	Field   string                     `json:"reasoning_field,omitempty"`
	Details []json.RawMessage          `json:"reasoning_details,omitempty"`
	Calls   map[string]json.RawMessage `json:"calls,omitempty"` // extra_content by call id (Gemini's signatures)
}

func (o *openai) kept(extra json.RawMessage) kept {
	var k kept
	if json.Unmarshal(extra, &k) != nil || k.From != o.client.Host() {
		return kept{}
	}
	return k
}
