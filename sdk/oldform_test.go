package sdk

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestOldForm: what version 0.1 stored before the modes had their names is read
// as today's form, member by member; what is of today's form stays to the byte.
func TestOldForm(t *testing.T) {
	for name, c := range map[string]struct {
		stored, read string
		old          bool
	}{
		"a queued loop":        {`{"sequence":1,"mode":"act","model":"m","agent":"a"}`, `{"agent":"a","model":"m","read_only":false,"sequence":1}`, true},
		"a loop that asks":     {`{"sequence":2,"mode":"ask"}`, `{"read_only":true,"sequence":2}`, true},
		"a proposal":           {`{"id":"x","mode":"act","leave":"interactive","bytes":123456789012345678}`, `{"bytes":123456789012345678,"id":"x","mode":"interactive","read_only":false}`, true},
		"a loop's options":     {`{"resumes":3,"leave":"full"}`, `{"mode":"full","resumes":3}`, true},
		"a run's full mode":    {`{"leave":"full"}`, `{"mode":"full"}`, true},
		"a remembered rule":    {`{"id":"r","leaves":["full"]}`, `{"id":"r","modes":["full"]}`, true},
		"changes of both":      {`{"mode":"restricted","leave":"full","read_only":true}`, `{"mode":"restricted","read_only":true}`, false},
		"today's proposal":     {`{ "mode":"full","read_only":false}`, `{ "mode":"full","read_only":false}`, false},
		"today's options":      {`{"resumes":3,"mode":"full"}`, `{"resumes":3,"mode":"full"}`, false},
		"members of no matter": {`{"leaver":1,"arguments":{"leave":"x","mode":"act"}}`, `{"leaver":1,"arguments":{"leave":"x","mode":"act"}}`, false},
		"no object":            {`["leave"]`, `["leave"]`, false},
		"nothing":              {``, ``, false},
	} {
		got, old := FromOldForm(json.RawMessage(c.stored))
		if string(got) != c.read || old != c.old {
			t.Errorf("%s: %s, %t", name, got, old)
		}
		if again, old := FromOldForm(got); string(again) != string(got) || old {
			t.Errorf("%s, read twice: %s", name, again)
		}
	}
}

// TestOldFormOfAnAction: the attributes of an action that was proposed in the old
// form, as its entry holds them and as a row of the journal brings them.
func TestOldFormOfAnAction(t *testing.T) {
	const attributes = `{"tool":"bash","index":0,"proposal":{"id":"x","hash":"h","mode":"ask","leave":"restricted","network":false}}`
	a, err := ActionOf(Entry{Path: "log://turn_1/bash/x", Attributes: json.RawMessage(attributes)})
	if p := a.Proposal; err != nil || p == nil || !p.OldForm || !p.ReadOnly || p.Mode != ModeRestricted || p.Hash != "h" {
		t.Errorf("the entry: %+v, %v", p, err)
	}
	var b Action
	b.Apply(JournalRow{Kind: KindEntrySet, Path: a.Path}, EntryChange{State: StateProposed, Attributes: json.RawMessage(attributes)})
	if p := b.Proposal; p == nil || !p.OldForm || !p.ReadOnly || p.Mode != ModeRestricted {
		t.Errorf("the row: %+v", p)
	}
	var now Action
	if err := json.Unmarshal([]byte(`{"proposal":{"read_only":true,"mode":"full"}}`), &now); err != nil || now.Proposal.OldForm || !now.Proposal.ReadOnly || now.Proposal.Mode != ModeFull {
		t.Errorf("today's: %+v, %v", now.Proposal, err)
	}
}

// TestHookLoop: in payloads of hooks a loop has the mode of the run
// specification, in both directions; everywhere else it has read_only.
func TestHookLoop(t *testing.T) {
	for _, readOnly := range []bool{true, false} {
		loop := Loop{ID: 7, ReadOnly: readOnly, Prompt: "p"}
		text, err := json.Marshal(LoopEvent{Loop: loop.ForHook()})
		var wire struct{ Loop map[string]any }
		if err != nil || json.Unmarshal(text, &wire) != nil {
			t.Fatal(err)
		}
		if _, there := wire.Loop["read_only"]; there || wire.Loop["mode"] != AskOrAct(readOnly).String() {
			t.Errorf("the payload is %s", text)
		}
		var back LoopEvent
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Loop, loop.ForHook()) {
			t.Errorf("%+v, %v", back, err)
		}
		if text, _ := json.Marshal(loop); json.Unmarshal(text, &wire.Loop) != nil || wire.Loop["read_only"] != readOnly {
			t.Errorf("the loop is %s", text)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Loop]()) {
		if _, there := reflect.TypeFor[HookLoop]().FieldByName(f.Name); !there && f.Tag.Get("json") != "-" {
			t.Errorf("hooks are not told %s of a loop", f.Name)
		}
	}
	var r Recording
	if err := json.Unmarshal([]byte(`{"mode":"ask"}`), &r); err != nil || !bool(r.ReadOnly) {
		t.Errorf("a recording: %+v, %v", r, err)
	}
	if json.Unmarshal([]byte(`{"mode":"full"}`), &r) == nil {
		t.Error("a permission mode was taken for ask or act")
	}
}
