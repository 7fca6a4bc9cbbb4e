package engine

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/picture"
)

// media are the images of a submission as they are kept: those that were given with it, as their
// bytes say that they are, then those of files.
func (e *Engine) media(ctx context.Context, p placed, given, attached []sdk.Medium) ([]sdk.Medium, error) {
	all := make([]sdk.Medium, 0, len(given)+len(attached))
	for i, m := range given {
		if m.Kind != "" && m.Kind != sdk.MediumImage {
			return nil, sdk.Errorf(sdk.Validation, "medium %d of the prompt is of the kind %.40q, and a prompt takes images alone", i+1, m.Kind)
		}
		data, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil {
			return nil, sdk.Errorf(sdk.Validation, "the data of image %d is not base64: %w", i+1, err)
		}
		if m, err = picture.Of(data); err != nil {
			return nil, sdk.Errorf(sdk.Validation, "image %d of the prompt %w", i+1, err)
		}
		all = append(all, m)
	}
	all = append(all, attached...)
	if len(all) == 0 {
		return nil, nil
	}
	if err := sdk.CheckMedia(all); err != nil {
		return nil, err
	}
	if err := e.takesImages(ctx, p); err != nil {
		return nil, err
	}
	for i := range all {
		m := &all[i]
		pieces := e.cfg.Redacting()
		if clean := pieces.Write(m.Data) + pieces.End(); clean != m.Data {
			return nil, sdk.Errorf(sdk.Permission, "image %d of the prompt holds a text that is kept secret, and is given to no model", i+1)
		}
		m.URI = sdk.ImagePath(m.Data)
	}
	return all, nil
}

// takesImages refuses images for a model that is known to take none, and that has nobody to
// answer in its place.
func (e *Engine) takesImages(ctx context.Context, p placed) error {
	if p.played != nil || len(p.choice.Fallback) > 0 {
		return nil
	}
	inputs, seeing := e.cfg.Models.Inputs(ctx, p.choice)
	if sdk.TakesImages(inputs) {
		return nil
	}
	others := "choose a model that does (-m)"
	if len(seeing) > 0 {
		others = "choose one that does (" + strings.Join(seeing[:min(len(seeing), mostNamed)], ", ") + ")"
	}
	return sdk.Errorf(sdk.Validation, "the model %s takes no images: %s, or give the prompt without them", p.choice.Alias, others)
}

// mostNamed is how many models an error names.
const mostNamed = 5

// errNoImages is a model that takes no images, of a prompt that has some.
var errNoImages = errors.New("the model takes no images")

// look asks what the model takes, where the run has images.
func (e *Engine) look(ctx context.Context, a *activeLoop, entries []sdk.Entry) {
	if slices.ContainsFunc(entries, func(x sdk.Entry) bool { return strings.HasPrefix(x.Path, sdk.MediumImage+"://") }) {
		e.learnInputs(ctx, a, &a.choice)
	}
}

// learnInputs asks what a model takes where nobody has told, once.
func (e *Engine) learnInputs(ctx context.Context, a *activeLoop, c *sdk.ModelChoice) {
	if c.Inputs != nil || a.looked == c.Alias || a.played != nil {
		return
	}
	a.looked = c.Alias
	c.Inputs, _ = e.cfg.Models.Inputs(ctx, *c)
}

// fitsImages reports whether a model can be shown what the prompt shows.
func (e *Engine) fitsImages(ctx context.Context, a *activeLoop, c *sdk.ModelChoice) bool {
	if !a.images {
		return true
	}
	e.learnInputs(ctx, a, c)
	return sdk.TakesImages(c.Inputs)
}
