package show

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestEdited: a command line is put in its own place, and everything else is an object.
func TestEdited(t *testing.T) {
	for name, c := range map[string]struct {
		command, arguments string
		editable           string // begins with
		typed, want        string
		err                string
	}{
		"a command":                 {"ls", `{"command":"ls","timeout_seconds":5}`, "ls", "ls \"-l\"", `{"command":"ls \"-l\"","timeout_seconds":5}`, ""},
		"arguments":                 {"", `{"path":"a"}`, "{\n  \"path\"", `{"path":"b"}`, `{"path":"b"}`, ""},
		"markers":                   {"", `{"body":"\u003c\u003cNEW \\u003c NEW"}`, "{\n  \"body\": \"<<NEW \\\\u003c NEW\"", `{"body":"<<NEW x NEW"}`, `{"body":"<<NEW x NEW"}`, ""},
		"no object":                 {"", `{"path":"a"}`, "{", `["b"]`, "", "must be a JSON object"},
		"null":                      {"", `{"path":"a"}`, "{", `null`, "", "must be a JSON object"},
		"no JSON":                   {"", `{"path":"a"}`, "{", `{`, "", "must be a JSON object"},
		"a directory of that name":  {"ls", `{"command":"ls","dir":"ls"}`, "ls", "pwd", `{"command":"pwd","dir":"ls"}`, ""},
		"a directory before it":     {"ls", `{"cwd":"ls","command":"ls"}`, "ls", "pwd", `{"command":"pwd","cwd":"ls"}`, ""},
		"a command by another name": {"ls", `{"line":"ls","n":1}`, "ls", "pwd", `{"line":"pwd","n":1}`, ""},
		"several, and none command": {"ls", `{"dir":"ls","line":"ls"}`, "{\n  \"dir\"", `{"line":"pwd"}`, `{"line":"pwd"}`, ""},
		"a command elsewhere":       {"ls", `{"line":" ls"}`, "{", `{"line":"ls -l"}`, `{"line":"ls -l"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := sdk.Proposal{Command: c.command, Arguments: json.RawMessage(c.arguments)}
			text, command, err := Editable(p)
			if err != nil || !strings.HasPrefix(text, c.editable) || command != (text == c.command) {
				t.Errorf("editable %q, %t, %v", text, command, err)
			}
			got, err := Edited(p, c.typed)
			if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("edited %s, %v; want %s, %q", got, err, c.want, c.err)
			}
		})
	}
}
