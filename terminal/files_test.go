package main

import (
	"reflect"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestMentions: what a prompt names behind an @.
func TestMentions(t *testing.T) {
	for text, want := range map[string][]sdk.Attachment{
		"nothing":                      nil,
		"me@home":                      nil,
		"@":                            nil,
		"@a.go":                        {{Path: "a.go"}},
		"see @a.go, and (@b/c.go).":    {{Path: "a.go"}, {Path: "b/c.go"}},
		"@a.go:10":                     {{Path: "a.go", From: 10, To: 10}},
		"@a.go:10-20.":                 {{Path: "a.go", From: 10, To: 20}},
		"@a.go:10-":                    {{Path: "a.go", From: 10}},
		"@a.go:x":                      {{Path: "a.go:x"}},
		"@a.go:0":                      {{Path: "a.go", From: -1, To: -1}},
		`@"my file.txt":3-4 @"b.go:1"`: {{Path: "my file.txt", From: 3, To: 4}, {Path: "b.go:1"}},
		"@a.go @a.go @a.go:1":          {{Path: "a.go"}, {Path: "a.go", From: 1, To: 1}},
		"one\n@a.go\ntwo":              {{Path: "a.go"}},
		"@a.go:99999999999999999999":   {{Path: "a.go", From: -1, To: -1}},
	} {
		if got := mentions(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}

// TestQuoted: a path is written so that it is read as that path.
func TestQuoted(t *testing.T) {
	for _, path := range []string{"a.go", "my file.txt", "odd:1", "end.", "a/b-c.go"} {
		if got := mentions("see @" + quoted(path) + " now"); len(got) != 1 || got[0] != (sdk.Attachment{Path: path}) {
			t.Errorf("%q is read as %+v", quoted(path), got)
		}
	}
}
