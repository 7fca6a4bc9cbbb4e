package match

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// Paths are globs that together say which paths of a folder are meant. The zero value means none; make one with
// ParsePaths.
type Paths []Glob

// ParsePaths checks globs; the error is a *PatternError of the first that cannot be used.
func ParsePaths(globs []string) (Paths, error) {
	all := make(Paths, len(globs))
	for i, text := range globs {
		var err error
		if all[i], err = ParseGlob(text); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Has tells whether a path is meant: clean, relative, with slashes.
func (p Paths) Has(at string) bool {
	return slices.ContainsFunc(p, func(g Glob) bool { return g.Match(at) })
}

// HasAll tells whether a folder is meant with all that lies in it, or ever may. It is false of some that are, where
// no single glob ends with "/**" above them.
func (p Paths) HasAll(dir string) bool {
	return slices.ContainsFunc(p, func(g Glob) bool {
		if g.pattern == "**" {
			return true
		}
		top, all := strings.CutSuffix(g.pattern, "/**")
		for at := dir; all && at != "." && at != "/"; at = path.Dir(at) {
			if (Glob{top}).Match(at) {
				return true
			}
		}
		return false
	})
}

// MayHaveBelow tells whether anything may be meant that lies in a folder; it is never false of one where something is.
func (p Paths) MayHaveBelow(dir string) bool {
	below := append(literals(dir), segment{runes: []rune{anyRunes}}, anything)
	return slices.ContainsFunc(p, func(g Glob) bool { return meet(g.segments(), below) })
}

// Overlap tells whether any path may be meant by both; it is never false where one is.
func (p Paths) Overlap(other Paths) bool {
	return slices.ContainsFunc(p, func(a Glob) bool {
		return slices.ContainsFunc(other, func(b Glob) bool { return meet(a.segments(), b.segments()) })
	})
}

// Outside is the first glob of p that may mean a path that outer does not; empty when there is none. A glob is inside
// of one that is the same, and of one that is "**" or ends with "/**" below whose folder it begins.
func (p Paths) Outside(outer Paths) string {
	for _, g := range p {
		inside := slices.ContainsFunc(outer, func(o Glob) bool {
			top, all := strings.CutSuffix(o.pattern, "/**")
			return g == o || o.pattern == "**" || all && !strings.ContainsAny(top, `*?[{\`) && (g.pattern == top || strings.HasPrefix(g.pattern, top+"/"))
		})
		if !inside {
			return g.pattern
		}
	}
	return ""
}

// segment is what one name of a path may be: its runes, of which anyRune stands for one and anyRunes for any number;
// many says that it stands for any number of names.
type segment struct {
	runes []rune
	many  bool
}

const (
	anyRune  rune = -1
	anyRunes rune = -2
)

var anything = segment{many: true}

func literals(at string) []segment {
	var all []segment
	for name := range strings.SplitSeq(at, "/") {
		all = append(all, segment{runes: folded(name)})
	}
	return all
}

// folded has one case: there are systems to which a.go and A.go are one file.
func folded(name string) []rune {
	runes := []rune(name)
	for i, r := range runes {
		runes[i] = unicode.ToLower(unicode.ToUpper(r))
	}
	return runes
}

// segments are what the glob's names may be, or more: of classes and braces it knows only that something is there.
func (g Glob) segments() []segment {
	var all []segment
	rest := g.pattern
	for more := true; more; {
		end := strings.IndexByte(rest, '/')
		if brace := strings.IndexByte(rest, '{'); brace >= 0 && (end < 0 || brace < end) || strings.ContainsAny(rest, `\[`) && end < 0 {
			return append(all, anything)
		}
		name := rest
		if more = end >= 0; more {
			name, rest = rest[:end], rest[end+1:]
		}
		switch {
		case name == "**":
			all = append(all, anything)
		case strings.ContainsAny(name, `\[`): // a slash may be in what is bracketed
			return append(all, anything)
		default:
			all = append(all, segment{runes: wild(name)})
		}
	}
	return all
}

func wild(name string) []rune {
	runes := folded(name)
	for i, r := range runes {
		switch r {
		case '*':
			runes[i] = anyRunes
		case '?':
			runes[i] = anyRune
		}
	}
	return runes
}

// meet tells whether one path may fit both.
func meet(a, b []segment) bool {
	return both(a, b, func(s segment) bool { return s.many }, func(x, y segment) bool {
		return both(x.runes, y.runes, func(r rune) bool { return r == anyRunes }, func(r, q rune) bool { return r == q || r == anyRune || q == anyRune })
	})
}

// both tells whether one sequence fits two patterns of which some parts stand for any number of things.
func both[T any](a, b []T, many func(T) bool, same func(x, y T) bool) bool {
	row := make([]bool, len(b)+1) // whether what is left of a fits what is left of b
	for i := len(a); i >= 0; i-- {
		next := slices.Clone(row)
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case i < len(a) && many(a[i]):
				row[j] = next[j] || j < len(b) && row[j+1]
			case j < len(b) && many(b[j]):
				row[j] = row[j+1] || i < len(a) && next[j]
			default:
				row[j] = i < len(a) && j < len(b) && next[j+1] && same(a[i], b[j])
			}
		}
	}
	return row[0]
}
