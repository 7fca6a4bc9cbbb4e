package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxDepth is how many levels of JSON may lie in each other.
const maxDepth = 64

// strict refuses what decoders would silently repair: text that is no JSON value,
// a name that stands twice in an object, and nesting without end.
func strict(text []byte) error {
	if err := scan(text); err != nil || json.Valid(text) {
		return err
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&json.RawMessage{}); err != nil {
		return fmt.Errorf("they are no JSON: %w", err)
	}
	return errors.New("there is more behind the JSON value")
}

// scan looks for nesting and for names that stand twice, in text that need not be
// JSON.
func scan(text []byte) error {
	var open []map[string]bool // the names of each object that is not closed yet; nil for a list
	isName := false            // the next text is a name
	for n := 0; n < len(text); n++ {
		switch text[n] {
		case '{', '[':
			if len(open) == maxDepth {
				return fmt.Errorf("they are nested deeper than %d levels", maxDepth)
			}
			var names map[string]bool
			if isName = text[n] == '{'; isName {
				names = map[string]bool{}
			}
			open = append(open, names)
		case '}', ']':
			open, isName = open[:max(0, len(open)-1)], false
		case ',':
			isName = len(open) > 0 && open[len(open)-1] != nil
		case '"':
			end := endOfText(text, n)
			if isName {
				name := decoded(text[n:end])
				if open[len(open)-1][name] {
					return fmt.Errorf("%q is given twice", name)
				}
				open[len(open)-1][name], isName = true, false
			}
			n = end - 1
		}
	}
	return nil
}

// endOfText is where the text that begins at n has ended.
func endOfText(b []byte, n int) int {
	for n++; n < len(b) && b[n] != '"'; n++ {
		if b[n] == '\\' {
			n++
		}
	}
	return min(n+1, len(b))
}

// decoded is a JSON text without its quotes and escapes.
func decoded(text []byte) (s string) {
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return string(text[1:max(1, len(text)-1)])
	}
	_ = json.Unmarshal(text, &s) // what is no JSON text is refused later
	return s
}
