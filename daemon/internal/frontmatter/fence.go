package frontmatter

import (
	"bytes"
	"unicode"
)

// fenced is a text in its two parts. Both are slices of it.
type fenced struct {
	block []byte // between the fences, its last line end included
	line  int    // of the opening fence
	body  []byte
}

// scanFences finds the frontmatter: from a first line of three dashes to the
// next such line. A byte order mark, empty lines before and white space behind
// the dashes do no harm. A fence is never indented, so that dashes inside a
// value end nothing; one dash is none, and neither are four.
func scanFences(text []byte) (fenced, *Diagnostic) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	begin := len(text) - len(bytes.TrimLeftFunc(text, unicode.IsSpace))
	if begin == len(text) {
		return fenced{}, Wrong("frontmatter-missing", 1, 1, "there is no frontmatter: the file is empty", helpFrontmatter)
	}
	line := 1 + bytes.Count(text[:begin], []byte("\n"))
	first, block, _ := bytes.Cut(text[bytes.LastIndexByte(text[:begin], '\n')+1:], []byte("\n"))
	if !isFence(first) {
		message := "there is no frontmatter: the file begins with its text"
		if len(bytes.Trim(bytes.TrimSpace(first), "-")) == 0 {
			message = "there is no frontmatter: a fence is exactly three dashes at the beginning of a line"
		}
		return fenced{}, Wrong("frontmatter-missing", line, 1, message, helpFrontmatter)
	}
	for rest := block; len(rest) > 0; {
		before := len(block) - len(rest)
		var l []byte
		if l, rest, _ = bytes.Cut(rest, []byte("\n")); isFence(l) {
			return fenced{block: block[:before], line: line, body: rest}, nil
		}
	}
	return fenced{}, Wrong("frontmatter-unclosed", line, 1, "the frontmatter that begins here is not closed",
		"Put a line of exactly three dashes, not indented, behind its last field.")
}

const helpFrontmatter = "Begin the file with three lines: ---, then name: and description: with their values, then --- again."

// isFence reports whether a line is three dashes and white space behind them.
func isFence(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t\r")) == 0
}
