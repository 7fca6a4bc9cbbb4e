package markdown

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestDefinitions: the list of agents gets what can be used, by its file, with a model that is
// there; a workspace's is marked until its very bytes are trusted.
func TestDefinitions(t *testing.T) {
	trusted := map[string]string{}
	h := newTestLibrary(t, trusted)
	user := h.write(filepath.Join(h.user, "mine.md"), agentText("mine"))
	theirs := h.write("theirs.md", strings.Replace(agentText("theirs"), "\nname", "\nmodel: sonnet\ntool: Read\nname", 1))
	h.write("broken.md", "---\nname: broken\n---\n")
	h.write("off.md", strings.Replace(agentText("off"), "\nname", "\ndisable: true\nname", 1))
	h.found()
	all := h.Definitions(h.project)
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	if d := all[0]; d.Source != sdk.AgentOfUser || d.Place != user || d.Untrusted || d.Agent.Persona != "You do things." || d.Agent.Description != "Does things." || len(d.Notes) != 0 {
		t.Errorf("the user's is %+v", d)
	}
	if d := all[1]; d.Source != sdk.AgentOfWorkspace || d.Place != theirs || !d.Untrusted || d.Agent.Model != "" || !slices.Equal(d.Notes, []string{`line 3: the field "tool" is not known, and not heeded`}) {
		t.Errorf("the workspace's is %+v", d)
	}
	if alone := h.Definitions(""); len(alone) != 1 || alone[0].Agent.Name != "mine" {
		t.Errorf("without a project there are %+v", alone)
	}
	files, err := h.Files(t.Context(), h.project)
	if err != nil {
		t.Fatal(err)
	}
	trusted["theirs"] = files[slices.IndexFunc(files, func(x *File) bool { return x.Path == theirs })].Hash
	if h.Definitions(h.project)[1].Untrusted {
		t.Error("what a person trusted is not")
	}
	h.write("theirs.md", agentText("theirs")+"And more.\n")
	h.found()
	if !h.Definitions(h.project)[1].Untrusted {
		t.Error("another text is trusted")
	}
}

func TestModels(t *testing.T) {
	is := func(name string) bool { return name == "mine" || strings.HasPrefix(name, "openai/") }
	for field, want := range map[string][2]string{
		"model: inherit": {}, "model: sonnet": {}, "model: claude-opus-4-5": {}, "model: gpt-5.2": {}, "model: anthropic/claude-sonnet-4": {}, "model: GPT-4.1 (copilot)": {},
		"model: o3": {}, "model: openrouter/qwen/qwen3-coder:free": {}, "model: fast": {}, "model: ": {}, "model: gemini-3-flash-preview": {},
		"model: mine": {"mine"}, "model: openai/gpt-5.5": {"openai/gpt-5.5"}, "model: [Claude Sonnet 4.5, mine]": {"mine"},
		"model: yours": {"", "yours"}, "model: [sonnet, yours]": {"", "yours"}, "model: {a: b}": {},
	} {
		x := Parse([]byte("---\nname: a\ndescription: d\n"+field+"\n---\nx"), "a.md")
		if model, unknown := x.model(is); model != want[0] || unknown != want[1] {
			t.Errorf("%s is %q, and unknown %q", field, model, unknown)
		}
	}
}
