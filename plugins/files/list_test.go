package main

import (
	"strings"
	"testing"
)

// TestNamesThatDoNotShowAsThemselves are quoted wherever a tool tells of them, so
// that none turns the text behind it or forges a line.
func TestNamesThatDoNotShowAsThemselves(t *testing.T) {
	for name, want := range map[string]string{
		"plain":               "plain",
		"käse 😀":              "käse 😀",
		"fam\U0001f468\u200d": "fam\U0001f468\u200d", // a joiner, which emoji need
		"a\u202egpj.exe":      `"a\u202egpj.exe"`,
		"a\u2066b":            `"a\u2066b"`,
		"a\u2028b":            `"a\u2028b"`,
		"\ufeffa":             `"\ufeffa"`,
		"a\nb  1 byte":        `"a\nb  1 byte"`,
		"a\xffb":              `"a\xffb"`,
	} {
		if got := shown(name); got != want {
			t.Errorf("%q is shown as %s, want %s", name, got, want)
		}
	}
	tp := newProject(t, map[string]string{"a\u202egpj.exe": ""})
	got, err := tp.list(t.Context(), listArgs{})
	if err != nil || strings.Contains(got.text, "\u202e") || !strings.Contains(got.text, `"a\u202egpj.exe"  0 bytes`) {
		t.Errorf("listed as %q %v", got.text, err)
	}
}
