package match

import (
	"fmt"
	"slices"
	"strings"
)

// wildcard is a glob as models write it. Braces are written out, so that each form
// is a row of parts. A path is data: what does not close, or has no comma, bracket or
// brace of its own kind beside it, stands for itself, so that none is a mistake.
type wildcard struct {
	negated bool // !*.go: all but what the forms fit
	forms   [][]part
}

// part is one piece of a form; Kind says which of the others counts.
type part struct {
	kind partKind
	text string
	set  class
	not  [][]part
}

type partKind byte

const (
	partText    partKind = iota
	partOne              // ?
	partRun              // *
	partSet              // [ab]
	partNot              // !(a|b): a run that none of them fits
	partFolders          // **/: nothing, or folders
	partBelow            // /** at the end: nothing, or what lies below
	partAll              // **
)

// parseWildcard reads a glob; only braces that stand for too many forms are refused.
func parseWildcard(pattern string) (w wildcard, reason string) {
	rest, negated := strings.CutPrefix(pattern, "!")
	if negated = negated && !strings.HasPrefix(rest, "("); !negated {
		rest = pattern
	}
	forms, ok := writeOut(rest)
	if !ok {
		return w, fmt.Sprintf("its braces stand for more than %d patterns", maxGlobAlternatives)
	}
	w.negated = negated
	for _, form := range forms {
		w.forms = append(w.forms, parseForm(form))
	}
	return w, ""
}

// writeOut gives the forms that braces stand for; not ok when there are too many.
// It takes the first brace that has a comma, writes it out, and begins again.
func writeOut(pattern string) (forms []string, ok bool) {
	forms = []string{pattern}
	for at := 0; at < len(forms); {
		head, choices, tail, found := firstBrace(forms[at])
		if !found {
			at++
			continue
		}
		if len(forms)-1+len(choices) > maxGlobAlternatives {
			return nil, false
		}
		for i, choice := range choices {
			choices[i] = head + choice + tail
		}
		forms = slices.Replace(forms, at, at+1, choices...)
	}
	return forms, true
}

// firstBrace finds the first brace that closes and has a comma of its own.
func firstBrace(s string) (head string, choices []string, tail string, found bool) {
	type open struct {
		at     int
		commas []int
	}
	var stack []open
	best := open{at: -1}
	end := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			stack = append(stack, open{at: i})
		case ',':
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				top.commas = append(top.commas, i)
			}
		case '}':
			if len(stack) == 0 {
				continue
			}
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if len(top.commas) > 0 && (best.at < 0 || top.at < best.at) {
				best, end = top, i
			}
		}
	}
	if best.at < 0 {
		return "", nil, "", false
	}
	from := best.at + 1
	for _, comma := range append(best.commas, end) {
		choices = append(choices, s[from:comma])
		from = comma + 1
	}
	return s[:best.at], choices, s[end+1:], true
}

// parseForm reads a pattern without braces, segment by segment.
func parseForm(s string) (parts []part) {
	for {
		segment, rest, more := cutSegment(s)
		switch {
		case segment == "**" && more:
			parts = append(parts, part{kind: partFolders})
		case segment == "**":
			parts = endTree(parts)
		default:
			parts = appendParts(parts, segment, isWild(segment))
			if more {
				parts = appendText(parts, "/")
			}
		}
		if !more {
			return parts
		}
		s = rest
	}
}

// cutSegment cuts at the first slash that no backslash stands before.
func cutSegment(s string) (segment, rest string, more bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '/':
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// endTree adds a last "**", which is also the folder itself: src/** has src.
func endTree(parts []part) []part {
	last := len(parts) - 1
	if last < 0 || parts[last].kind != partText || !strings.HasSuffix(parts[last].text, "/") {
		return append(parts, part{kind: partAll})
	}
	if parts[last].text = strings.TrimSuffix(parts[last].text, "/"); parts[last].text == "" {
		parts = parts[:last]
	}
	return append(parts, part{kind: partBelow})
}

// isWild tells whether brackets of a segment are classes: something outside of them
// must show that a pattern is meant.
func isWild(segment string) bool {
	for i := 0; i < len(segment); i++ {
		switch segment[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '!':
			if _, size := parseNot(segment[i:]); size > 0 {
				return true
			}
		case '[':
			if _, size := parseClass(segment[i:]); size > 0 {
				i += size - 1
			}
		}
	}
	return false
}

// appendParts reads a piece of one segment.
func appendParts(parts []part, s string, wild bool) []part {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			parts = appendText(parts, s[i+1:i+2])
			i += 2
			continue
		case c == '?':
			parts = append(parts, part{kind: partOne})
		case c == '*':
			if len(parts) == 0 || parts[len(parts)-1].kind != partRun {
				parts = append(parts, part{kind: partRun})
			}
		case c == '!':
			choices, size := parseNot(s[i:])
			if size == 0 {
				parts = appendText(parts, "!")
				break
			}
			not := part{kind: partNot}
			for _, choice := range choices {
				not.not = append(not.not, appendParts(nil, choice, true))
			}
			parts = append(parts, not)
			i += size
			continue
		case c == '[' && wild:
			if set, size := parseClass(s[i:]); size > 0 {
				parts = append(parts, part{kind: partSet, set: set})
				i += size
				continue
			}
			parts = appendText(parts, "[")
		default:
			parts = appendText(parts, s[i:i+1])
		}
		i++
	}
	return parts
}

// appendText adds text to the last part, if that is text, else as a new one.
func appendText(parts []part, text string) []part {
	if last := len(parts) - 1; last >= 0 && parts[last].kind == partText {
		parts[last].text += text
		return parts
	}
	return append(parts, part{kind: partText, text: text})
}

// parseNot reads the choices of !(a|b) at the beginning of s, and how long it is: 0
// when it does not close.
func parseNot(s string) (choices []string, size int) {
	if !strings.HasPrefix(s, "!(") {
		return nil, 0
	}
	depth, from := 0, 2
	for i := 2; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case '|':
			if depth == 0 {
				choices, from = append(choices, s[from:i]), i+1
			}
		case ')':
			if depth == 0 {
				return append(choices, s[from:i]), i + 1
			}
			depth--
		}
	}
	return nil, 0
}

// prefix is text with which all begins that fits.
func (w wildcard) prefix() string {
	if w.negated || len(w.forms) == 0 {
		return ""
	}
	text := ""
	for i, form := range w.forms {
		if len(form) == 0 || form[0].kind != partText {
			return ""
		}
		if i == 0 {
			text = form[0].text
		}
		text = commonPrefix(text, form[0].text)
	}
	return text
}
