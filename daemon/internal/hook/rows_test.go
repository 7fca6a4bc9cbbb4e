package hook

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// writer is a plugin that keeps what it was told, and tries to take a row away.
type writer struct {
	to   string
	told string
}

func (w *writer) Subscriptions() []sdk.Subscription {
	return []sdk.Subscription{{Name: w.to, Priority: 60}}
}
func (w *writer) Event(context.Context, string, json.RawMessage) error { return nil }
func (w *writer) Filter(_ context.Context, _ string, value json.RawMessage) (json.RawMessage, error) {
	w.told = string(value)
	var p sdk.Prompt
	if err := json.Unmarshal(value, &p); err != nil {
		return nil, err
	}
	p.Rows, p.System = nil, p.System+" and more"
	return json.Marshal(p)
}

// TestRowsOfPlugins: a plugin is told what stands in entries of its own schemes, and of those of others that they are there; no
// other filter is told any; and what it makes of them is ignored.
func TestRowsOfPlugins(t *testing.T) {
	shown := func(text string) sdk.Shown { return sdk.Shown{Text: text, Characters: len(text)} }
	p := sdk.Prompt{System: "system", Rows: []*sdk.Row{
		{Path: "note://a", Scheme: "note", Category: sdk.CategoryLogging, Attributes: json.RawMessage(`{"own":1}`), Visible: shown("mine"), Summary: shown("short")},
		{Path: "known://b", Scheme: "known", Category: sdk.CategoryData, Attributes: json.RawMessage(`{"summary":"about"}`), Visible: shown("SECRET"), Summary: shown("SECRET")},
		{Path: "log://turn_1/sh/c", Scheme: "log", Category: sdk.CategoryLogging, Attributes: json.RawMessage(`{"arguments":"SECRET"}`), Visible: shown("SECRET")},
		{Path: "prompt://1", Scheme: "prompt", Category: sdk.CategoryPrompt, Attributes: json.RawMessage(`{"meaning":"SECRET"}`), Summary: shown("SECRET")},
	}}
	for name, rows := range map[string]bool{
		"assembly.system": true, "assembly.user": true, "turn.before_dispatch": false, "llm.messages": false, "instructions.resolve_system_prompt": false,
	} {
		chains := New(hclog.NewNullLogger())
		chains.Owns = func(owner, scheme string) bool { return owner == "notes" && scheme == "note" }
		w := &writer{to: name}
		if _, err := chains.Subscribe("notes", w); err != nil {
			t.Fatal(err)
		}
		filter := map[string]*Filter[sdk.Prompt]{
			"assembly.system": chains.AssemblySystem, "assembly.user": chains.AssemblyUser, "turn.before_dispatch": chains.TurnBeforeDispatch,
			"llm.messages": chains.LLMMessages, "instructions.resolve_system_prompt": chains.InstructionsResolveSystemPrompt,
		}[name]
		got, err := filter.Apply(t.Context(), p)
		if err != nil || got.System != "system and more" || len(got.Rows) != 4 || got.Rows[1].Visible.Text != "SECRET" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if strings.Contains(w.told, "SECRET") {
			t.Errorf("%s tells what stands in entries of others: %s", name, w.told)
		}
		for _, part := range []string{`"text":"mine"`, `{"own":1}`, "known://b", `{"summary":"about"}`, `"characters":6`} {
			if strings.Contains(w.told, part) != rows {
				t.Errorf("%s: %s is told: %t", name, part, !rows)
			}
		}
	}
}
