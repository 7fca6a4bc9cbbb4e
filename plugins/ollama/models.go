package main

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// listTime bounds the listing of models.
const listTime = 10 * time.Second

// maxAsked bounds the questions to /api/show that are under way at once.
const maxAsked = 4

type tagged struct {
	Name    string `json:"name"`
	Model   string `json:"model"`
	Digest  string `json:"digest"`
	Host    string `json:"remote_host"` // of a model of Ollama's cloud: who runs it
	Details struct {
		Parameters string   `json:"parameter_size"`
		Families   []string `json:"families"`
	} `json:"details"`
}

// shown is what /api/show tells about a model.
type shown struct {
	Capabilities []string                   `json:"capabilities"`
	Info         map[string]json.RawMessage `json:"model_info"`
	Thinking     struct {
		Values []any `json:"values"` // what the model can be told: true, false, levels; newer servers
	} `json:"thinking"`

	digest string
}

// context is the model's own window: "<architecture>.context_length".
func (s shown) context() int {
	for name, raw := range s.Info {
		if n, err := strconv.ParseFloat(string(raw), 64); err == nil && strings.HasSuffix(name, ".context_length") && n > 0 && n < 1e9 {
			return int(n)
		}
	}
	return 0
}

// Models lists what is installed and can hold a conversation, the one to take
// first: see choiceOrder. Context is the window that Complete would use.
func (o *ollama) Models(ctx context.Context) ([]sdk.Model, error) {
	if err := o.awake(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var tags struct {
		Models []tagged `json:"models"`
	}
	if err := o.client.Get(ctx, "/api/tags", &tags); err != nil {
		return nil, err
	}
	about := o.showAll(ctx, tags.Models)
	loaded := o.loaded(ctx)
	var list []sized
	for i, t := range tags.Models {
		name := cmp.Or(t.Name, t.Model)
		if name == "" || !chats(name, t.Details.Families, about[i].Capabilities) {
			continue
		}
		m := sdk.Model{Name: name, Context: o.usable(about[i].context(), loaded[withTag(name)]), Streaming: true, Remote: t.Host != ""}
		if caps := about[i].Capabilities; caps != nil {
			able := slices.Contains(caps, "tools")
			m.Tools = &able
			m.Inputs = []string{"text"}
			if slices.Contains(caps, "vision") {
				m.Inputs = append(m.Inputs, "image")
			}
		}
		list = append(list, sized{Model: m, billions: parseSize(t.Details.Parameters)})
	}
	return choiceOrder(list), nil
}

// showAll asks for every model; one that fails is left without what it would
// have told.
func (o *ollama) showAll(ctx context.Context, tags []tagged) []shown {
	out := make([]shown, len(tags))
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxAsked)
	for i, t := range tags {
		if about, ok := o.remembered(t.Name, t.Digest); ok {
			out[i] = about
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			about, err := o.show(ctx, t.Name)
			if err != nil {
				return
			}
			about.digest = t.Digest
			out[i] = about
			o.known.Store(t.Name, about)
		})
	}
	wg.Wait()
	return out
}

// remembered finds what was told about the very same model: a pull under its
// name gives it another digest.
func (o *ollama) remembered(name, digest string) (shown, bool) {
	told, _ := o.known.Load(name)
	about, ok := told.(shown)
	return about, ok && digest != "" && about.digest == digest
}

func (o *ollama) show(ctx context.Context, model string) (shown, error) {
	var about shown
	err := o.client.PostJSON(ctx, "/api/show", map[string]string{"model": model}, &about)
	return about, err
}

// loaded tells the window of each model in memory, by its name with tag. A
// server that does not tell has none.
func (o *ollama) loaded(ctx context.Context) map[string]int {
	var ps struct {
		Models []struct {
			Name    string `json:"name"`
			Context int    `json:"context_length"`
		} `json:"models"`
	}
	if o.client.Get(ctx, "/api/ps", &ps) != nil {
		return nil
	}
	out := map[string]int{}
	for _, m := range ps.Models {
		out[withTag(m.Name)] = m.Context
	}
	return out
}

// withTag is a model's full name: what has no tag means ":latest".
func withTag(name string) string {
	if last := name[strings.LastIndex(name, "/")+1:]; strings.Contains(last, ":") || name == "" {
		return name
	}
	return name + ":latest"
}
