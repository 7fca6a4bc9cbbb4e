package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// listTime bounds the listing of models, extra questions included.
const listTime = 10 * time.Second

// Models lists what the server offers, with context sizes where it tells them:
// in the list itself, or at an address of its own (LM Studio, llama.cpp).
func (o *openai) Models(ctx context.Context) ([]sdk.Model, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var raw json.RawMessage
	if err := o.client.Get(ctx, "/models", &raw); err != nil {
		var e *sdk.ProviderError
		if errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented) {
			return nil, nil // a server that cannot list
		}
		return nil, err
	}
	listed := readList(raw)
	var out []sdk.Model
	for _, m := range listed {
		if m.chats() {
			out = append(out, m.model())
		}
	}
	switch {
	case ownedBy(listed, "organization_owner"): // LM Studio's name for everybody
		out = o.askLMStudio(ctx, out)
	case ownedBy(listed, "llamacpp"):
		o.askLlamaCpp(ctx, out)
	}
	return out, nil
}

// listedModel holds what the servers' lists say, each under its own name.
type listedModel struct {
	ID            string          `json:"id"`
	Type          string          `json:"type"` // Together and LM Studio: chat, llm, vlm, embedding(s), image, ...
	OwnedBy       string          `json:"owned_by"`
	Active        *bool           `json:"active"`             // Groq
	ContextLength json.RawMessage `json:"context_length"`     // OpenRouter, Together, SambaNova
	ContextWindow json.RawMessage `json:"context_window"`     // Groq
	MaxModelLen   json.RawMessage `json:"max_model_len"`      // vLLM
	MaxContext    json.RawMessage `json:"max_context_length"` // Mistral, LM Studio
	MaxCompletion json.RawMessage `json:"max_completion_tokens"`
	Meta          struct {
		NCtx json.RawMessage `json:"n_ctx"` // llama.cpp: the window it was started with
	} `json:"meta"`
	TopProvider struct {
		MaxCompletion json.RawMessage `json:"max_completion_tokens"`
	} `json:"top_provider"` // OpenRouter
	Supported    []string `json:"supported_parameters"` // OpenRouter
	Architecture struct {
		Inputs  []string `json:"input_modalities"`
		Outputs []string `json:"output_modalities"`
	} `json:"architecture"`
	Pricing struct {
		Prompt     json.RawMessage `json:"prompt"`
		Completion json.RawMessage `json:"completion"`
	} `json:"pricing"` // OpenRouter: dollars for one token, as text
}

// readList reads {"data":[...]} or a bare list. An entry that cannot be read
// is left out and costs none of the others.
func readList(raw json.RawMessage) []listedModel {
	var wrapped struct {
		Data []json.RawMessage `json:"data"`
	}
	items := []json.RawMessage{}
	if json.Unmarshal(raw, &wrapped) == nil {
		items = wrapped.Data
	} else if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var out []listedModel
	for _, item := range items {
		var m listedModel
		if json.Unmarshal(item, &m) == nil && m.ID != "" {
			out = append(out, m)
		}
	}
	return out
}

var notForChat = regexp.MustCompile(`(?i)embed|whisper|rerank|moderation|dall-e|(?:^|[-/_])(?:tts|bge|e5|gte)(?:[-_]|$)|gpt-image|sora|realtime|transcribe|stable-diffusion|prompt-guard`)

// chats leaves out models that answer no conversation. Where the server has no
// word for a model's type, its name has to do.
func (m listedModel) chats() bool {
	switch m.Type {
	case "", "model":
	case "chat", "llm", "vlm", "language", "code":
		return true
	default:
		return false
	}
	if m.Active != nil && !*m.Active {
		return false
	}
	if out := m.Architecture.Outputs; len(out) > 0 {
		return slices.Contains(out, "text")
	}
	return !notForChat.MatchString(m.ID)
}

func (m listedModel) model() sdk.Model {
	out := sdk.Model{Name: m.ID, Streaming: true}
	// The window a server runs with comes before what its model could do.
	for _, n := range []json.RawMessage{m.Meta.NCtx, m.MaxModelLen, m.ContextWindow, m.ContextLength, m.MaxContext} {
		if out.Context == 0 {
			out.Context = count(n)
		}
	}
	out.MaxOutput = max(count(m.MaxCompletion), count(m.TopProvider.MaxCompletion))
	switch {
	case slices.Contains(m.Architecture.Inputs, "image") || m.Type == "vlm":
		out.Inputs = []string{"text", "image"}
	case len(m.Architecture.Inputs) > 0 || m.Type == "llm":
		out.Inputs = []string{"text"}
	}
	if m.Supported != nil {
		able := slices.Contains(m.Supported, "tools")
		out.Tools = &able
	}
	prompt, ok := price(m.Pricing.Prompt)
	completion, also := price(m.Pricing.Completion)
	if ok && also {
		out.Price = &sdk.Price{Prompt: prompt, Completion: completion}
	}
	return out
}

// price turns dollars for one token into dollars for a million; a router's
// "-1" says that it depends.
func price(raw json.RawMessage) (float64, bool) {
	n, err := strconv.ParseFloat(word(raw), 64)
	return n * 1e6, err == nil && n >= 0
}

func count(raw json.RawMessage) int {
	n, err := strconv.ParseFloat(word(raw), 64)
	if err != nil || n <= 0 || n > 1e9 {
		return 0
	}
	return int(n)
}

func ownedBy(list []listedModel, owner string) bool {
	return slices.ContainsFunc(list, func(m listedModel) bool { return m.OwnedBy == owner })
}
