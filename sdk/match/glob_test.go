package match

import (
	"errors"
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "main.go", true},
		{"*.go", "cmd/main.go", false},
		{"**/*.go", "main.go", true},
		{"**/*.go", "a/b/c.go", true},
		{"src/**", "src/a/b", true},
		{"src/**", "src", true},
		{"src/*", "src/a/b", false},
		{"src/**/x/*.md", "src/x/a.md", true},
		{"[ab]*.go", "a.go", true},
		{"[!ab]*.go", "a.go", false},
		{"a(b)*", "a(b)c", true},
		{"src/(group)/*", "src/(group)/x", true},
		{"*.{ts,tsx}", "a.tsx", true},
		{"{a,b/{c,d}}/x", "b/d/x", true},
		{`\*.go`, "*.go", true},
		{`\*.go`, "a.go", false},
		{"?.go", "é.go", true},
		{".*", ".git", true},
		{"*", ".git", true},
	}
	for _, tt := range tests {
		g, err := ParseGlob(tt.pattern)
		if err != nil {
			t.Errorf("ParseGlob(%q): %v", tt.pattern, err)
			continue
		}
		if got := g.Match(tt.path); got != tt.want {
			t.Errorf("%q on %q: %v", tt.pattern, tt.path, got)
		}
	}
}

func TestParseGlobRefuses(t *testing.T) {
	for _, pattern := range []string{
		"", "[a", "{a,b", `a\`, strings.Repeat("a", maxGlobLength+1),
		strings.Repeat("{a,b}", 9), strings.Repeat("{a,{b,c}}", 6), "{" + strings.Repeat("a,", 300) + "}",
	} {
		_, err := ParseGlob(pattern)
		var bad *PatternError
		if !errors.As(err, &bad) || bad.Reason == "" {
			t.Errorf("ParseGlob(%.40q) gave %v", pattern, err)
		}
	}
	for _, pattern := range []string{strings.Repeat("{a,b}", 8), "{a,{b,c}}", `\{a,b\}`, "a,b"} {
		if _, err := ParseGlob(pattern); err != nil {
			t.Errorf("ParseGlob(%q): %v", pattern, err)
		}
	}
}

func TestGlobOnHostilePatterns(t *testing.T) {
	path := strings.Repeat("a/", 300) + strings.Repeat("a", 200)
	for _, pattern := range []string{
		strings.Repeat("**/", 300) + "b",
		strings.Repeat("*a", 400) + "b",
		strings.Repeat("{a,b}", 8) + strings.Repeat("*a", 300) + "b",
		"**/" + strings.Repeat("*a*", 300) + "b",
	} {
		g, err := ParseGlob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if g.Match(path) {
			t.Errorf("%.30q matched", pattern)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("**/*.{go,md}", "a/b.go")
	f.Add(`[a-z\]`, "]")
	f.Add("{{a,b},c}*", "bc")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g, err := ParseGlob(pattern)
		if err != nil {
			return
		}
		if g.String() != pattern {
			t.Fatalf("%q became %q", pattern, g)
		}
		g.Match(path)
	})
}
