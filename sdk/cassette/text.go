package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Text is what a user's message must be. Its JSON is the text, or a rule as that of a result.
type Text struct{ Rule }

// Says is a user's message that must be a text.
func Says(text string) *Text { return &Text{Rule{Exact: &text}} }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(raw []byte) error {
	t.Rule = Rule{}
	if raw[0] == '"' {
		return json.Unmarshal(raw, &t.Exact)
	}
	if raw[0] != '{' {
		return errors.New("a user's text is a string or a rule")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(&t.Rule)
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	var v any = t.Rule
	if t.Exact != nil && t.Recorded == nil {
		v = *t.Exact
	}
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
