package model

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/sdk"
)

// blinded is a host whose server refuses images.
type blinded struct {
	listed
	says *sdk.ProviderError
}

func (b blinded) Complete(_ context.Context, _ string, req sdk.Request, _ func(sdk.Delta) error) error {
	if slices.ContainsFunc(req.Messages, func(m sdk.Message) bool { return len(m.Media) > 0 }) {
		return b.says
	}
	return nil
}

// TestInputs: what a model takes is as its provider lists it, also where that is far away.
func TestInputs(t *testing.T) {
	both, text := []string{"text", "image"}, []string{"text"}
	far := listed{"groq": {{Name: "eyes", Inputs: both}, {Name: "blind", Inputs: text}, {Name: "silent"}}}
	m := chooser(t, "provider \"groq\" {\n  plugin = \"openai\"\n  base_url = \"https://far.example/v1\"\n}\n", far)
	for name, want := range map[string][]string{"eyes": both, "blind": text, "silent": nil, "unlisted": nil} {
		c, err := m.Resolve(t.Context(), "groq/"+name)
		if err != nil {
			t.Fatal(err)
		}
		inputs, seeing := m.Inputs(t.Context(), c)
		if !slices.Equal(inputs, want) || !slices.Equal(seeing, []string{"groq/eyes"}) {
			t.Errorf("%s takes %v; %v do", name, inputs, seeing)
		}
	}
}

// TestServersThatRefuseImages: a server that says so of a model is believed from then on; one that says something
// else about an image is not.
func TestServersThatRefuseImages(t *testing.T) {
	req := sdk.Request{Messages: []sdk.Message{{Role: sdk.RoleUser, Text: "look", Media: []sdk.Medium{{MIMEType: "image/png", Data: "x"}}}}}
	for said, blind := range map[string]bool{
		"Invalid content type. image_url is only supported by certain models.":                                            true, // OpenAI
		"No endpoints found that support image input":                                                                     true, // OpenRouter
		"Image input is not enabled for this model":                                                                       true, // Mistral
		"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj":                  true, // llama.cpp
		"x is not a multimodal model":                                                                                     true, // vLLM
		"At most 0 image(s) may be provided in one request.":                                                              true,
		"Failed to deserialize the JSON body: messages[1]: unknown variant `image_url`, expected `text`":                  true,  // DeepSeek
		"'messages.1' : for 'role:user' the following must be satisfied[('messages.1.content' : value must be a string)]": true,  // Groq
		"messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes":             false, // Anthropic
		"Could not process image": false,
		"the model is overloaded": false,
	} {
		m := chooser(t, "", installed())
		m.host, m.secrets = blinded{installed(), &sdk.ProviderError{Class: sdk.ClassNever, Status: 400, Message: said}}, &audit.Redactor{}
		err := m.Complete(t.Context(), "ollama/qwen3:8b", req, nil, nil)
		var failed *sdk.ProviderError
		if !errors.As(err, &failed) || !strings.Contains(failed.Message, said) || strings.Contains(failed.Message, "takes no images") != blind {
			t.Errorf("%s: %v", said, err)
		}
		inputs, _ := m.Inputs(t.Context(), sdk.ModelChoice{Alias: "ollama/qwen3:8b", Provider: "ollama", Name: "qwen3:8b"})
		c, err := m.Resolve(t.Context(), "ollama/qwen3:8b")
		if err != nil || sdk.TakesImages(inputs) == blind || sdk.TakesImages(c.Inputs) == blind {
			t.Errorf("%s: it takes %v, %v (%v)", said, inputs, c.Inputs, err)
		}
	}
}
