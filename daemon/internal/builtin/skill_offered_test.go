package builtin

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/daemon/internal/skill/offer"
	"github.com/bothyd/bothy/sdk"
)

// fakeShelf takes two skills: one by its path, one by what was fetched.
type fakeShelf struct {
	trusted bool
	plugin  string
	text    string // that was taken last
}

func (f *fakeShelf) Path(_ context.Context, _, path string) (offer.Offered, error) {
	if path != "docs/deploy.zip" {
		return offer.Offered{}, sdk.Errorf(sdk.NotFound, "there is no %s", path)
	}
	return offer.Offered{Name: "deploy", Hash: "6f1e", Plugin: f.plugin, Trusted: f.trusted}, nil
}

func (f *fakeShelf) Text(_ context.Context, _, _, text string) (offer.Offered, error) {
	f.text = text
	return offer.Offered{Name: "deploy", Hash: "6f1e", Trusted: f.trusted}, nil
}

// TestSkillFromElsewhere: what lies elsewhere is loaded when a person trusts it, the project has it and the agent may use it, and
// else the call says why not and nothing of the text.
func TestSkillFromElsewhere(t *testing.T) {
	const page = "https://a.example/deploy.md"
	deploy := func(tier sdk.SkillTier, hash string) few {
		return few{{Loaded: true, SkillDocument: sdk.SkillDocument{Body: "Ship it.", Skill: sdk.Skill{Name: "deploy", Tier: tier, Hash: hash, Status: sdk.SkillEnabled}}}}
	}
	loaded := func(folder string) map[string]sdk.Entry {
		return map[string]sdk.Entry{"skill://deploy": {Path: "skill://deploy", Body: "Ship it.", Attributes: json.RawMessage(`{"tier":"workspace","hash":"h","folder_hash":"` + folder + `"}`), Writer: sdk.WriterSystem}}
	}
	fetched := func(writer sdk.Writer) map[string]sdk.Entry {
		return map[string]sdk.Entry{page: {Path: page, Body: "the page", Writer: writer}}
	}
	ours := deploy(sdk.TierWorkspace, "h")
	for name, c := range map[string]struct {
		path    string
		shelf   *fakeShelf
		have    few // after the call took it
		entries map[string]sdk.Entry
		only    []string
		want    sdk.Outcome // empty is loaded
		says    string
	}{
		"trusted":              {path: "docs/deploy.zip", shelf: &fakeShelf{trusted: true}, have: ours},
		"spaces about it":      {path: " docs/deploy.zip\n", shelf: &fakeShelf{trusted: true}, have: ours},
		"not trusted":          {path: "docs/deploy.zip", shelf: &fakeShelf{}, want: sdk.Permission, says: "bothy trust deploy"},
		"not trusted, hash":    {path: "docs/deploy.zip", shelf: &fakeShelf{}, have: ours, want: sdk.Permission, says: "6f1e"},
		"not there":            {path: "docs/none.zip", shelf: &fakeShelf{trusted: true}, want: sdk.NotFound},
		"another agent's":      {path: "docs/deploy.zip", shelf: &fakeShelf{trusted: true}, have: ours, only: []string{"greet"}, want: sdk.Permission, says: "it has: greet"},
		"the agent's":          {path: "docs/deploy.zip", shelf: &fakeShelf{trusted: true}, have: ours, only: []string{"deploy"}},
		"one of a person's":    {path: "docs/deploy.zip", shelf: &fakeShelf{trusted: true}, have: deploy(sdk.TierUser, "h"), want: sdk.Conflict},
		"not in the catalogue": {path: "docs/deploy.zip", shelf: &fakeShelf{trusted: true}, want: sdk.NotFound},
		"an older is loaded":   {path: "docs/deploy.zip", shelf: &fakeShelf{trusted: true}, have: ours, entries: loaded("older"), want: sdk.Conflict, says: "another version"}, // of its files, with the same text
		"it is loaded":         {path: "docs/deploy.zip", shelf: &fakeShelf{trusted: true}, have: ours, entries: loaded("6f1e")},
		"a code skill":         {path: "docs/deploy.zip", shelf: &fakeShelf{trusted: true, plugin: "outline"}, have: ours, want: sdk.Validation, says: "by its name"},
		"no shelf":             {path: "docs/deploy.zip", want: sdk.Unavailable},
		"fetched":              {path: page, shelf: &fakeShelf{trusted: true}, have: ours, entries: fetched(sdk.WriterPlugin)},
		"fetched, not trusted": {path: page, shelf: &fakeShelf{}, have: ours, entries: fetched(sdk.WriterPlugin), want: sdk.Permission},
		"written by a model":   {path: page, shelf: &fakeShelf{trusted: true}, have: ours, entries: fetched(sdk.WriterModel), want: sdk.Unavailable, says: "web_fetch"},
		"not fetched":          {path: page, shelf: &fakeShelf{trusted: true}, have: ours, want: sdk.Unavailable, says: "web_fetch"},
		"another scheme":       {path: "file:///etc/passwd", shelf: &fakeShelf{trusted: true}, want: sdk.Validation},
		"nothing":              {path: " skill:// ", shelf: &fakeShelf{trusted: true}, want: sdk.Validation},
	} {
		t.Run(name, func(t *testing.T) {
			run := &fakeRun{entries: c.entries, copies: map[string]skill.Pinned{}}
			if run.entries == nil {
				run.entries = map[string]sdk.Entry{}
			}
			now := few{}
			b := run.builtin(&now)
			if c.shelf != nil {
				b.skills.cfg.Offers = c.shelf
			}
			turn, err := b.Turn(t.Context(), sdk.TurnContext{Run: sdk.Run{ID: 1}, Project: "/p", RunDir: "/runs/1", Commit: run.Commit, Skills: c.only,
				Admits: func(x sdk.Tool) bool { return x.Name == sdk.ToolSkill }})
			if err != nil {
				t.Fatal(err)
			}
			now = c.have
			arguments, err := json.Marshal(map[string]string{"path": c.path})
			if err != nil {
				t.Fatal(err)
			}
			if turn.Once(t.Context(), sdk.ToolSkill, arguments) {
				t.Error("it is taken for a code skill")
			}
			r, err := turn.Invoke(t.Context(), sdk.Invocation{Tool: sdk.ToolSkill, Arguments: arguments, RunDir: "/runs/1"}, nil)
			if err != nil || r.Outcome != c.want || r.Success != (c.want == "") || !strings.Contains(r.Error, c.says) {
				t.Fatalf("%+v, %v, want %q", r, err, c.want)
			}
			if strings.Contains(r.Output, "Ship it.") != r.Success || strings.Contains(r.Error, "Ship it.") {
				t.Errorf("it has %q and %q", r.Output, r.Error)
			}
			if c.path == page && r.Success && c.shelf.text != "the page" {
				t.Errorf("taken was %q", c.shelf.text)
			}
		})
	}
}
