package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// everyVerb uses each of the six.
func everyVerb() []sdk.EntryCall {
	return []sdk.EntryCall{
		{Verb: sdk.VerbSet, Path: "known://a", Body: new("one"), Summary: "the first", Attributes: json.RawMessage(`{"k":[1]}`)},
		{Verb: sdk.VerbSet, Path: "known://b", Body: new("two")},
		{Verb: sdk.VerbSet, Path: "known://b", Body: new("three"), Append: true, State: sdk.StateFailed, Outcome: "stale"},
		{Verb: sdk.VerbSet, Path: "known://*", Visibility: sdk.Archived},
		{Verb: sdk.VerbCopy, Path: "known://a", To: "unknown://c"},
		{Verb: sdk.VerbMove, Path: "known://b", To: "known://d", Visibility: sdk.Summarized},
		{Verb: sdk.VerbGet, Path: "unknown://c"},
		{Verb: sdk.VerbRemove, Path: "known://a"},
		{Verb: sdk.VerbUpdate, Body: new("half")},
	}
}

// asTools are the same uses as a model writes them.
func asTools(uses []sdk.EntryCall) (cs []call) {
	for _, c := range uses {
		tool := string(c.Verb)
		c.Verb = ""
		var members map[string]json.RawMessage
		_ = json.Unmarshal(encode(c), &members) // it was just written
		delete(members, "verb")
		cs = append(cs, call{tool, string(encode(members))})
	}
	return cs
}

// TestThreeSurfaces holds that a model, a plugin and a client come to the same entries and the same rows by the
// same uses of the verbs. Only who wrote them is another.
// spec: surfaces
func TestThreeSurfaces(t *testing.T) {
	h := prepareHouse(t, calls(asTools(everyVerb())...), say("done"), calls(call{"read_wrap", "{}"}), say("done"), say("done"))
	h.withVerbs()
	h.config.Services = new(Services)
	h.tools.add("read_wrap", sdk.Annotations{ReadOnly: true}, true)
	h.tools.on("read_wrap", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		if _, err := h.config.Services.Do(ctx, caller(c), everyVerb(), func(string) bool { return true }); err != nil {
			return sdk.ToolResult{}, err
		}
		return ok("wrapped")
	})
	h.start()
	model := h.submit(Submission{Run: "model"})
	h.await(model)
	plugin := h.submit(Submission{Run: "plugin"})
	h.await(plugin)
	client := h.submit(Submission{Run: "client"})
	h.await(client)
	run, err := h.store.Run(t.Context(), client.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.engine.UseEntries(t.Context(), false, nil, run, everyVerb()); err != nil {
		t.Fatal(err)
	}
	want := h.written(model.Run.ID, sdk.WriterModel)
	if len(want) != 3+11 { // entries, and rows
		t.Errorf("the model's calls came to\n%s\nby %s", strings.Join(want, "\n"), h.outcomes(model.Run.ID))
	}
	for by, got := range map[string][]string{"plugin": h.written(plugin.Run.ID, sdk.WriterPlugin), "client": h.written(client.Run.ID, sdk.WriterClient)} {
		if !slices.Equal(got, want) {
			t.Errorf("a %s comes to\n%s\nand a model to\n%s", by, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// written are what verbs wrote in a run, as entries and as rows of the journal, without who wrote it.
func (h *house) written(run int64, by sdk.Writer) (all []string) {
	h.t.Helper()
	ours := func(path string) bool {
		return slices.Contains([]string{"known", "unknown", "update"}, sdk.SchemeOf(path))
	}
	for _, e := range h.entries(run, "") {
		if !ours(e.Path) {
			continue
		}
		if e.Writer != by {
			h.t.Errorf("%s was written by %s and not by %s", e.Path, e.Writer, by)
		}
		all = append(all, fmt.Sprintf("%s %q %d %s %s %s, version %d of turn %d", e.Path, e.Body, e.Status(), e.Outcome, e.Visibility, e.Attributes, e.Version, e.Turn))
	}
	slices.Sort(all)
	rows, err := h.store.Journal(h.t.Context(), sdk.JournalQuery{Run: run})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, r := range rows {
		if !ours(r.Path) {
			continue
		}
		var data map[string]any
		if err := json.Unmarshal(r.Data, &data); err != nil {
			h.t.Fatal(err)
		}
		delete(data, "writer")
		all = append(all, fmt.Sprintf("%s %s %s %s", r.Kind, r.Path, r.BodyHash, encode(data)))
	}
	return all
}

// TestMoveWithoutADestination holds that a call that lacks a part fails by itself, in a prompt that only reads as well.
// spec: wrong_ask_move
func TestMoveWithoutADestination(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		h := prepareHouse(t, calls(
			call{"set", `{"path":"known://a","body":"x"}`},
			call{"mv", `{"path":"known://a"}`},
			call{"cp", `{"path":"known://a","to":""}`},
			call{"mv", `{"to":"known://b"}`},
			call{"get", `{"path":"known://a"}`},
		), say("done"))
		h.withVerbs()
		h.start()
		a := h.submit(Submission{ReadOnly: readOnly})
		if l := h.await(a); l.Status != sdk.StatusOK || l.Stop != sdk.StopAnswer {
			t.Errorf("read only %v: ended %d by %s: %s", readOnly, l.Status, l.Stop, l.Reason)
		}
		for i, e := range h.actions(a.Run.ID) {
			if failed := i > 0 && i < 4; failed != (e.State == sdk.StateFailed) || failed && e.Status() != sdk.StatusBad && e.Status() != sdk.StatusForbidden {
				t.Errorf("read only %v: %s is %d: %s", readOnly, e.Path, e.Status(), e.Body)
			}
		}
		h.check(a.Run.ID)
	}
}
