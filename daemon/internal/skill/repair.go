package skill

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// repair rewrites a block that is no YAML, for the mistakes that people make
// who know none: a value at the top level that is plain text and holds ": ", or
// begins with what no value may begin with, is put in single quotes; tabs that
// indent become spaces; control characters go. Everything else stays as it is:
// what is quoted, folded, a list or an anchor. first is the line of the block's
// first line in its file, for the warnings that say what was done.
func repair(src []byte, first int) ([]byte, []*sdk.SkillDiagnostic) {
	r := repairing{first: first}
	lines := strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")
	for i := range lines {
		lines[i] = r.clean(lines[i], i)
		r.named = r.named || strings.HasPrefix(lines[i], "name:")
		r.described = r.described || strings.HasPrefix(lines[i], "description:")
	}
	var out []byte
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && continues(lines[i+n]) {
			n++
		}
		for n > 1 && strings.TrimSpace(lines[i+n-1]) == "" {
			n--
		}
		out = append(out, r.entry(lines[i:i+n], i)...)
		i += n
	}
	return out, r.notes
}

// repairing is one repair at work.
type repairing struct {
	first            int
	named, described bool // the top level has these fields
	notes            []*sdk.SkillDiagnostic
}

// continues reports whether a line belongs to the entry above it.
func continues(line string) bool {
	return strings.TrimSpace(line) == "" || line[0] == ' '
}

// clean takes from a line what YAML refuses wherever it stands.
func (r *repairing) clean(line string, i int) string {
	if strings.ContainsFunc(line, refused) {
		r.notes = append(r.notes, warning("repaired", r.first+i, 1, "the line has characters that YAML does not take; they were left out",
			"Remove the control characters from this line."))
		line = strings.Map(func(c rune) rune {
			if refused(c) {
				return -1
			}
			return c
		}, line)
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if strings.Contains(indent, "\t") {
		r.notes = append(r.notes, warning("repaired", r.first+i, 1, "the line is indented with tabs, which YAML does not take; they were read as two spaces each",
			"Indent with spaces."))
		line = strings.ReplaceAll(indent, "\t", "  ") + line[len(indent):]
	}
	return line
}

// refused reports whether YAML takes a character for an error.
func refused(c rune) bool {
	return c < 0x20 && c != '\t' && c != '\r' || c >= 0x7f && c < 0xa0 || c == 0xfffe || c == 0xffff
}

// entry gives the lines of one top-level entry back, quoted when they need it.
func (r *repairing) entry(lines []string, i int) []byte {
	var out bytes.Buffer
	start := valueStart(lines[0])
	if start > 0 {
		value := strings.Join(lines, "\n")[start:]
		value = strings.TrimRight(value, " \t\r\n")
		if why := needsQuotes(value); why != "" && !r.swallows(lines) {
			key := strings.TrimSpace(lines[0][:strings.Index(lines[0], ":")])
			column := utf8.RuneCountInString(lines[0][:start]) + 1
			r.notes = append(r.notes, warning("repaired", r.first+i, column,
				fmt.Sprintf("the value of %s %s, which YAML does not take; it was read as plain text", show(key), why),
				"Put the value in quotes. What was repaired gets no tools approved in advance."))
			out.WriteString(lines[0][:start])
			out.WriteString("'" + strings.ReplaceAll(value, "'", "''") + "'\n")
			return out.Bytes()
		}
	}
	for _, l := range lines {
		out.WriteString(l)
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// valueStart is where in a line the value of a top-level entry begins; 0 when
// the line is no such entry or has no value.
func valueStart(line string) int {
	if line == "" || strings.ContainsRune(" \t#-?'\"[]{},&*!|>%@`", rune(line[0])) {
		return 0
	}
	for i := 1; i < len(line)-1; i++ {
		if line[i] != ':' || line[i+1] != ' ' && line[i+1] != '\t' {
			continue
		}
		rest := strings.TrimLeft(line[i+1:], " \t")
		if strings.TrimSpace(rest) == "" {
			return 0
		}
		return len(line) - len(rest)
	}
	return 0
}

// needsQuotes says what keeps a value from being YAML as it stands; empty when
// nothing does, or when it is not plain text.
func needsQuotes(value string) string {
	several := strings.Contains(value, "\n")
	switch c := value[0]; {
	case strings.IndexByte("@`%,]}", c) >= 0:
		return fmt.Sprintf("begins with %c", c)
	case (c == '-' || c == '?' || c == '&' || c == '!') && len(value) > 1 && value[1] == ' ':
		return fmt.Sprintf("begins with %c and a space", c)
	case c == '*' && strings.ContainsAny(value, " \t"), c == '*' && strings.Contains(value[1:], "*"):
		return "begins with *"
	case (c == '"' || c == '\'') && !several && trails(value, c):
		return "has text behind its quotes"
	case (c == '[' || c == '{') && !several && trails(value, c):
		return "has text behind its bracket"
	case strings.IndexByte("\"'|>[{&*!#", c) >= 0:
		return ""
	}
	for line := range strings.SplitSeq(value, "\n") {
		line = strings.TrimRight(line, " \t\r")
		switch {
		case strings.Contains(line, ": "), strings.Contains(line, ":\t"):
			return "holds a colon and a space"
		case strings.HasSuffix(line, ":"):
			return "ends a line with a colon"
		case several && strings.Contains(line, " #"):
			return "holds a # behind a space"
		}
	}
	return ""
}

// swallows reports whether the lines below an entry's first hold the name or the
// description that the top level lacks: indented by mistake, and no text.
func (r *repairing) swallows(lines []string) bool {
	return slices.ContainsFunc(lines[1:], func(l string) bool {
		l = strings.TrimLeft(l, " ")
		return !r.named && strings.HasPrefix(l, "name: ") || !r.described && strings.HasPrefix(l, "description: ")
	})
}

// trails reports whether there is more than a comment behind the place where
// what a value opens with is closed.
func trails(value string, opening byte) bool {
	closing, depth := opening, 0
	if opening == '[' || opening == '{' {
		closing = opening + 2
	}
	for i := 1; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\' && opening == '"':
			i++
		case c == '\'' && opening == '\'' && i+1 < len(value) && value[i+1] == '\'':
			i++
		case c == opening && closing != opening:
			depth++
		case c == closing && depth > 0:
			depth--
		case c == closing:
			rest := strings.TrimLeft(value[i+1:], " \t")
			return rest != "" && rest[0] != '#'
		}
	}
	return false
}
