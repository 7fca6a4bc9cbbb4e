package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// shows adds a prompt with images, whose data is their names.
func (s *story) shows(text string, images ...string) *story {
	s.prompt(text)
	var m sdk.Meaning
	for _, name := range images {
		medium := sdk.Medium{Kind: sdk.MediumImage, MIMEType: "image/png", URI: "image://" + name[:1], Width: 600, Height: 500}
		m.Media = append(m.Media, medium)
		s.entries = append(s.entries, sdk.Entry{Path: medium.URI, Body: name, Hash: name, State: sdk.StateResolved, Version: 1})
	}
	attributes, _ := json.Marshal(map[string]any{"meaning": m})
	for i := range s.entries {
		if s.entries[i].Body == text {
			s.entries[i].Attributes = attributes
		}
	}
	return s
}

func seen(messages []sdk.Message) (all string) {
	for _, m := range messages {
		for _, x := range m.Media {
			all += " " + x.Data[:1]
		}
	}
	return strings.TrimSpace(all)
}

// TestImages: a model gets those of all prompts with their data, unless it takes none: then a line
// says of each what it was.
func TestImages(t *testing.T) {
	v := newView()
	s := (&story{}).shows("first", "a", "b").answer("yes").shows("second", "c")
	in := s.assembly()
	p := render(t, v, in)
	if got := seen(p.Messages); got != "a b c" || p.Messages[0].Text != "first" {
		t.Errorf("it sees %q: %s", got, sketch(p.Messages))
	}
	if without := render(t, newView(), (&story{}).prompt("first").answer("yes").prompt("second").assembly()); p.Tokens != without.Tokens+3*400 {
		t.Errorf("%d tokens, and %d without images", p.Tokens, without.Tokens)
	}
	in.Inputs = []string{"text"}
	p = render(t, v, in)
	if got := seen(p.Messages); got != "" || !strings.Contains(p.Messages[0].Text, "[Image 2 of these, image/png of 600 by 500 pixels, is not shown to you: this model takes no images.]") {
		t.Errorf("a model that takes none sees %q: %s", got, sketch(p.Messages))
	}
	in.Inputs = []string{"text", "image"}
	if got := seen(render(t, v, in).Messages); got != "a b c" {
		t.Errorf("after that another sees %q", got)
	}
	in.Entries = in.Entries[:0:0]
	for _, e := range s.entries {
		if e.Path != "image://b" {
			in.Entries = append(in.Entries, e)
		}
	}
	if p = render(t, newView(), in); seen(p.Messages) != "a c" || !strings.Contains(p.Messages[0].Text, "not kept any more") {
		t.Errorf("without one: %s", sketch(p.Messages))
	}
}

// TestManyImages: the oldest are left out where a request would be too large.
func TestManyImages(t *testing.T) {
	large := func(name string) string { return name + strings.Repeat("x", sdk.MaxMediaBytes/2-10) }
	s := (&story{}).shows("first", large("a")).answer("yes").shows("second", large("b")).answer("yes").shows("third", large("c"))
	p := render(t, newView(), s.assembly())
	if got := seen(p.Messages); got != "b c" || !strings.Contains(p.Messages[0].Text, "later ones fill") {
		t.Errorf("it sees %q", got)
	}
}

// TestFitWithImages: what an image counts as is taken into account when a prompt has to fit.
func TestFitWithImages(t *testing.T) {
	s := (&story{}).prompt("the task").answer("yes")
	for range 8 {
		s.shows("see", "a", "b").answer("yes")
	}
	s.prompt("and now")
	in := s.assembly()
	in.Context = 4000
	v := newView()
	p, report, err := v.Fit(t.Context(), render(t, v, in), nil)
	if err != nil || report.Before < 8*800 || report.Prompts == 0 || p.Tokens > p.Ceiling {
		t.Errorf("%+v, %d of %d tokens, %v", report, p.Tokens, p.Ceiling, err)
	}
}
