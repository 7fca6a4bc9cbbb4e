package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

type fakeAttachments struct{}

func (fakeAttachments) Attached(_ context.Context, _ string, files []sdk.Attachment) (string, []sdk.Medium, error) {
	var names []string
	var media []sdk.Medium
	for _, f := range files {
		if f.Path == ".env" {
			return "", nil, sdk.Errorf(sdk.Permission, "%s may hold secrets", f.Path)
		}
		if strings.HasSuffix(f.Path, ".png") {
			names, media = append(names, "picture "+f.Path), append(media, sdk.Medium{Kind: sdk.MediumImage, MIMEType: "image/png", Width: 1, Height: 1, Data: "Ym9k"})
			continue
		}
		names = append(names, "text of "+f.Path)
	}
	return strings.Join(names, "\n"), media, nil
}

// TestAttachedFilesReachTheModel: as the daemon read them; people see what was typed.
func TestAttachedFilesReachTheModel(t *testing.T) {
	h := prepareHouse(t, say("done"))
	h.config.Attachments = fakeAttachments{}
	h.start()
	files := []sdk.Attachment{{Path: "a.go", From: 1, To: 3}}
	a := h.submit(Submission{Run: "r", Prompt: "look @a.go", Attachments: files})
	h.await(a)
	messages := h.models.asked()[0].Messages
	if got := messages[len(messages)-1].Text; got != "look @a.go\n\ntext of a.go" {
		t.Errorf("the model read %q", got)
	}
	entry, err := h.store.Entry(context.Background(), a.Run.ID, "prompt://1")
	if err != nil || entry.Body != "look @a.go" {
		t.Errorf("the prompt is %q (%v)", entry.Body, err)
	}
	loops, err := h.store.Loops(context.Background(), a.Run.ID)
	if err != nil || len(optionsOf(loops[0]).Attachments) != 1 {
		t.Errorf("the loop has %s (%v)", loops[0].Options, err)
	}
	for name, s := range map[string]Submission{
		"a secret":  {Run: "r", Prompt: "x", Attachments: []sdk.Attachment{{Path: ".env"}}},
		"a channel": {Run: "new", Prompt: "x", Attachments: files, Origin: chat},
	} {
		s.Project = h.project
		if _, err := h.engine.Submit(context.Background(), s); sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := Submission{Project: h.project, Run: "r", Prompt: "x", Attachments: make([]sdk.Attachment, maxAttachments+1)}
	if _, err := h.engine.Submit(context.Background(), s); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("too many: %v", err)
	}
}

func TestAgents(t *testing.T) {
	h := prepareHouse(t)
	h.agents = map[string]sdk.Agent{
		"default": {Model: "usual"}, "reader": {Tools: []string{"none"}, Mode: sdk.ModeInteractive, Model: "m"}, "chat": {Mode: sdk.ModeWorkspace},
	}
	h.config.Narrow = func(string) Narrowing { return Narrowing{Agent: "chat", Model: "narrow"} }
	h.start()
	all := h.engine.Agents("", false)
	if len(all) != 3 || all[0].Name != "chat" || !all[1].Default || all[0].Model != "usual" || all[2].Model != "m" {
		t.Fatalf("%+v", all)
	}
	if !strings.Contains(all[0].Description, "can be taken back") || all[2].Description != "answers, and calls no tools" || all[0].Mode != sdk.ModeWorkspace {
		t.Errorf("%+v", all)
	}
	h.engine.cfg.Access = &fakeAccess{known: true} // commands cannot work on a copy there
	if own := h.engine.Agents(h.project, false); own[0].Mode != sdk.ModeRestricted || !own[0].Default || own[1].Default || own[0].Model != "narrow" || own[2].Model != "m" {
		t.Errorf("in a project that chooses one: %+v", own)
	}
}
