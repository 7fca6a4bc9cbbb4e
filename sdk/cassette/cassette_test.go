package cassette

import (
	"bytes"
	_ "embed"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

//go:embed testdata/two-steps.json
var twoSteps string

func user(text string) sdk.Message { return sdk.Message{Role: sdk.RoleUser, Text: text} }

func result(tool, text string) sdk.Message {
	return sdk.Message{Role: sdk.RoleTool, Tool: tool, CallID: "c", Text: text}
}

func TestCassettesAreChecked(t *testing.T) {
	replace := func(old, with string) string {
		if !strings.Contains(twoSteps, old) {
			t.Fatalf("%q is not in the cassette", old)
		}
		return strings.Replace(twoSteps, old, with, 1)
	}
	for _, c := range []struct{ name, in, says string }{
		{"not JSON", "{\n\n}}", "line 3"},
		{"empty", "", "line 1"},
		{"a second document", twoSteps + "{}", "after top-level value"},
		{"an unknown field", replace(`"model"`, `"speed":2,"model"`), `"speed"`},
		{"an unknown field of an event", replace(`{"text":"I "}`, `{"text":"I ","loud":true}`), `"loud"`},
		{"a wrong type", replace(`"text":"go"`, `"text":7`), "a string or a rule"},
		{"a later format", replace(`"format":1`, `"format":2`), "format is 2"},
		{"no model", replace(`"model":"m"`, `"model":""`), "model is missing"},
		{"a negative context", replace(`"model":"m"`, `"model":"m","context":-1`), "context"},
		{"a negative context of a step", replace(`"events":[{"text":"done"}`, `"context":-1,"events":[{"text":"done"}`), "step 2: context"},
		{"no steps", `{"format":1,"model":"m","steps":[]}`, "no steps"},
		{"no request", replace(`[{"role":"user","text":"go"}]`, `[]`), "step 1, request: there is no message"},
		{"a request of the assistant", replace(`{"role":"user","text":"go"}`, `{"role":"assistant","text":"go"}`), `role is "assistant"`},
		{"a user without a text", replace(`{"role":"user","text":"go"}`, `{"role":"user"}`), "a user's message has a text"},
		{"a user with a result", replace(`{"role":"user","text":"go"}`, `{"role":"user","text":"go","result":{"any":true}}`), "nothing else"},
		{"a user's text that is neither", replace(`{"role":"user","text":"go"}`, `{"role":"user","text":7}`), "a string or a rule"},
		{"a user's rule of none", replace(`{"role":"user","text":"go"}`, `{"role":"user","text":{}}`), "text: write one of exact, regex and any"},
		{"a user's broken regex", replace(`{"role":"user","text":"go"}`, `{"role":"user","text":{"regex":"("}}`), "text: regex"},
		{"an unknown member of a user's rule", replace(`{"role":"user","text":"go"}`, `{"role":"user","text":{"any":true,"loud":1}}`), `"loud"`},
		{"a result too few", replace(`{"role":"tool","tool":"bash","result":{"any":true}},`, ``), `result of tool "bash"`},
		{"a result of another tool", replace(`"tool":"bash","result"`, `"tool":"grep","result"`), `result of tool "bash"`},
		{"a result without a rule", replace(`,"result":{"any":true}`, ``), "has a result"},
		{"a rule of two", replace(`{"any":true}`, `{"any":true,"exact":"x"}`), "one of exact, regex and any"},
		{"a rule of none", replace(`{"any":true}`, `{}`), "one of exact, regex and any"},
		{"what was recorded of an exact result", replace(`{"exact":"1"}`, `{"exact":"1","recorded":"1"}`), "recorded goes with any"},
		{"a broken regex", replace(`{"any":true}`, `{"regex":"("}`), "regex"},
		{"no events", replace(`[{"text":"done"},{"finish":{"reason":"stop"}}]`, `[]`), "step 2, events: there are none"},
		{"no finish", replace(`,{"finish":{"reason":"stop"}}`, ``), "one finish"},
		{"a finish too early", replace(`{"text":"done"}`, `{"finish":{"reason":"stop"}}`), "step 2, event 1"},
		{"an unknown finish", replace(`"stop"`, `"tool_calls"`), "stop, calls, length or filter"},
		{"calls and stop", replace(`"reason":"calls"`, `"reason":"stop"`), "makes 2 calls"},
		{"an event of two", replace(`{"text":"I "}`, `{"text":"I ","reasoning":"x"}`), "exactly one"},
		{"an event of none", replace(`{"text":"I "}`, `{}`), "exactly one"},
		{"a long delay", replace(`{"text":"I "}`, `{"text":"I ","delay_ms":2001}`), "delay_ms"},
		{"a negative delay", replace(`{"text":"I "}`, `{"text":"I ","delay_ms":-1}`), "delay_ms"},
		{"many delays", replace(`{"text":"I "}`, strings.Repeat(`{"text":"I ","delay_ms":2000},`, 11)+`{"text":"x"}`), "add up"},
		{"a call's index", replace(`"index":1,"id"`, `"index":5,"id"`), "the next new one is 1"},
		{"a call without an id", replace(`"id":"a",`, ``), "an id and a tool"},
		{"a second piece with an id", replace(`{"index":1,"arguments"`, `{"index":1,"id":"b","arguments"`), "only the first piece"},
		{"a large file", `{"format":1,"model":"` + strings.Repeat("m", MaxBytes), "larger than 64 MiB"},
	} {
		if _, err := Read(strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.says)
		}
	}
	if _, err := Read(strings.NewReader(twoSteps)); err != nil {
		t.Error(err)
	}
}

// FuzzCassette: what is accepted can be played; nothing panics.
func FuzzCassette(f *testing.F) {
	f.Add([]byte(twoSteps), "go")
	f.Add([]byte(`{"format":1,"model":"m","steps":[{"request":[{"role":"user","text":""}],"events":[{"finish":{"reason":"stop"}}]}]}`), "")
	f.Add([]byte(`{"format":1,"model":"m","steps":[{"request":[{"role":"user","text":""}],"events":[{"finish":{"reason":"stop"}}],"children":[{"call":0,"cassette":`+twoSteps+`}]}]}`), "")
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		c, err := Read(bytes.NewReader(raw))
		if err != nil {
			return
		}
		for _, messages := range [][]sdk.Message{
			nil, {user(text)}, {user(text), c.Steps[0].said()}, {result("bash", text)}, {user(text), {Role: sdk.RoleAssistant}, result("bash", text)},
		} {
			if _, d := c.Find(sdk.Request{Model: c.Model, Messages: messages}); d != nil && (d.Where == "" || d.Expected == "" || d.Got == "") {
				t.Errorf("an empty difference: %+v", *d)
			}
		}
	})
}
