package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// listTime bounds the listing of models, all pages of it.
const listTime = 10 * time.Second

// maxPages bounds how many pages are asked for.
const maxPages = 20

// defaultRoom is how long an answer may become, in tokens, when nobody says and
// the server does not tell what its model can write.
const defaultRoom = 8192

// listedModel is a model of GET /v1/models.
type listedModel struct {
	ID           string          `json:"id"`
	Context      json.RawMessage `json:"max_input_tokens"`
	MaxOutput    json.RawMessage `json:"max_tokens"`
	Capabilities struct {
		Image struct {
			Supported *bool `json:"supported"`
		} `json:"image_input"`
	} `json:"capabilities"`
}

// Models lists what the server offers, with context sizes where it tells them.
func (a *anthropic) Models(ctx context.Context) ([]sdk.Model, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var out []sdk.Model
	seen := map[string]bool{}
	query := url.Values{"limit": {"1000"}}
	for range maxPages {
		var page struct {
			Data []json.RawMessage `json:"data"`
			More bool              `json:"has_more"`
			Last string            `json:"last_id"`
		}
		if err := a.client.Get(ctx, "/v1/models?"+query.Encode(), &page); err != nil {
			if cannotList(err) {
				return nil, nil
			}
			return nil, err
		}
		for _, raw := range page.Data { // one that cannot be read costs none of the others
			var m listedModel
			if json.Unmarshal(raw, &m) == nil && m.ID != "" && !seen[m.ID] {
				seen[m.ID] = true
				out = append(out, a.model(m))
			}
		}
		if !page.More || page.Last == "" {
			break
		}
		query.Set("after_id", page.Last)
	}
	return out, nil
}

// model is a listed model, which is remembered for its completions.
func (a *anthropic) model(m listedModel) sdk.Model {
	out := sdk.Model{Name: m.ID, Context: max(0, number(m.Context)), MaxOutput: max(0, number(m.MaxOutput)), Streaming: true}
	if sees := m.Capabilities.Image.Supported; sees != nil {
		if out.Inputs = []string{"text"}; *sees {
			out.Inputs = append(out.Inputs, "image")
		}
	}
	if a.client.Base().Hostname() == official {
		able := true // there is no model in its list that cannot
		out.Tools = &able
	}
	a.known.Store(m.ID, out)
	return out
}

// cannotList reports whether a server has no list, or does not know the model.
func cannotList(err error) bool {
	var e *sdk.ProviderError
	return errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented)
}

// room is how many tokens an answer may have, which the dialect requires to be
// said: the caller's number, else as many as the model can write, and no more than
// a tenth of its window, for the prompt is made to fit the rest.
func (a *anthropic) room(ctx context.Context, req sdk.Request) (int, error) {
	if req.MaxTokens > 0 {
		return req.MaxTokens, nil
	}
	about, err := a.about(ctx, req.Model)
	if err != nil {
		return 0, err
	}
	room := defaultRoom
	if about.MaxOutput > 0 {
		room = about.MaxOutput
	}
	window := req.Context
	if window == 0 {
		window = about.Context
	}
	if window > 0 {
		room = min(room, max(window/10, 1024))
	}
	return room, nil
}

// about is what the server tells of a model. One that does not answer the question
// is asked for the completion all the same; it will say itself what is wrong.
func (a *anthropic) about(ctx context.Context, name string) (sdk.Model, error) {
	if known, ok := a.known.Load(name); ok {
		about, _ := known.(sdk.Model)
		return about, nil
	}
	limited, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var m listedModel
	err := a.client.Get(limited, "/v1/models/"+name, &m)
	switch {
	case err == nil && m.ID != "":
		about := a.model(m)
		a.known.Store(name, about) // which may be another name for it
		return about, nil
	case err == nil || cannotList(err):
		a.known.Store(name, sdk.Model{})
	case ctx.Err() != nil:
		return sdk.Model{}, err
	}
	return sdk.Model{}, nil
}
