package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// answerWithCalls is an answer and the actions of its calls, which refer to it.
func (f *fixture) answerWithCalls(turn string, arguments ...string) sdk.Receipt {
	f.t.Helper()
	type call struct {
		Arguments string `json:"arguments"`
	}
	var calls []call
	writes := []sdk.Write{{Path: "assistant://" + turn, Body: body("text"), Writer: sdk.WriterSystem}}
	for i, a := range arguments {
		calls = append(calls, call{a})
		writes = append(writes, sdk.Write{
			Path: "log://turn_" + turn + "/write/" + string(rune('a'+i)), Create: true, Writer: sdk.WriterSystem,
			State: sdk.StateStreaming, Phase: sdk.PhaseStarted,
			Attributes: object(`{"tool":"write","refers":{"arguments":"assistant://` + turn + `#/calls/` + string(rune('0'+i)) + `/arguments"}}`),
		})
	}
	attributes, err := json.Marshal(map[string]any{"calls": calls})
	if err != nil {
		f.t.Fatal(err)
	}
	writes[0].Attributes = attributes
	return f.commit(writes...)
}

// TestReferredAttributesAreFilledIn wherever an action is read, and nothing of
// them is stored with it.
func TestReferredAttributesAreFilledIn(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("long ", 1000)
	receipt := f.answerWithCalls("1", ` {"text":"`+long+`", "b": null, "a": 1.50}`, `{"text":"two"}`, `no JSON`)
	wants := []string{`{"a":1.50,"b":null,"text":"` + long + `"}`, `{"text":"two"}`, ""}
	paths := []string{"log://turn_1/write/a", "log://turn_1/write/b", "log://turn_1/write/c"}
	wanted := func(who string, i int, attributes json.RawMessage) {
		t.Helper()
		m, err := parseMembers(attributes)
		if err != nil || string(m["arguments"]) != wants[i] || (m["refers"] == nil) != (wants[i] != "") || string(m["tool"]) != `"write"` {
			t.Errorf("%s reads %.100s of %s, %v", who, attributes, paths[i], err)
		}
	}
	end := f.commit(sdk.Write{Path: paths[0], Writer: sdk.WriterSystem, Phase: sdk.PhaseEnded, State: sdk.StateResolved, Body: body("done"), Attributes: object(`{"took":1}`)})
	wanted("who ends it", 0, end.Entries[0].Attributes)
	child := f.newRun(sdk.Run{Parent: f.run.ID})
	all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID, Pattern: "log://turn_1/**"})
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for i, path := range paths {
		wanted("who writes", i, receipt.Entries[i+1].Attributes)
		wanted("who asks for one", i, f.entry(path).Attributes)
		wanted("who asks for all", i, all[i].Attributes)
	}
	forked, err := f.Entry(t.Context(), child.ID, paths[0])
	if err != nil {
		t.Fatal(err)
	}
	wanted("a fork", 0, forked.Attributes)
	for who, read := range map[string]func() ([]sdk.JournalRow, error){
		"the journal": func() ([]sdk.JournalRow, error) { return f.Journal(t.Context(), sdk.JournalQuery{}) },
		"the brief journal": func() ([]sdk.JournalRow, error) {
			return f.Journal(t.Context(), sdk.JournalQuery{Run: f.run.ID, Longest: 10})
		},
	} {
		rows, err := read()
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, r := range rows {
			var c sdk.EntryChange
			if err := json.Unmarshal(r.Data, &c); err != nil {
				t.Fatal(err)
			}
			for i, path := range paths {
				if r.Path == path && c.Phase == sdk.PhaseStarted {
					seen++
					wanted(who, i, c.Attributes)
				}
			}
		}
		if seen != len(paths) {
			t.Errorf("%s tells of %d actions", who, seen)
		}
	}
	var stored int
	if err := f.conn.QueryRowContext(t.Context(), `SELECT max(octet_length(attributes)) FROM entries WHERE path GLOB 'log:*'`).Scan(&stored); err != nil || stored > 200 {
		t.Errorf("%d bytes are stored with an action, %v", stored, err)
	}
	f.verify()
}

// TestReferenceThatLeadsNowhere stays what it is; attributes of entries that
// are no actions are anybody's, and never read as references.
func TestReferenceThatLeadsNowhere(t *testing.T) {
	f := newFixture(t)
	f.answerWithCalls("1", `{"a":1}`)
	f.commit(sdk.Write{Path: "assistant://1", Writer: sdk.WriterSystem, Remove: true})
	f.commit(sdk.Write{Path: "known://mine", Body: body("x"), Writer: sdk.WriterModel, Attributes: object(`{"refers":{"arguments":"log://turn_1/write/a#/tool"}}`)})
	for path, want := range map[string]string{
		"log://turn_1/write/a": `{"refers":{"arguments":"assistant://1#/calls/0/arguments"},"tool":"write"}`,
		"known://mine":         `{"refers":{"arguments":"log://turn_1/write/a#/tool"}}`,
	} {
		if got := string(f.entry(path).Attributes); got != want {
			t.Errorf("%s has %s", path, got)
		}
	}
	for i, place := range []string{"assistant://2#/calls/1/arguments", "assistant://2#/calls/-1/arguments", "assistant://2#/calls/a/arguments", "assistant://2", "assistant://3#/calls/0/arguments", "#", ""} {
		if i == 0 {
			f.commit(sdk.Write{Path: "assistant://2", Writer: sdk.WriterSystem, Attributes: object(`{"calls":[{"arguments":"{}"},{"arguments":7}]}`)})
		}
		path := fmt.Sprintf("log://turn_2/write/%d", i)
		f.commit(sdk.Write{Path: path, Writer: sdk.WriterSystem, Phase: sdk.PhaseRecorded, Attributes: object(`{"refers":{"arguments":"` + place + `"}}`)})
		if got := string(f.entry(path).Attributes); got != `{"refers":{"arguments":"`+place+`"}}` {
			t.Errorf("%q leads to %s", place, got)
		}
	}
}
