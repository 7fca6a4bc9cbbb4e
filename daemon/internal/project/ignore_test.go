package project

import (
	"strings"
	"testing"
)

// TestGitignoreTakesItsTime: patterns whose stars multiply fit a deep path at once, and mean what they mean.
func TestGitignoreTakesItsTime(t *testing.T) {
	deep := strings.Split(strings.Repeat("a/", 500)+"c", "/")
	pattern := strings.Split(strings.Repeat("**/a/", 100)+"**/b", "/")
	if fits(pattern, deep) {
		t.Error("it does not end in b")
	}
	for _, c := range []struct {
		pattern, at string
		want        bool
	}{
		{"**/a", "a", true}, {"**/a", "x/y/a", true}, {"**/a", "a/x", false}, {"a/**", "a", false}, {"a/**", "a/x/y", true}, {"a/**/b", "a/b", true}, {"a/**/b", "a/x/y/b", true},
		{"a/**/b", "a/x", false}, {"**", "a", true}, {"**/a/**", "x/a/y", true}, {"**/a/**", "a", false}, {"a/**/b/**", "a/x/b/y", true}, {"a/**/b/**", "a/b", false},
		{"*", "a", true}, {"*", "a/b", false}, {"a/**/**", "a/x", true}, {"a/**/**", "a", false}, {"**/**/a", "a", true}, {"x*/y", "xx/y", true},
	} {
		if got := fits(strings.Split(c.pattern, "/"), strings.Split(c.at, "/")); got != c.want {
			t.Errorf("%s and %s: %v", c.pattern, c.at, got)
		}
	}
}
