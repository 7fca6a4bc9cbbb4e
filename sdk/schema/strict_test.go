package schema

import (
	"strings"
	"testing"
)

// TestStrict: what a decoder would mend in silence is refused.
func TestStrict(t *testing.T) {
	for text, want := range map[string]string{ // empty is taken
		`0`:                                   "",
		" [1, {\"\": null}]\n":                "",
		`{"a":{"a":1},"b":[{"a":1},{"a":1}]}`: "",
		`"\ud800"`:                            "",
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth):     "",
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1): "nested deeper than 64 levels",
		`{"":1,"":2}`:           `"" is given twice`,
		`{"a":[{"b":1,"b":1}]}`: `"b" is given twice`,
		`{"a":1}{"a":1}`:        "there is more behind the JSON value",
		`1 2`:                   "there is more behind the JSON value",
		``:                      "they are no JSON",
		`{"a":1,}`:              "they are no JSON",
		`{'a':1}`:               "they are no JSON",
		`{"a":01}`:              "they are no JSON",
		`NaN`:                   "they are no JSON",
		"\ufeff{}":              "they are no JSON",
		"{\"a\":\"\n\"}":        "they are no JSON",
	} {
		err := strict([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}
