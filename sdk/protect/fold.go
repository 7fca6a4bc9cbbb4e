package protect

import (
	"strings"
	"unicode"
)

// Alike says whether some file system takes two names for the same.
func Alike(a, b string) bool { return Fold(a) == Fold(b) }

// Fold makes two names equal when some file system takes them for the same: it
// removes case, and the invisible characters that HFS+ ignores.
func Fold(path string) string {
	return strings.Map(func(r rune) rune {
		if r <= unicode.MaxASCII {
			return lower(r)
		}
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return lower(least)
	}, path)
}

// lower is the small letter of ASCII, so that a usual path is its own folding.
func lower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}
