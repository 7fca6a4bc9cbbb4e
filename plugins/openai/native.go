package main

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// askLMStudio adds what LM Studio tells at its own address: the context of the
// loaded instance, and which models were trained to call tools. It leaves out
// embedding models, and puts loaded models first. An older or absent address
// leaves the list as it is.
func (o *openai) askLMStudio(ctx context.Context, list []sdk.Model) []sdk.Model {
	told, err := o.lmStudio(ctx)
	if err != nil || len(told) == 0 {
		return list
	}
	var loaded, others []sdk.Model
	for _, m := range list {
		t, ok := told[m.Name]
		if ok && !t.chats {
			continue
		}
		if ok {
			m.Context, m.Tools = t.context, t.tools
			if m.Inputs = []string{"text"}; t.vision {
				m.Inputs = append(m.Inputs, "image")
			}
		}
		if t.loaded {
			loaded = append(loaded, m)
		} else {
			others = append(others, m)
		}
	}
	return append(loaded, others...)
}

type lmStudioModel struct {
	context       int
	tools         *bool
	chats, vision bool
	loaded        bool
}

// lmStudio asks the address of version 0.4 and later, then the one before.
func (o *openai) lmStudio(ctx context.Context) (map[string]lmStudioModel, error) {
	var v1 struct {
		Models []struct {
			Key          string          `json:"key"`
			Type         string          `json:"type"`
			MaxContext   json.RawMessage `json:"max_context_length"`
			Capabilities struct {
				Vision bool  `json:"vision"`
				Tools  *bool `json:"trained_for_tool_use"`
			} `json:"capabilities"`
			Loaded []struct {
				Config struct {
					Context json.RawMessage `json:"context_length"`
				} `json:"config"`
			} `json:"loaded_instances"`
		} `json:"models"`
	}
	out := map[string]lmStudioModel{}
	err := o.client.At("/api/v1/models").Get(ctx, "", &v1)
	if err == nil && len(v1.Models) > 0 {
		for _, m := range v1.Models {
			t := lmStudioModel{context: count(m.MaxContext), tools: m.Capabilities.Tools, vision: m.Capabilities.Vision, chats: m.Type != "embedding", loaded: len(m.Loaded) > 0}
			if t.loaded && count(m.Loaded[0].Config.Context) > 0 {
				t.context = count(m.Loaded[0].Config.Context)
			}
			out[m.Key] = t
		}
		return out, nil
	}
	var v0 struct {
		Data []struct {
			ID            string          `json:"id"`
			Type          string          `json:"type"`
			State         string          `json:"state"`
			MaxContext    json.RawMessage `json:"max_context_length"`
			LoadedContext json.RawMessage `json:"loaded_context_length"`
			Capabilities  []string        `json:"capabilities"`
		} `json:"data"`
	}
	if err := o.client.At("/api/v0/models").Get(ctx, "", &v0); err != nil {
		return nil, err
	}
	for _, m := range v0.Data {
		t := lmStudioModel{context: count(m.MaxContext), vision: m.Type == "vlm", chats: m.Type != "embeddings", loaded: m.State == "loaded"}
		if n := count(m.LoadedContext); n > 0 {
			t.context = n
		}
		if m.Capabilities != nil {
			able := slices.Contains(m.Capabilities, "tool_use")
			t.tools = &able
		}
		out[m.ID] = t
	}
	return out, nil
}

// askLlamaCpp fills in what llama-server tells at /props: the context of older
// builds, which have none in their list, whether the template knows tools, and whether
// the model sees images.
func (o *openai) askLlamaCpp(ctx context.Context, list []sdk.Model) {
	var props struct {
		Settings struct {
			NCtx json.RawMessage `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Template struct {
			Tools *bool `json:"supports_tools"`
		} `json:"chat_template_caps"`
		Modalities *struct {
			Vision bool `json:"vision"`
		} `json:"modalities"`
	}
	if o.client.At("/props").Get(ctx, "", &props) != nil {
		return
	}
	for i := range list {
		if list[i].Context == 0 {
			list[i].Context = count(props.Settings.NCtx)
		}
		list[i].Tools = props.Template.Tools
		if m := props.Modalities; m != nil {
			if list[i].Inputs = []string{"text"}; m.Vision {
				list[i].Inputs = append(list[i].Inputs, "image")
			}
		}
	}
}
