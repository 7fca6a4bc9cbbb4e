package skill

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// notYAML is the diagnostic of a block that is beyond repair. The parser's own
// line is of where it was when it noticed, often one off or none; so the first
// entry that is no YAML by itself is named. first is the line of the block's
// first line in its file.
func notYAML(src []byte, err error, first int) *sdk.SkillDiagnostic {
	lines := strings.Split(string(src), "\n")
	line, column := 0, 1
	if n, ok := lineOf(err); ok && n <= len(lines) {
		line = n - 1
	}
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && (continues(lines[i+n]) || lines[i+n][0] == '\t') {
			n++
		}
		alone := decodes(strings.Join(lines[i:i+n], "\n"))
		if alone != nil && !strings.Contains(alone.Error(), "unknown anchor") {
			line, err = i, alone
			if within, ok := lineOf(alone); ok && within <= n {
				line = i + within - 1
			}
			break
		}
		i += n
	}
	text := lines[line]
	if start := valueStart(text); start > 0 {
		column = utf8.RuneCountInString(text[:start]) + 1
	} else {
		column += len(text) - len(strings.TrimLeft(text, " \t"))
	}
	return wrong("yaml", first+line, column, "the frontmatter is no YAML: "+bare(err),
		"Write each field as name: value on a line of its own, with the value in quotes when it holds a colon, quotes or brackets.")
}

// lineOf is the line that an error of the parser names.
func lineOf(err error) (int, bool) {
	_, rest, ok := strings.Cut(err.Error(), "line ")
	if !ok {
		return 0, false
	}
	digits, _, _ := strings.Cut(rest, ":")
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0
}

// bare is the text of an error of the parser without its place.
func bare(err error) string {
	s := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(s, "line "); ok {
		if _, after, ok := strings.Cut(rest, ": "); ok {
			s = after
		}
	}
	return visible(s)
}
