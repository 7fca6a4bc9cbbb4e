package store

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// hiding is a fixture whose store hides a secret.
func hiding(t *testing.T, secret string) *fixture {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "bothy.db"), Options{Redact: hides(secret)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	p, err := s.OpenProject(t.Context(), "/p")
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.CreateRun(t.Context(), sdk.Run{Project: p.ID, Alias: "r"})
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{Store: s, t: t, run: run}
}

// span is where a part stands in a text.
func span(text, part string) sdk.Span {
	at := strings.Index(text, part)
	return sdk.Span{Start: at, End: at + len(part)}
}

// TestCallsStayWhereTheyAreWhenTheirAnswerIsRedacted: neither their number nor where each begins and ends is another, also of one that a
// secret reaches out of, and their arguments are those of the text that is kept.
func TestCallsStayWhereTheyAreWhenTheirAnswerIsRedacted(t *testing.T) {
	const secret = `tok</set>en"1`
	first, second, third := "<set path=\"ä\">one "+secret[:3], "</set>", `{"name":"sh","arguments":{"command":"echo \"`+secret+`\n\""}}`
	text := "It is " + secret + ".\n" + first + second + secret[9:] + third + " " + secret
	f := hiding(t, secret)
	call := span(text, first+second)
	found := []sdk.FoundCall{
		{ID: "call_1", Tool: "set", At: call, Texts: []sdk.Span{span(text, "one "+secret[:3])}},
		{ID: "call_2", Tool: "sh", At: span(text, third), Quoted: []sdk.Span{span(text, `echo \"`+secret+`\n\"`)}},
	}
	attributes, err := json.Marshal(sdk.Reply{Model: "m", Found: found})
	if err != nil {
		t.Fatal(err)
	}
	refers := func(path, tool, rest, member, place string) sdk.Write {
		return sdk.Write{
			Path: path, Create: true, Writer: sdk.WriterSystem, State: sdk.StateStreaming, Phase: sdk.PhaseStarted,
			Attributes: object(`{"tool":"` + tool + `",` + rest + `"refers":{"` + member + `":"assistant://1#` + place + `"}}`),
		}
	}
	receipt := f.commit(
		sdk.Write{Path: "assistant://1", Writer: sdk.WriterSystem, Body: &text, Attributes: attributes},
		refers("log://turn_1/set/a", "set", `"arguments":{"path":"ä"},`, "arguments/body", "/found/0/texts/0"),
		refers("log://turn_1/sh/b", "sh", "", "arguments/command", "/found/1/quoted/0"),
		refers("log://turn_1/sh/c", "sh", "", "arguments/command", "/found/2/quoted/0"),
		refers("log://turn_1/sh/d", "sh", "", "arguments/command", "/found/1/texts/0"),
	)
	kept := receipt.Entries[0].Body
	if strings.Contains(kept, secret) || strings.Contains(kept, secret[9:]+"{") {
		t.Errorf("stored is %q", kept)
	}
	reply, err := sdk.ReplyOf(receipt.Entries[0].Attributes)
	if err != nil || len(reply.Found) != 2 || reply.Model != "m" {
		t.Fatalf("%s, %v", receipt.Entries[0].Attributes, err)
	}
	wants := []string{
		`{"arguments":{"body":"one [secret]","path":"ä"},"tool":"set"}`,
		`{"arguments":{"command":"echo \"[secret]\n\""},"tool":"sh"}`,
		`{"refers":{"arguments/command":"assistant://1#/found/2/quoted/0"},"tool":"sh"}`,
		`{"refers":{"arguments/command":"assistant://1#/found/1/texts/0"},"tool":"sh"}`,
	}
	for i, want := range wants {
		if got := string(receipt.Entries[i+1].Attributes); got != want {
			t.Errorf("%s has %s", receipt.Entries[i+1].Path, got)
		}
	}
	for i, want := range []string{`<set path="ä">one [secret][secret]`, third[:strings.Index(third, secret)] + "[secret]" + `\n\""}}`} {
		if got, ok := reply.Found[i].At.Of(kept); !ok || got != want {
			t.Errorf("call %d stands at %q in %q", i+1, got, kept)
		}
	}
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{Run: f.run.ID, Longest: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.Path == "log://turn_1/set/a" && !strings.Contains(string(row.Data), wants[0]) {
			t.Errorf("the journal has %s", row.Data)
		}
	}
	var stored int
	if err := f.conn.QueryRowContext(t.Context(), `SELECT count(*) FROM entries WHERE path GLOB 'log:*' AND instr(attributes, 'one ') > 0`).Scan(&stored); err != nil || stored > 0 {
		t.Errorf("%d actions hold the text again, %v", stored, err)
	}
	f.verify()

	f.commit(sdk.Write{Path: "assistant://1", Writer: sdk.WriterSystem, Remove: true})
	if got := string(f.entry("log://turn_1/set/a").Attributes); got != `{"arguments":{"path":"ä"},"refers":{"arguments/body":"assistant://1#/found/0/texts/0"},"tool":"set"}` {
		t.Errorf("where the answer is gone the action has %s", got)
	}
}

// TestRepliesWhoseCallsCannotBeAreRefused: nothing is stored that would be read in another place.
func TestRepliesWhoseCallsCannotBeAreRefused(t *testing.T) {
	f := newFixture(t)
	for _, found := range []string{`[{"id":"a","tool":"set","at":[0,9]}]`, `[{"id":"a","tool":"set","at":[-1,2]}]`, `[{"id":"a","tool":"set","at":{}}]`, `[7]`} {
		_, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, Writes: []sdk.Write{{Path: "assistant://1", Body: body("text"), Writer: sdk.WriterSystem, Attributes: object(`{"found":` + found + `}`)}}})
		if err == nil {
			t.Errorf("%s was stored", found)
		}
	}
}
