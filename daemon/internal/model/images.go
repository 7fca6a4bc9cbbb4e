package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// onlyText is what a model takes that takes no images.
var onlyText = []string{"text"}

// Inputs is what the model of a choice takes, nil where its provider does not tell, and the aliases
// of that provider's models that take images. A provider that is far away is asked too: it is a
// question for prompts with images alone.
func (m *Models) Inputs(ctx context.Context, c sdk.ModelChoice) (inputs, seeing []string) {
	r := m.now()
	p, ok := r.provider(c.Provider)
	if !ok {
		return c.Inputs, nil
	}
	inputs = c.Inputs
	list, err := r.look(ctx, p, func(list []sdk.Model) bool {
		x, found := find(list, c.Name)
		if found {
			inputs = x.Inputs
		}
		return found
	})
	if m.kept.isBlind(c.Provider, c.Name) {
		inputs = onlyText
	}
	if err != nil {
		return inputs, nil
	}
	for _, x := range list {
		if slices.Contains(x.Inputs, sdk.MediumImage) && !m.kept.isBlind(c.Provider, x.Name) {
			seeing = append(seeing, p.Label+"/"+x.Name)
		}
	}
	return inputs, seeing
}

// refusesImages is how servers say that a model takes none: OpenAI, OpenRouter, Mistral, llama.cpp and vLLM
// by such a word, DeepSeek and Groq by what of the message they cannot read.
var refusesImages = regexp.MustCompile(`(?i)(image|vision|multimodal)[^.]*\b(support|enabled|capab)|\bsupport[^.]*(image input|vision)|not a multimodal|variant .?image_url|must be a string|at most 0 image`)

// blind remembers of a model that its server refused images, so that they are left out of what it
// is told from then on, and says so.
func (r resolver) blind(provider, name string, req sdk.Request, err error) error {
	var e *sdk.ProviderError
	if !errors.As(err, &e) || e.Streamed || !slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity}, e.Status) {
		return err
	}
	has := slices.ContainsFunc(req.Messages, func(m sdk.Message) bool { return len(m.Media) > 0 })
	if !has || !refusesImages.MatchString(e.Message) {
		return err
	}
	r.kept.wasBlind(provider, name)
	said := *e
	said.Message = fmt.Sprintf("the model %s/%s takes no images, as its server says now (%s); from the next prompt on they are left out for it: choose another model, or go on without them", provider, name, e.Message)
	return &said
}
