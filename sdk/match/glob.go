package match

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bothyd/bothy/sdk"
)

// The limits on a pattern. Braces multiply ("{a,b}{c,d}" stands for four
// patterns), so it is their product that is bounded and not their number.
const (
	maxGlobLength       = 1024
	maxGlobAlternatives = 256
)

// Glob is a checked path pattern: "*" and "?" stay within one name, "**" spans
// folders, "[ab]" and "{a,b}" choose. The zero value matches only the empty
// path; make one with ParseGlob.
type Glob struct {
	pattern string
}

// PatternError says why a pattern cannot be used.
type PatternError struct {
	Pattern string
	Reason  string
}

// Unwrap gives the error its code, sdk.Validation.
func (e *PatternError) Unwrap() error {
	return &sdk.Error{Outcome: sdk.Validation, Message: e.Error()}
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("the pattern %q cannot be used: %s", clip(e.Pattern, 80), e.Reason)
}

// ParseGlob checks a pattern; the error is a *PatternError.
func ParseGlob(pattern string) (Glob, error) {
	switch {
	case pattern == "":
		return Glob{}, &PatternError{pattern, "it is empty; ** matches every path"}
	case len(pattern) > maxGlobLength:
		return Glob{}, &PatternError{pattern, fmt.Sprintf("it is longer than %d bytes", maxGlobLength)}
	case !doublestar.ValidatePattern(pattern):
		return Glob{}, &PatternError{pattern, `a "[", "{" or "\" in it is not closed`}
	case alternatives(pattern) > maxGlobAlternatives:
		return Glob{}, &PatternError{pattern, fmt.Sprintf("its braces stand for more than %d patterns", maxGlobAlternatives)}
	}
	return Glob{pattern}, nil
}

// Match tells whether the whole path fits. Paths are separated by slashes and
// do not begin with one: "*.go" does not match "cmd/main.go", "**/*.go" does,
// and "src/**" matches "src" itself.
func (g Glob) Match(path string) bool {
	return doublestar.MatchUnvalidated(g.pattern, path)
}

// String returns the pattern as it was given.
func (g Glob) String() string { return g.pattern }

// HasSlash tells whether the pattern speaks of folders. A caller that filters
// by name alone (as grep --include does) asks this first.
func (g Glob) HasSlash() bool { return strings.Contains(g.pattern, "/") }

// alternatives bounds how many brace-free patterns a valid pattern stands for:
// what follows each other multiplies, what a comma separates adds up.
func alternatives(pattern string) int {
	type group struct{ sum, product int }
	stack := []group{{product: 1}}
	for i := 0; i < len(pattern); i++ {
		top := &stack[len(stack)-1]
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			stack = append(stack, group{product: 1})
		case ',':
			if len(stack) > 1 {
				top.sum, top.product = top.sum+top.product, 1
			}
		case '}':
			if len(stack) == 1 {
				continue
			}
			inner := top.sum + top.product
			stack = stack[:len(stack)-1]
			outer := &stack[len(stack)-1]
			outer.product = min(outer.product*inner, maxGlobAlternatives+1)
		}
	}
	return stack[0].product
}
