package engine

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/sdk"
)

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="

func images(data ...string) (all []sdk.Medium) {
	for _, d := range data {
		all = append(all, sdk.Medium{Data: d})
	}
	return all
}

// TestImagesReachTheModel: with this prompt and with the next ones, and with those of a fork; who lists prompts is told what they were.
func TestImagesReachTheModel(t *testing.T) {
	h := prepareHouse(t, say("a dot"), say("still"), say("forked"))
	h.config.Attachments = fakeAttachments{}
	h.start()
	a := h.submit(Submission{Run: "r", Prompt: "what is it?", Media: images(dot), Attachments: []sdk.Attachment{{Path: "b.png"}}})
	h.await(a)
	h.await(h.submit(Submission{Run: "r", Prompt: "sure?"}))
	f, err := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID, Alias: "f"})
	if err != nil {
		t.Fatal(err)
	}
	h.await(h.submit(Submission{Run: "f", Prompt: "and now?"}))
	for i, req := range h.models.asked() {
		m := req.Messages[slices.IndexFunc(req.Messages, func(m sdk.Message) bool { return m.Role == sdk.RoleUser })]
		if len(m.Media) != 2 || m.Media[0].Data != dot || m.Media[0].MIMEType != "image/png" || m.Media[1].Data != "Ym9k" || m.Text != "what is it?\n\npicture b.png" {
			t.Errorf("request %d has %+v", i, m)
		}
	}
	loops, err := h.store.Loops(t.Context(), a.Run.ID)
	if o := optionsOf(loops[0]); err != nil || len(o.Media) != 2 || o.Media[0].Data != "" || o.Media[0].Width != 1 || !strings.HasPrefix(o.Media[0].URI, "image://") {
		t.Errorf("%s, %v", loops[0].Options, err)
	}
	h.check(a.Run.ID)
	h.check(f.ID)
}

// TestImagesThatAreRefused: with one sentence, before there is a run for them.
func TestImagesThatAreRefused(t *testing.T) {
	h := prepareHouse(t)
	h.models.inputs = []string{"text"}
	h.models.seeing = []string{"fake/eyes"}
	h.config.Redacting = func() stream.Pieces { return noDots{} }
	h.start()
	text := base64.StdEncoding.EncodeToString([]byte("a text"))
	for name, c := range map[string]struct {
		media []sdk.Medium
		want  sdk.Outcome
		says  string
	}{
		"the model takes none": {images(dot), sdk.Validation, "the model fake/m takes no images: choose one that does (fake/eyes), or give the prompt without them"},
		"a text":               {images(text), sdk.Validation, "image 1 of the prompt is no picture"},
		"no base64":            {images("*"), sdk.Validation, "the data of image 1 is not base64"},
		"a sound":              {[]sdk.Medium{{Kind: "audio", Data: text}}, sdk.Validation, "takes images alone"},
		"too many":             {images(slices.Repeat([]string{dot}, sdk.MaxMedia+1)...), sdk.Validation, "takes 20"},
	} {
		_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "new", Prompt: "look", Media: c.media})
		if err == nil || sdk.OutcomeOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.models.inputs = nil
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "new", Prompt: "look", Media: images(dot)}); sdk.OutcomeOf(err) != sdk.Permission || err == nil {
		t.Errorf("one with a secret: %v", err)
	}
	if runs, err := h.store.Runs(t.Context(), sdk.RunFilter{}); err != nil || len(runs) != 0 {
		t.Errorf("%+v, %v", runs, err)
	}
	big := sdk.Medium{Width: 1, Height: 1, Data: strings.Repeat("x", sdk.MaxMedium)}
	for name, all := range map[string][]sdk.Medium{"large": {{Data: big.Data + "x"}}, "wide": {{Width: sdk.MaxSide + 1}}, "together": {big, big}} {
		if err := sdk.CheckMedia(all); sdk.OutcomeOf(err) != sdk.Overflow || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// noDots takes the picture of one pixel for something that is secret.
type noDots struct{}

func (noDots) Write(piece string) string { return strings.ReplaceAll(piece, dot, "") }
func (noDots) End() string               { return "" }

// TestFallbackForImages: of a chain, the first that takes images answers a prompt that has some.
func TestFallbackForImages(t *testing.T) {
	blind := sdk.ModelChoice{Alias: "blind", Provider: "p", Name: "blind", Inputs: []string{"text"}}
	other := sdk.ModelChoice{Alias: "other", Provider: "p", Name: "other", Inputs: []string{"text"}}
	eyes := sdk.ModelChoice{Alias: "eyes", Provider: "p", Name: "eyes", Inputs: []string{"text", "image"}}
	for _, c := range []struct {
		chain []string
		model string // empty: none answers
	}{{[]string{"other", "eyes"}, "eyes"}, {[]string{"other"}, ""}} {
		h := prepareHouse(t)
		h.config.Models = &chained{fakeModels: h.models, first: with(blind, c.chain...), others: map[string]sdk.ModelChoice{"other": other, "eyes": eyes}, contexts: map[string]int{}}
		h.start()
		a := h.submit(Submission{Run: "r", Prompt: "look", Media: images(dot)})
		l := h.await(a)
		turns, err := h.store.Turns(context.Background(), a.Run.ID)
		if err != nil || len(turns) != 1 || (l.Status == sdk.StatusOK) != (c.model != "") || c.model != "" && turns[0].Model != c.model {
			t.Errorf("%v: ended %d (%s), %+v, %v", c.chain, l.Status, l.Reason, turns, err)
		}
		if c.model == "" && !strings.Contains(l.Reason, "takes no images") {
			t.Error(l.Reason)
		}
		h.await(h.submit(Submission{Run: "r", Prompt: "without"}))
		asked := h.models.asked()
		last := asked[len(asked)-1]
		if len(last.Messages[len(last.Messages)-1].Media) != 0 || c.model == "" && !strings.Contains(last.Messages[1].Text+last.Messages[0].Text, "is not shown to you") {
			t.Errorf("%v: a prompt without images asks %+v", c.chain, last.Messages)
		}
		h.check(a.Run.ID)
	}
}
