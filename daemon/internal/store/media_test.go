package store

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// shows queues a prompt with images, by their data.
func (f *fixture) shows(prompt string, images ...string) sdk.Loop {
	f.t.Helper()
	m := &sdk.Meaning{}
	for _, data := range images {
		m.Media = append(m.Media, sdk.Medium{Kind: sdk.MediumImage, MIMEType: "image/png", URI: "image://" + data, Bytes: 3, Width: 1, Height: 1, Data: data})
	}
	l, _, err := f.Enqueue(f.t.Context(), sdk.Loop{Run: f.run.ID, Prompt: prompt, Meaning: m})
	if err != nil {
		f.t.Fatal(err)
	}
	return l
}

// TestImagesAreKeptOnce: each as an entry of the system's own, of which the prompt has the path; a second prompt
// with the same image has the same, and so has a fork. They are of no loop.
func TestImagesAreKeptOnce(t *testing.T) {
	f := newFixture(t)
	one := f.shows("look", "aaaa", "bbbb")
	f.claim(f.run.ID)
	f.turnOf(f.run.ID, one.ID, answer(1))
	if err := f.end(f.run.ID, one.ID, 200); err != nil {
		t.Fatal(err)
	}
	two := f.shows("and again", "bbbb", "cccc")
	f.claim(f.run.ID)
	f.turnOf(f.run.ID, two.ID, answer(2))
	if err := f.end(f.run.ID, two.ID, 200); err != nil {
		t.Fatal(err)
	}
	var at struct{ Meaning sdk.Meaning }
	if err := json.Unmarshal(f.entry("prompt://2").Attributes, &at); err != nil || len(at.Meaning.Media) != 2 || at.Meaning.Media[0].URI != "image://bbbb" || at.Meaning.Media[0].Data != "" {
		t.Errorf("the prompt has %s (%v)", f.entry("prompt://2").Attributes, err)
	}
	b := f.entry("image://bbbb")
	if b.Body != "bbbb" || b.Writer != sdk.WriterSystem || b.Loop != 0 || b.Version != 1 || !strings.Contains(string(b.Attributes), `"image/png"`) {
		t.Errorf("%+v", b)
	}
	child, err := f.CreateRun(t.Context(), sdk.Run{Project: f.run.Project, Parent: f.run.ID, Turns: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(t, f, child.ID); !strings.Contains(got, "image://aaaa") || !strings.Contains(got, "image://bbbb") || strings.Contains(got, "image://cccc") || strings.Contains(got, "prompt://2") {
		t.Errorf("after the first turn the fork has %s", got)
	}
	f.refuse(sdk.Permission, sdk.Change{Run: f.run.ID, Writes: []sdk.Write{{Path: "image://dddd", Body: body("x"), Writer: sdk.WriterPlugin}}})
	f.verify()
}
