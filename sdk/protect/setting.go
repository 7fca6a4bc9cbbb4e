package protect

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// set puts what the configuration says over a finding: what it frees is free,
// what it asks or refuses is at least that. So a list that is added can only make
// stricter what no list frees.
func (r Rules) set(parts, folded []string, found Finding) Finding {
	if found.Class > Free && slices.ContainsFunc(r.Free, func(p string) bool { return frees(p, folded) }) {
		found = Finding{}
	}
	for _, p := range r.Refuse {
		found = stricter(found, setBy(p, Refused, parts, folded))
	}
	for _, p := range r.Ask {
		found = stricter(found, setBy(p, Asked, parts, folded))
	}
	return found
}

// setBy is the finding that one pattern makes of a path.
func setBy(pattern string, class Class, parts, folded []string) Finding {
	reason := bySetting
	if class == Asked && slices.Contains(instructing, pattern) {
		reason = byTelling
	}
	if covers(pattern, folded) {
		return Finding{class, reason, path.Join(parts...), false}
	}
	if held := fixed(pattern); len(held) > len(folded) && slices.Equal(held[:len(folded)], folded) {
		return Finding{class, reason, path.Join(held...), true}
	}
	return Finding{}
}

// CheckPattern says what is wrong with a pattern of Refuse, Ask or Free.
func CheckPattern(pattern string) error {
	switch parts := patternParts(pattern); {
	case strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~"):
		return fmt.Errorf("%q is absolute; patterns are relative to a project", pattern)
	case len(parts) == 0 || slices.Contains(parts, ".."):
		return fmt.Errorf("%q names nothing in a project", pattern)
	default:
		for _, part := range parts {
			if _, err := path.Match(part, ""); err != nil {
				return fmt.Errorf("%q is no pattern: a [ or a backslash is not ended", pattern)
			}
		}
	}
	return nil
}

// covers says whether a pattern fits a path, or a folder that it lies in. A
// pattern of one name fits at any depth, a longer one from the project on.
func covers(pattern string, folded []string) bool {
	parts := patternParts(pattern)
	if len(parts) == 1 && parts[0] != "**" {
		return slices.ContainsFunc(folded, func(name string) bool { return fits(parts[0], name) })
	}
	return fitsParts(parts, folded)
}

// frees is covers for patterns that open: a star opens neither a repository nor
// what Bothy trusts; a pattern that names them does.
func frees(pattern string, folded []string) bool {
	if !covers(pattern, folded) {
		return false
	}
	named := patternParts(pattern)
	for _, own := range []string{gitFolderName, ".bothy", ".agents", "bothy.lock"} {
		if slices.Contains(folded, own) && !slices.Contains(named, own) {
			return false
		}
	}
	return true
}

// patternParts are the names of a pattern; one that ends in /** covers the same
// as without it.
func patternParts(pattern string) []string {
	parts := strings.FieldsFunc(Fold(pattern), func(r rune) bool { return r == '/' })
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "." })
	for len(parts) > 1 && parts[len(parts)-1] == "**" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

// fixed are the names of a pattern that begins at the project, when none of them
// is more than its letters.
func fixed(pattern string) []string {
	parts := patternParts(pattern)
	if len(parts) < 2 || slices.ContainsFunc(parts, func(part string) bool { return strings.ContainsAny(part, `*?[\`) }) {
		return nil
	}
	return parts
}

// fitsParts says whether the pattern fits the first names of a path. It goes back
// to the last ** only, so that its time is bounded by the product of both lengths.
func fitsParts(pattern, names []string) bool {
	p, n, star, from := 0, 0, -1, 0
	for p < len(pattern) {
		switch {
		case pattern[p] == "**":
			star, from = p, n
			p++
		case n < len(names) && fits(pattern[p], names[n]):
			p, n = p+1, n+1
		case star >= 0 && from < len(names):
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return len(names) > 0
}

func fits(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
