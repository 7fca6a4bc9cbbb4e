package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
)

// TestChoices: what can be answered by a choice is offered as one, and each is the data that the
// daemon takes; what has to be typed is not asked here.
func TestChoices(t *testing.T) {
	for _, c := range []struct {
		name, schema, url string
		names, data       string // of all options
	}{
		{"a yes", "", "", "Yes", ""},
		{"an empty form", `{"type":"object"}`, "", "Yes", "{}"},
		{"an address", "", "https://far.example/login", "I will open it", ""},
		{"a yes or no", `{"properties":{"ok":{"type":"boolean","title":"Agree"}}}`, "", "Agree: yes, Agree: no", `{"ok":true} {"ok":false}`},
		{"a choice", `{"properties":{"a \\ \"b":{"type":"string","enum":["x","y"],"enumNames":["The X","The \\u202eY"]}}}`, "", `The X, The \u{202e}Y`, `{"a \\ \"b":"x"} {"a \\ \"b":"y"}`},
		{"a text", `{"properties":{"city":{"type":"string"}}}`, "", "", ""},
		{"two things", `{"properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}}}`, "", "", ""},
		{"a list", `{"properties":{"a":{"type":"array","items":{"enum":["x"]}}}}`, "", "", ""},
	} {
		schema := strings.ReplaceAll(c.schema, `\\u`, `\u`)
		q := &sdk.Question{Message: "m", URL: c.url}
		if schema != "" {
			q.Schema = json.RawMessage(schema)
		}
		options, all := choices(q)
		var names, data []string
		for i, o := range options {
			names = append(names, o.Name)
			r, is := answerOf(sdk.Proposal{ID: "p", Hash: "h", Question: q}, options, acp.NewRequestPermissionOutcomeSelected(o.OptionId))
			if !is || r.Answer != sdk.Accept || string(r.Data) != string(all[i]) {
				t.Errorf("%s: %s answers %+v", c.name, o.OptionId, r)
			}
			if len(r.Data) > 0 {
				data = append(data, string(r.Data))
			}
			if err := q.CheckAnswer(r.Data); err != nil {
				t.Errorf("%s: %s: %v", c.name, r.Data, err)
			}
		}
		if got := strings.Join(names, ", "); got != c.names {
			t.Errorf("%s: offers %s, want %s", c.name, got, c.names)
		}
		if got := strings.Join(data, " "); got != c.data {
			t.Errorf("%s: data %s, want %s", c.name, got, c.data)
		}
	}
	if text := typed(sdk.Proposal{ID: "1a2b", Question: &sdk.Question{Message: "Where to?"}}); !strings.Contains(text, "? Where to?") || !strings.Contains(text, "bothy proposals answer 1a2b") {
		t.Error(text)
	}
}
