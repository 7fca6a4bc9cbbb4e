package match

import (
	"slices"
	"unicode/utf8"
)

// class is a set of runes in brackets.
type class struct {
	negated bool
	ranges  []runeRange
}

type runeRange struct{ from, to rune }

func (c class) has(r rune) bool {
	in := slices.ContainsFunc(c.ranges, func(x runeRange) bool { return x.from <= r && r <= x.to })
	return in != c.negated
}

// parseClass reads a class at the beginning of s, and how long it is: 0 when it does
// not close. A bracket that comes first in it stands for itself.
func parseClass(s string) (c class, size int) {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		c.negated = true
		i++
	}
	next := func() rune {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		return r
	}
	for first := i; i < len(s); {
		if s[i] == ']' && i > first {
			return c, i + 1
		}
		r := runeRange{}
		r.from = next()
		if r.to = r.from; i+1 < len(s) && s[i] == '-' && s[i+1] != ']' {
			i++
			r.to = next()
		}
		c.ranges = append(c.ranges, r)
	}
	return class{}, 0
}
