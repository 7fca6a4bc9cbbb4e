package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"a", "known://a", "KNOWN://a", "://", "a://", "a b://c", "log://turn_1/bash/x", "é://x", "x\x00", "a:/b://c", strings.Repeat("a", 2049)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		canonical, scheme, err := parsePath(path)
		if err != nil {
			if sdk.OutcomeOf(err) != sdk.Validation {
				t.Fatalf("%q: outcome %s", path, sdk.OutcomeOf(err))
			}
			return
		}
		again, sameScheme, err := parsePath(canonical)
		if err != nil || again != canonical || sameScheme != scheme {
			t.Fatalf("%q becomes %q, and that becomes %q (%v)", path, canonical, again, err)
		}
		if sdk.SchemeOf(path) != scheme || sdk.SchemeOf(canonical) != scheme {
			t.Fatalf("%q: scheme %q, the nouns say %q and %q", path, scheme, sdk.SchemeOf(path), sdk.SchemeOf(canonical))
		}
		if !strings.EqualFold(path, canonical) || len(canonical) > sdk.MaxPath || canonical == "" || !utf8.ValidString(canonical) {
			t.Fatalf("%q becomes %q", path, canonical)
		}
	})
}

func FuzzMergeAttributes(f *testing.F) {
	f.Add(`{"a":1}`, `{"a":{"b":null}}`)
	f.Add(``, `{"x":"\ud800","y":1e400}`)
	f.Fuzz(func(t *testing.T, old, patch string) {
		stored, _, err := mergeAttributes(nil, []byte(old))
		if err != nil {
			return
		}
		merged, _, err := mergeAttributes(stored, []byte(patch))
		if err != nil {
			if sdk.OutcomeOf(err) != sdk.Validation {
				t.Fatalf("%s + %q: %v", stored, patch, err)
			}
			return
		}
		again, changed, err := mergeAttributes(merged, []byte(patch))
		if err != nil || string(again) != string(merged) || len(changed) != 0 {
			t.Fatalf("%s + %s = %s, and once more %s (%v)", stored, patch, merged, again, err)
		}
	})
}
