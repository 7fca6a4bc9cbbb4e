package sdk_test

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestStandsIn(t *testing.T) {
	for name, c := range map[string]struct {
		said, text string
		want       bool
	}{
		"whole":                       {"I live in Utrecht.", "I live in Utrecht.", true},
		"a part":                      {"Well, I live in Utrecht, you know", "I live in Utrecht", true},
		"across lines":                {"I  live\n\tin Utrecht", "I live in\nUtrecht", true},
		"not there":                   {"I live in Utrecht", "I live in Delft", false},
		"nothing":                     {"I live in Utrecht", " \n", false},
		"in nothing":                  {"", "a", false},
		"the end of a word":           {"I disagree", "agree", false},
		"the beginning of a word":     {"I am unable", "I am un", false},
		"a part, then the word":       {"I disagree; they agree", "agree", true},
		"a part of a number":          {"born in 1984", "198", false},
		"a number in marks":           {"(1984)", "1984", true},
		"Greek":                       {"στην Αθήνα", "Αθήν", false},
		"a letter with its mark":      {"cafe\u0301", "cafe", false},
		"Japanese":                    {"私はユトレヒトに住んでいます", "ユトレヒト", true},
		"Latin within Japanese":       {"私はGoが好き", "Go", true},
		"bytes that are no text":      {"\xff\xfe a", "a", true},
		"overlapping itself":          {"aa aaa aa", "aa aa", false},
		"overlapping, and then whole": {"xaa aa aa", "aa aa", true},
	} {
		if got := sdk.StandsIn(c.said, c.text); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
