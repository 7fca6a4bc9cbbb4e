package sdk

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// Typed are the arguments that a person means by words behind the name of a tool whose
// arguments are texts: NAME=VALUE names one, other words are those that are left, in the order of the
// schema, and the last of them has all that remains. Quotes keep blanks in a word. The error,
// with Validation, names what the tool takes.
func (t ToolSpec) Typed(text string) (json.RawMessage, error) {
	words, err := typedWords(text)
	if err != nil {
		return nil, err
	}
	return t.OfWords(words)
}

// OfWords is Typed for words that a shell has split.
func (t ToolSpec) OfWords(words []string) (json.RawMessage, error) {
	var schema struct{ Properties json.RawMessage }
	if err := json.Unmarshal(t.Parameters, &schema); err != nil {
		return nil, Errorf(Validation, "the arguments of %s cannot be typed: %w", t.Name, err)
	}
	names, _, err := members(schema.Properties)
	if err != nil {
		return nil, Errorf(Validation, "the arguments of %s cannot be typed: %w", t.Name, err)
	}
	given := map[string]string{}
	var rest []string
	for _, word := range words {
		name, value, named := strings.Cut(word, "=")
		if _, twice := given[name]; named && !twice && slices.Contains(names, name) {
			given[name] = value
			continue
		}
		rest = append(rest, word)
	}
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, is := given[name]; return is })
	for i, name := range left {
		if len(rest) == 0 {
			break
		}
		n := 1
		if i == len(left)-1 {
			n = len(rest)
		}
		given[name], rest = strings.Join(rest[:n], " "), rest[n:]
	}
	if len(rest) > 0 {
		takes := "it takes none"
		if len(names) > 0 {
			takes = "it takes " + strings.Join(names, ", ")
		}
		return nil, Errorf(Validation, "%s has no argument for %.80q: %s", t.Name, strings.Join(rest, " "), takes)
	}
	return json.Marshal(given)
}

// typedWords are the words of a text. Blanks between quotes are part of a word; a quote within a
// word is a character.
func typedWords(text string) (words []string, err error) {
	var word strings.Builder
	quote, began := rune(0), false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case unicode.IsSpace(r):
			if began {
				words = append(words, word.String())
				word.Reset()
				began = false
			}
		case (r == '"' || r == '\'') && (!began || strings.HasSuffix(word.String(), "=")):
			quote, began = r, true
		default:
			word.WriteRune(r)
			began = true
		}
	}
	if quote != 0 {
		return nil, Errorf(Validation, "a quote %c has no end", quote)
	}
	if began {
		words = append(words, word.String())
	}
	return words, nil
}
