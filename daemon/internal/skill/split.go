package skill

import "strings"

// splitTools splits a text of tool names at commas and white space, but not
// within parentheses: "Bash(git:*, jq:*) Read" has two.
func splitTools(text string) []string {
	var out []string
	depth, start := 0, 0
	take := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			out = append(out, s)
		}
	}
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n'):
			take(i)
			start = i + 1
		}
	}
	take(len(text))
	return out
}

// splitCommas splits a text at commas and drops what is empty.
func splitCommas(text string) []string {
	var out []string
	for s := range strings.SplitSeq(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
