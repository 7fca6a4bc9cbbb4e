package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// CallHash names one very call: the tool of one plugin with these arguments in
// this project. The order of names and the blanks between them are no
// difference. It is what PolicyRule.Exact is compared with.
func CallHash(a sdk.Action) string {
	text, err := json.Marshal(struct {
		Plugin    string `json:"plugin"`
		Tool      string `json:"tool"`
		Project   string `json:"project"`
		Arguments any    `json:"arguments"`
	}{a.Tool.Plugin, a.Tool.Name, a.Project, canonical(a.Arguments)})
	if err != nil {
		return "" // which no rule has: it was decoded a moment ago
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// canonical is a value whose encoding is the same for equal arguments. Numbers
// stay as they are written: 1 and 1.0 are two calls.
func canonical(arguments json.RawMessage) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	if len(arguments) == 0 || d.Decode(&v) != nil {
		return map[string]any{}
	}
	return v
}
