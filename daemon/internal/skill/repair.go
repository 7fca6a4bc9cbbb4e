package skill

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// repair rewrites a block that is no YAML, for the mistakes that people make
// who know none. An entry of the top level that is no YAML by itself is read as
// plain text: it is put in single quotes. Lines that are no entry go with the one
// above, comments of other languages and control characters go, what indents is
// made spaces. Everything else stays as it is, and so does what is opened and not
// closed: it may be half a file. first is the line of the block's first line in
// its file, for the warnings that say what was done.
func repair(src []byte, first int) ([]byte, []*sdk.SkillDiagnostic) {
	r := repairing{src: string(src), first: first}
	lines := strings.Split(strings.TrimSuffix(r.src, "\n"), "\n")
	for i := range lines {
		r.named = r.named || strings.HasPrefix(lines[i], "name: ")
		r.described = r.described || strings.HasPrefix(lines[i], "description: ")
	}
	for i := range lines {
		lines[i] = r.clean(lines[i], i)
	}
	r.outdent(lines)
	var out []byte
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && r.belongs(lines[i], lines[i+n]) {
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
	src              string
	first            int
	named, described bool // the top level has these fields
	notes            []*sdk.SkillDiagnostic
}

func (r *repairing) note(line, column int, message, help string) {
	r.notes = append(r.notes, warning("repaired", r.first+line, column, message, help))
}

// continues reports whether a line belongs to the entry above it.
func continues(line string) bool {
	return strings.TrimSpace(line) == "" || line[0] == ' ' || line == "-" || strings.HasPrefix(line, "- ")
}

// belongs is continues, and takes a line that is no entry for the next one of
// the text above it, which somebody forgot to indent.
func (r *repairing) belongs(head, line string) bool {
	return continues(line) || keyEnd(head) > 0 && keyEnd(line) == 0 && line[0] != '#' && !strings.HasPrefix(head, "name:")
}

// clean takes from a line what YAML refuses wherever it stands.
func (r *repairing) clean(line string, i int) string {
	if strings.ContainsFunc(line, refused) {
		r.note(i, 1, "the line has characters that YAML does not take; they were left out", "Remove the control characters from this line.")
		line = strings.Map(func(c rune) rune {
			if refused(c) {
				return -1
			}
			return c
		}, line)
	}
	if strings.TrimRight(line, " \t\r") == "..." {
		r.note(i, 1, "the line ends the YAML before its fence; it was left out", "Remove the line.")
		return ""
	}
	if strings.HasPrefix(line, "//") || strings.HasPrefix(line, "<!--") && strings.HasSuffix(strings.TrimSpace(line), "-->") {
		r.note(i, 1, "the line is a comment of another language; it was left out", "Begin a comment with #.")
		return ""
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t\u00a0\u3000"))]
	if strings.ContainsAny(indent, "\t\u00a0\u3000") {
		r.note(i, 1, "the line is indented with what YAML does not take, such as tabs; they were read as two spaces each", "Indent with spaces.")
		line = indents.Replace(indent) + line[len(indent):]
	}
	return r.colon(line, i)
}

var indents = strings.NewReplacer("\t", "  ", "\u3000", "  ", "\u00a0", " ")

// colon puts the colon and the space behind a name or description that has
// another.
func (r *repairing) colon(line string, i int) string {
	for field, there := range map[string]bool{"name": r.named, "description": r.described} {
		rest, ok := strings.CutPrefix(line, field)
		if !ok || there {
			continue
		}
		value, ok := strings.CutPrefix(rest, ":")
		if !ok {
			value, ok = strings.CutPrefix(rest, "\uff1a")
		}
		if text := strings.TrimLeft(value, " \t\r\u00a0\u3000"); ok && text != "" && rest[:2] != ": " && rest[:2] != ":\t" {
			r.note(i, utf8.RuneCountInString(field)+1, "there is no colon with a space behind it; one was read", "Write "+field+": and a space before the value.")
			return field + ": " + text
		}
	}
	return line
}

// outdent moves a block to the left whose lines are all indented, and the first
// one by itself.
func (r *repairing) outdent(lines []string) {
	least := -1
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			if n := len(l) - len(strings.TrimLeft(l, " ")); least < 0 || n < least {
				least = n
			}
		}
	}
	for i, l := range lines {
		lines[i] = l[min(len(l), max(least, 0)):]
	}
	first := strings.TrimLeft(lines[0], " ")
	if least > 0 || first != lines[0] {
		r.note(0, 1, "the fields do not begin in the first column; they were read as if they did", "Begin each field at the beginning of its line.")
	}
	lines[0] = first
}

// refused reports whether YAML takes a character for an error.
func refused(c rune) bool {
	return c < 0x20 && c != '\t' && c != '\r' || c >= 0x7f && c < 0xa0 || c == 0xfffe || c == 0xffff
}

