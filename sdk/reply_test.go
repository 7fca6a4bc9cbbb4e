package sdk

import (
	"encoding/json"
	"testing"
)

// TestSaid: what an answer says is its text without the places of its calls, as they are stored; places of another text take nothing.
//
// spec: key_entries
func TestSaid(t *testing.T) {
	for _, c := range []struct{ text, attributes, want string }{
		{"hello", `{}`, "hello"},
		{`First <get path="a"/> then`, `{"found":[{"at":[6,21]}]}`, "First  then"},
		{"short", `{"found":[{"at":[2,99]},{"at":[3,1]}]}`, "short"},
		{"abcdef", `{"found":[{"at":[1,3]},{"at":[1,3]}]}`, "adef"}, // two calls of one list
		{`<get path="a"/> `, `{"found":[{"at":[0,15]}]}`, ""},
		{"what a tag was left of", `{"found":[{"at":[0,4]}],"narration":"said"}`, "said"},
	} {
		r, err := ReplyOf(json.RawMessage(c.attributes))
		if got := r.Said(c.text); err != nil || got != c.want {
			t.Errorf("%s %s: %q, want %q, %v", c.text, c.attributes, got, c.want, err)
		}
		if got := SaidIn(Entry{Body: c.text, Attributes: json.RawMessage(c.attributes)}); got != c.want {
			t.Errorf("of its entry %s %s: %q, want %q", c.text, c.attributes, got, c.want)
		}
	}
	if got := SaidIn(Entry{Body: "all of it", Attributes: json.RawMessage(`{`)}); got != "all of it" {
		t.Errorf("of attributes that cannot be read: %q", got)
	}
}
