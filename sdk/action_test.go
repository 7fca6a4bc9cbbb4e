package sdk

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestActionKeepsItsStoredForm(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	took := int64(12)
	a := Action{
		ActionCall: ActionCall{CallID: "c1", Tool: "bash", Arguments: json.RawMessage(`{"command":"ls"}`), Index: 1, Plugin: "bash", Digest: "d"},
		Decision:   &Decision{Verdict: Propose, Rule: "r", Reason: "why"},
		Proposal:   &ActionProposal{ID: "p", Hash: "h", Created: at, Expires: at},
		Answer:     &ActionAnswer{Answer: Accept, By: "me", At: at},
		ActionEnd:  ActionEnd{Metadata: map[string]any{"exit_code": 3.0}, Error: "no", DurationMS: &took},
	}
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"call_id", "tool", "arguments", "index", "plugin", "digest", "decision", "proposal", "answer", "metadata", "error", "duration_ms"} {
		if members[name] == nil {
			t.Errorf("%s is missing in %s", name, raw)
		}
	}
	back, err := ActionOf(Entry{Attributes: raw})
	if err != nil || !reflect.DeepEqual(a, back) {
		t.Errorf("%v: %+v became %+v", err, a, back)
	}
	if n := back.ExitCode(); n == nil || *n != 3 || back.Took() != 12*time.Millisecond || back.Rejected() {
		t.Errorf("%+v", back)
	}
}

func TestActionReadsWhatItCan(t *testing.T) {
	a, err := ActionOf(Entry{Path: "log://turn_1/x/y", Attributes: json.RawMessage(`{"tool":7,"call_id":"c","later":{"x":1}}`)})
	if OutcomeOf(err) != Internal || a.CallID != "c" {
		t.Errorf("%v: %+v", err, a)
	}
	if a, err := ActionOf(Entry{Body: "b", State: StateResolved}); err != nil || a.Body != "b" || a.State != StateResolved {
		t.Errorf("%v: %+v", err, a)
	}
}

func TestActionAppliesRows(t *testing.T) {
	body := "out"
	var a Action
	a.Apply(JournalRow{Path: "log://turn_1/bash/call", Loop: 3, Turn: 1}, EntryChange{
		State: StateProposed, Phase: PhaseRecorded,
		Attributes: json.RawMessage(`{"tool":"bash","arguments":{"a":1,"b":2},"proposal":{"id":"p","hash":"h"},"metadata":{"x":1},"index":2}`),
	})
	a.Apply(JournalRow{Path: "log://turn_1/bash/call", Body: &body}, EntryChange{
		State: StateResolved, Phase: PhaseEnded,
		Attributes: json.RawMessage(`{"arguments":{"a":3},"proposal":null,"metadata":{"y":2},"index":"no number","new":1}`),
	})
	want := Action{
		Path: "log://turn_1/bash/call", Loop: 3, Turn: 1, State: StateResolved, Phase: PhaseEnded, Body: "out",
		ActionCall: ActionCall{Tool: "bash", Arguments: json.RawMessage(`{"a":3}`)},
		ActionEnd:  ActionEnd{Metadata: map[string]any{"y": 2.0}},
	}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("%+v", a)
	}
}

func TestActionTellsViolations(t *testing.T) {
	a, err := ActionOf(Entry{Attributes: json.RawMessage(`{"metadata":{"violations":[{"path":"/x","action":"write"},{"path":"/y"},7]}}`)})
	if err != nil || !reflect.DeepEqual(a.Violations(), []string{"write /x", "/y", ""}) {
		t.Errorf("%v: %q", err, a.Violations())
	}
}

func TestActionPath(t *testing.T) {
	p := ActionPath{Turn: 3, Tool: "write_file", Slug: "a.txt_2"}
	if back, ok := ParseActionPath(p.String()); !ok || back != p || p.Changes() != "change://turn_3/write_file/a.txt_2" {
		t.Errorf("%v %v %s", back, ok, p.Changes())
	}
	for _, path := range []string{
		"", "log://", "log://turn_", "log://turn_1", "log://turn_1/bash", "log://turn_1/bash/", "log://turn_1//x",
		"log://turn_01/bash/x", "log://turn_+1/bash/x", "log://turn_-1/bash/x", "log://turn_x/bash/y", "log://mine/bash/x", "change://turn_1/bash/x",
	} {
		if p, ok := ParseActionPath(path); ok {
			t.Errorf("%q is read as %v", path, p)
		}
	}
	if p, ok := ParseActionPath("log://turn_2/error/dialect_1"); !ok || !p.IsError() || !p.IsDialect() || p.Slug != DialectSlug(1) {
		t.Errorf("%v %v", p, ok)
	}
}

func TestReplyPath(t *testing.T) {
	if n, ok := ParseReplyPath(ReplyPath(12)); !ok || n != 12 {
		t.Error(n, ok)
	}
	for _, path := range []string{"assistant://", "assistant://1/partial_1", "log://1"} {
		if n, ok := ParseReplyPath(path); ok {
			t.Error(path, n)
		}
	}
}

func FuzzActionPath(f *testing.F) {
	f.Add("log://turn_1/bash/call")
	f.Add("log://turn_01/error/a/b")
	f.Fuzz(func(t *testing.T, path string) {
		if p, ok := ParseActionPath(path); ok && p.String() != path {
			t.Errorf("%q is read as %v, which is %q", path, p, p)
		}
	})
}

// FuzzAction: what is read is written so that the same is read again, as a whole
// or as a row.
func FuzzAction(f *testing.F) {
	f.Add([]byte(`{"call_id":"c","tool":"t","arguments":{"a":1},"decision":{"verdict":"allow"},"metadata":{"a":null},"refers":{"arguments":"a#b"}}`))
	f.Add([]byte(`{"arguments":"no object","proposal":{"mounts":[]},"answer":{},"duration_ms":0,"structured":null}`))
	f.Fuzz(func(t *testing.T, attributes []byte) {
		var row Action
		row.Apply(JournalRow{}, EntryChange{Attributes: attributes})
		a, err := ActionOf(Entry{Attributes: attributes})
		if err != nil {
			return
		}
		raw, err := json.Marshal(a)
		if err != nil {
			t.Skip() // a time beyond what RFC 3339 can say
		}
		back, err := ActionOf(Entry{Attributes: raw})
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		again, err := json.Marshal(back)
		if err != nil || !bytes.Equal(raw, again) {
			t.Errorf("%v: %s became %s", err, raw, again)
		}
	})
}
