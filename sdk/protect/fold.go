package protect

import (
	"strings"
	"unicode"
)

// Alike says whether some file system takes two names for the same.
func Alike(a, b string) bool { return Fold(a) == Fold(b) }

// Fold makes two names equal when some file system takes them for the same: it
// removes case, and the invisible characters that HFS+ and folders of ext4 which fold
// case ignore (Default_Ignorable_Code_Point in UAX 44), and takes ligatures apart.
func Fold(path string) string {
	if strings.ContainsFunc(path, isLigature) {
		path = ligatures.Replace(path)
	}
	return strings.Map(func(r rune) rune {
		if r <= unicode.MaxASCII {
			return lower(r)
		}
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return lower(least)
	}, path)
}

// ligatures are the characters whose full case folding (CaseFolding.txt, status F) is
// letters of ASCII.
var ligatures = strings.NewReplacer("ß", "ss", "ẞ", "ss", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

func isLigature(r rune) bool { return r == 'ß' || r == 'ẞ' || 'ﬀ' <= r && r <= 'ﬆ' }

// lower is the small letter of ASCII, so that a usual path is its own folding.
func lower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}
