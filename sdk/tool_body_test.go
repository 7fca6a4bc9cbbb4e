package sdk

import (
	"encoding/json"
	"testing"
)

// TestToolBody: the body of a tag fills an argument that takes a text.
func TestToolBody(t *testing.T) {
	const parameters = `{"type":"object","properties":{"text":{"type":"string"},"maybe":{"type":["null","string"]},"any":{},"count":{"type":"integer"},"flags":{"type":["integer","null"]}}}`
	for body, want := range map[string]Outcome{
		"": "", "text": "", "maybe": "", "any": "", "count": Validation, "flags": Validation, "nothing": Validation,
	} {
		spec := ToolSpec{Name: "note", Parameters: json.RawMessage(parameters), Body: body}
		if err := spec.CheckBody(); err != nil != (want != "") || err != nil && OutcomeOf(err) != want {
			t.Errorf("%q: %v", body, err)
		}
	}
	spec := ToolSpec{Parameters: json.RawMessage(`{`), Body: "text"}
	if err := spec.CheckBody(); OutcomeOf(err) != Validation {
		t.Errorf("a schema that is none: %v", err)
	}
}
