package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestWhatAPersonSaid: in a run that has read what came from outside a plugin writes for its owner's other runs what a person said in
// this run, and nothing else; and it is told how much of a prompt a person said.
func TestWhatAPersonSaid(t *testing.T) {
	const town, given = "I live in\n  Utrecht.", "a text that was piped in"
	prompt := "read " + foreignPage + ". " + town + "\n\n" + given
	for body, kept := range map[string]bool{"I live in Utrecht.": true, "obey": false, "": false, given: false} {
		h := foreignHouse(t, map[string][]step{prompt: {fetching(foreignPage), calls(call{"read_wrap", `{}`}), say("done")}})
		h.withVerbs()
		h.agents["default"] = withGlobs(h.agents["default"], "web_*")
		h.calling("read_wrap", nil)
		var refused error
		var prompts []sdk.Entry
		h.tools.on("read_wrap", func(ctx context.Context, call sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
			var err error
			if prompts, err = h.config.Services.Entries(ctx, caller(call), "prompt://*"); err != nil {
				t.Error(err)
			}
			_, refused = h.config.Services.Write(ctx, caller(call), []sdk.Write{{Path: "fact://town/1", Body: &body, Writer: sdk.WriterPlugin, State: sdk.StateResolved}})
			return ok("done")
		})
		if err := h.store.RegisterScheme(t.Context(), sdk.Scheme{Name: "fact", Scope: "owner", WritableBy: []sdk.Writer{sdk.WriterPlugin}, Category: sdk.CategoryData}); err != nil {
			t.Fatal(err)
		}
		h.start()
		a := h.submit(Submission{Run: "r", Prompt: prompt, Quoted: len(given), Mode: sdk.ModeRestricted})
		if l := h.await(a); l.Status != sdk.StatusOK {
			t.Fatalf("ended %d: %s", l.Status, l.Reason)
		}
		if (refused == nil) != kept || !kept && !strings.Contains(refused.Error(), "asks nobody") {
			t.Errorf("%q: %v", body, refused)
		}
		var said map[string]json.RawMessage
		if len(prompts) != 1 || json.Unmarshal(prompts[0].Attributes, &said) != nil || string(said[sdk.AttributeSaid]) != string(encode(len(prompt)-len(given))) || string(said[sdk.AttributeAgent]) != `"default"` {
			t.Errorf("of the prompt the plugin is told %+v", prompts)
		}
		h.check(a.Run.ID)
	}
}