// entry gives the lines of one top-level entry back, as plain text when they are
// no YAML, and as many as they were.
func (r *repairing) entry(lines []string, i int) string {
	raw := strings.Join(lines, "\n")
	end := keyEnd(lines[0])
	switch {
	case end == 0 && stray(lines[0]):
		r.note(i, 1, "the line is no field; it was left out", "Write each field as name: value, and what belongs to it indented below.")
		return strings.Repeat("\n", len(lines))
	case end > 0 && !r.isYAML(raw, end) && !r.swallows(lines):
		value := strings.TrimSpace(raw[end:])
		if value == "" || open(value) {
			break
		}
		column := utf8.RuneCountInString(raw[:end+strings.Index(raw[end:], value[:1])]) + 1
		if strings.TrimSpace(lines[0][end:]) == "" {
			column = end
		}
		r.note(i, column, fmt.Sprintf("the value of %s %s, which YAML does not take; it was read as plain text", show(strings.Trim(lines[0][:end-1], " \t\"'")), reason(value)),
			"Put the value in quotes. What was repaired gets no tools approved in advance.")
		text := strings.Join(strings.Fields(bareText(value)), " ")
		return lines[0][:end] + " '" + strings.ReplaceAll(text, "'", "''") + "'" + strings.Repeat("\n", len(lines))
	}
	return raw + "\n"
}

// stray reports whether a line of the top level is nothing that YAML has there
// between the fields of a frontmatter.
func stray(line string) bool {
	return line != "" && strings.IndexByte(" #\"'[]{}?", line[0]) < 0
}

// isYAML reports whether an entry, whose key ends at end, is YAML, given the
// anchors of the block.
func (r *repairing) isYAML(entry string, end int) bool {
	err := decodes(entry)
	if err == nil {
		return !strings.HasPrefix(strings.TrimLeft(entry[end:], " \t"), "{{")
	}
	_, anchor, ok := strings.Cut(err.Error(), "unknown anchor '")
	anchor, _, _ = strings.Cut(anchor, "'")
	return ok && strings.Contains(r.src, "&"+anchor)
}

// decodes says what keeps a text from being YAML.
func decodes(text string) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the YAML parser failed")
		}
	}()
	_, err = oneDocument([]byte(text))
	return err
}

// keyEnd is where in a line the key of a top-level entry ends, its colon
// included; 0 when the line is no such entry.
func keyEnd(line string) int {
	if line == "" || strings.IndexByte(" \t#-?[]{},&*!|>%@`", line[0]) >= 0 {
		return 0
	}
	from := 1
	if c := line[0]; c == '"' || c == '\'' {
		closing := strings.IndexByte(line[1:], c)
		if closing < 0 || !strings.HasPrefix(strings.TrimLeft(line[closing+2:], " "), ":") {
			return 0
		}
		from = closing + 2
	}
	for i := from; i < len(line); i++ {
		if line[i] == ':' && (i+1 == len(line) || strings.IndexByte(" \t\r", line[i+1]) >= 0) {
			return i + 1
		}
	}
	return 0
}

// valueStart is where in a line the value of a top-level entry begins; 0 when
// the line is no such entry or has no value.
func valueStart(line string) int {
	end := keyEnd(line)
	if end == 0 || strings.TrimSpace(line[end:]) == "" {
		return 0
	}
	return len(line) - len(strings.TrimLeft(line[end:], " \t"))
}

// reason says what keeps a value from being YAML as it stands.
func reason(value string) string {
	c := value[0]
	switch {
	case strings.IndexByte("\"'[{", c) >= 0 && trails(value):
		return "has text behind what it begins with"
	case strings.IndexByte("-?&!*|>@`%,]}[{", c) >= 0:
		return fmt.Sprintf("begins with %c", c)
	case c == '"':
		return "has a backslash before what needs none"
	case strings.Contains(value, ": "), strings.Contains(value, ":\t"):
		return "holds a colon and a space"
	case strings.HasSuffix(value, ":"), strings.Contains(value, ":\n"):
		return "ends a line with a colon"
	case strings.Contains(value, " #"):
		return "holds a # behind a space"
	}
	return "has a line that begins in the wrong place"
}

// bareText is a value without the quotes around it, or the sign of a text over
// several lines before it.
func bareText(value string) string {
	switch c := value[0]; {
	case c == '"' && closing(value) == len(value)-1:
		return strings.ReplaceAll(value[1:len(value)-1], `\"`, `"`)
	case c == '|' || c == '>':
		if rest := strings.TrimLeft(value[1:], "+-0123456789"); rest != "" && strings.IndexByte(" \t\r\n", rest[0]) >= 0 {
			return rest
		}
	}
	return value
}

// swallows reports whether the lines below an entry's first hold the name or the
// description that the top level lacks: indented by mistake, and no text.
func (r *repairing) swallows(lines []string) bool {
	return slices.ContainsFunc(lines[1:], func(l string) bool {
		l = strings.TrimLeft(l, " ")
		return !r.named && strings.HasPrefix(l, "name: ") || !r.described && strings.HasPrefix(l, "description: ")
	})
}

// open reports whether a value lacks the end of what it opens with.
func open(value string) bool {
	return strings.IndexByte("\"'[{", value[0]) >= 0 && closing(value) < 0
}

// trails reports whether there is more than a comment behind the place where
// what a value opens with is closed.
func trails(value string) bool {
	end := closing(value)
	if end < 0 {
		return false
	}
	rest := strings.TrimLeft(value[end+1:], " \t")
	return rest != "" && rest[0] != '#'
}

// closing is where a value closes the quote or bracket that it opens with, -1
// when nowhere.
func closing(value string) int {
	opening, depth := value[0], 0
	end := opening
	if opening == '[' || opening == '{' {
		end = opening + 2
	}
	for i := 1; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\' && opening == '"':
			i++
		case c == '\'' && opening == '\'' && i+1 < len(value) && value[i+1] == '\'':
			i++
		case c == opening && end != opening:
			depth++
		case c == end && depth > 0:
			depth--
		case c == end:
			return i
		}
	}
	return -1
}
