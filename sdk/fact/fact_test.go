package fact

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// TestPaths: facts whose keys fold alike lie under one path, and no path is longer than verbs take or is a pattern of more.
func TestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, value := rapid.String().Draw(t, "key"), rapid.String().Draw(t, "value")
		f, err := New(key, value, About{Source: Explicit})
		if err != nil {
			if sdk.OutcomeOf(err) != sdk.Validation {
				t.Fatal(err)
			}
			return
		}
		other, err := New(" "+strings.ToUpper(f.Key)+"\t", value, About{})
		if err == nil && Fold(strings.ToUpper(f.Key)) == Fold(f.Key) && other.Path != f.Path {
			t.Errorf("%q and %q are %s and %s", f.Key, other.Key, f.Path, other.Path)
		}
		if len(f.Path) > sdk.MaxTarget || !utf8.ValidString(f.Path) || strings.ContainsAny(f.Path, "*?[]{}()!|\\ \n") || strings.ContainsFunc(f.Path, sdk.Hidden) {
			t.Errorf("the path is %q", f.Path)
		}
		w := f.Write()
		back, is := Of(sdk.Entry{Path: w.Path, Body: *w.Body, Attributes: w.Attributes})
		if !is || back.Key != f.Key || back.Value != f.Value || back.Source != f.Source {
			t.Errorf("%+v comes back as %+v", f, back)
		}
	})
}
