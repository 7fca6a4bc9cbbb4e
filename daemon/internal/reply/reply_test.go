package reply

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bothyd/bothy/sdk"
)

// TestWhatStandsInTheTextIsNotStoredAgain: an argument to the byte, or as JSON has it; what is short or stands there in
// another way is, and so is what is no text.
func TestWhatStandsInTheTextIsNotStoredAgain(t *testing.T) {
	body := strings.Repeat("a line of \"text\" & <more>\n", 8)
	quoted := strings.Trim(string(encode(body)), `"`)
	for _, c := range []struct {
		name, before, call string
		body               string // that BodyAt says; empty: none
		arguments          map[string]any
		rest               string
		refers             map[string]string
		found              string
	}{
		{
			"a body", "I write.\n", "<set path=\"a\">\n" + body + "\n</set>", body, map[string]any{"path": "a", "body": body},
			`{"path":"a"}`, map[string]string{"arguments/body": "assistant://7#/found/2/texts/0"},
			`{"id":"call_1","tool":"set","at":[9,239],"texts":[[24,232]]}`,
		},
		{
			"only a body", "", "<sh>" + body + "</sh>", body, map[string]any{"command": body},
			"", map[string]string{"arguments/command": "assistant://7#/found/2/texts/0"},
			`{"id":"call_1","tool":"set","at":[0,217],"texts":[[4,212]]}`,
		},
		{
			"an attribute", "", "<set path='" + body + "' n=1/>", "", map[string]any{"path": body, "n": 1},
			`{"n":1}`, map[string]string{"arguments/path": "assistant://7#/found/2/texts/0"},
			`{"id":"call_1","tool":"set","at":[0,226],"texts":[[11,219]]}`,
		},
		{
			"JSON", "", `{"name":"set","arguments":{"a":"` + quoted + `","b":"` + quoted + `"}}`, "", map[string]any{"a": body, "b": body},
			"", map[string]string{"arguments/a": "assistant://7#/found/2/quoted/0", "arguments/b": "assistant://7#/found/2/quoted/1"},
			"",
		},
		{"in another way", "", strings.ReplaceAll(body, "&", "&amp;"), "", map[string]any{"body": body}, string(encode(map[string]string{"body": body})), nil, ""},
		{"short", "", "<set>a</set>", "a", map[string]any{"body": "a"}, `{"body":"a"}`, nil, `{"id":"call_1","tool":"set","at":[0,12]}`},
		{"no text", "", "[" + strings.Repeat("1,", 99) + "1]", "", map[string]any{"list": make([]int, 99)}, string(encode(map[string]any{"list": make([]int, 99)})), nil, ""},
		{"behind the call", body, "<set/>", "", map[string]any{"body": body}, string(encode(map[string]string{"body": body})), nil, ""},
	} {
		text := c.before + c.call + "\nDone."
		call := sdk.ReadCall{ID: "call_1", Tool: "set", Arguments: encode(c.arguments), At: sdk.Span{Start: len(c.before), End: len(c.before) + len(c.call)}}
		if c.body != "" {
			at := len(c.before) + strings.Index(c.call, c.body)
			call.BodyAt = sdk.Span{Start: at, End: at + len(c.body)}
		}
		rest, refers := Refer(7, 2, text, call, call.Arguments)
		if string(rest) != c.rest || !cmp.Equal(refers, c.refers) {
			t.Errorf("%s: stored is %s, and %v stands elsewhere", c.name, rest, refers)
		}
		found := Found(text, []sdk.ReadCall{call})
		if raw, _ := json.Marshal(found[0]); c.found != "" && string(raw) != c.found {
			t.Errorf("%s: found is %s", c.name, raw)
		}
		for _, at := range found[0].Texts {
			if got, ok := at.Of(text); !ok || got != body {
				t.Errorf("%s: %v is %q", c.name, at, got)
			}
		}
		if changed := encode(map[string]string{"body": body + "!"}); len(refers) > 0 {
			if rest, refers := Refer(7, 2, text, call, changed); string(rest) != string(changed) || refers != nil {
				t.Errorf("%s: of what something took the place of, %v stands elsewhere", c.name, refers)
			}
		}
	}
	if Found("text", []sdk.ReadCall{{ID: "a", Arguments: json.RawMessage(`{}`)}}) != nil {
		t.Error("a call that stands in no text was found in one")
	}
}

// TestArgumentsThatWereReadAgain are those that are stored, or none: of those that are null nothing is stored.
func TestArgumentsThatWereReadAgain(t *testing.T) {
	for _, c := range []struct {
		stored, read string
		same         bool
	}{
		{`{"a":1,"b":"x"}`, `{"b":"x","a":1}`, true},
		{`{"a":{}}`, `{"a":{"b":null},"c":null}`, true},
		{`{"a":1}`, `{"a":1.0}`, false},
		{`{"body":"","path":"b"}`, `{"body":"</get>","path":"b"}`, false},
		{`{"path":"b"}`, `{"path":"b","body":"x"}`, false},
		{``, `{}`, false},
		{`{}`, `no JSON`, false},
	} {
		call := sdk.ReadCall{ID: "a", Arguments: json.RawMessage(c.read), At: sdk.Span{End: 1}}
		got := Again(call, sdk.ActionCall{Arguments: json.RawMessage(c.stored)})
		if (got.Fault == "") != c.same || got.ID != "a" {
			t.Errorf("%s and %s: %+v", c.stored, c.read, got)
		}
		if got := Again(call, sdk.ActionCall{Arguments: json.RawMessage(c.stored), Changed: "{}"}); got.Fault != "" {
			t.Errorf("%s instead of %s: %+v", c.stored, c.read, got)
		}
		call.At = sdk.Span{}
		if got := Again(call, sdk.ActionCall{Arguments: json.RawMessage(c.stored)}); got.Fault != "" {
			t.Errorf("a call in native form: %+v", got)
		}
	}
}

// TestLongArgumentsOfNativeCallsAreTheAnswers where it has the very bytes.
func TestLongArgumentsOfNativeCallsAreTheAnswers(t *testing.T) {
	text := `{"a":"` + strings.Repeat("x", longNative) + `"}`
	for raw, want := range map[string]string{text: "assistant://3#/calls/1/arguments", " " + text + "\n": "assistant://3#/calls/1/arguments", text + " {}": "", `{"a":1}`: ""} {
		arguments := json.RawMessage(text)
		if len(raw) < longNative {
			arguments = json.RawMessage(raw)
		}
		rest, refers := Refer(3, 1, "", sdk.ReadCall{Raw: raw, Arguments: arguments}, arguments)
		if refers["arguments"] != want || (rest == nil) != (want != "") {
			t.Errorf("%.20q: stored is %.20q, and %v", raw, rest, refers)
		}
	}
}
