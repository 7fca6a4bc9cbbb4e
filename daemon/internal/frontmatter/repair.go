package frontmatter

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// repair rewrites a block that is no YAML, for the mistakes that people make who
// know none: a text that holds a colon, begins with a sign such as @ or goes on
// where a field should begin, and tabs. A value of the top level that is no YAML by
// itself is read with spaces for tabs where that makes it YAML, and is put in single
// quotes otherwise. What is opened and not closed stays as it is, for it may be half
// a file, and so does everything else. first is the line of the block's first line
// in its file, for the warnings that say what was done.
func repair(src []byte, first int) (fixed []byte, notes []*Diagnostic) {
	for _, b := range blocks(src) {
		end := keyEnd(b.text)
		value := strings.TrimSpace(b.text[end:])
		note := func(at int, what, help string) {
			line, column := PlaceOf([]byte(b.text), at)
			notes = append(notes, Warning("repaired", first+b.line+line-1, column, fmt.Sprintf("the value of %s %s", Show(strings.Trim(b.text[:end-1], " \t\"'")), what),
				help))
		}
		spaced := tabIndent.ReplaceAllStringFunc(b.text, func(indent string) string { return strings.ReplaceAll(indent, "\t", "  ") })
		switch {
		case end == 0 || value == "" || isYAML(b.text, src):
		case spaced != b.text && isYAML(spaced, src):
			note(tabIndent.FindStringIndex(b.text)[0], "is indented with tabs, which YAML does not take; they were read as two spaces each", "Indent it with spaces.")
			b.text = spaced
		case !unfinished.MatchString(value) && !swallows.MatchString(b.text):
			text, escapes := quoted(value)
			what, help := reason(value), "Put the value in quotes."
			if escapes {
				what, help = "holds a backslash that stands for itself within double quotes", "Put the value in single quotes."
			}
			note(end+strings.Index(b.text[end:], value[:1]), what+", which YAML does not take; it was read as plain text", help)
			text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "'", "''")
			b.text = b.text[:end] + " '" + text + "'" + strings.Repeat("\n", strings.Count(b.text, "\n"))
		}
		fixed = append(fixed, b.text...)
	}
	return fixed, notes
}

var (
	tabIndent   = regexp.MustCompile(`(?m)^ *\t[ \t]*`)
	fieldKey    = regexp.MustCompile("^[^ \t\r\n#?\\[\\]{},&*!|>%@`-][^\n]*?:(?:[ \t\r\n]|$)")
	unfinished  = regexp.MustCompile(`^(?:"[^"]*|'[^']*|\[[^\]]*|\{[^}]*|[|>][|>+\-0-9 \r]*\n(?s:.*))$`) // it lacks the end of what it opens with, or is a text over several lines
	parserPlace = regexp.MustCompile(`^(?:yaml: )?(?:line \d+: )?`)
	swallows    = regexp.MustCompile(`(?m)^[ \t]+(?:name|description): `) // what is indented by mistake is no text
)

// quoted is the text of a value that one pair of double quotes encloses, and whether
// backslashes in it are what keeps it from being YAML; else it is the value.
func quoted(value string) (text string, escapes bool) {
	inner, ok := strings.CutSuffix(strings.TrimPrefix(value, `"`), `"`)
	if value[0] != '"' || !ok || !strings.Contains(value, `\`) || strings.Count(inner, `"`) != strings.Count(inner, `\"`) {
		return value, false
	}
	return strings.ReplaceAll(inner, `\"`, `"`), true
}

// block is a field of the top level with all the lines that belong to it. To a
// description belong also lines that begin like text and not like a field.
type block struct {
	line int // of the first one, from 0
	text string
}

func blocks(src []byte) (list []block) {
	line := 0
	for l := range strings.Lines(string(src)) {
		last := len(list) - 1
		if last >= 0 && (strings.TrimSpace(l) == "" || l[0] == ' ' || l[0] == '\t' || strings.HasPrefix(l, "- ") ||
			strings.HasPrefix(list[last].text, "description:") && goesOn(l)) {
			list[last].text += l
		} else {
			list = append(list, block{line, l})
		}
		line++
	}
	return list
}

// goesOn reports whether a line is text that nobody would take for a field, also not
// for one that lacks the space behind its colon.
func goesOn(line string) bool {
	c, _ := utf8.DecodeRuneInString(line)
	word, _, _ := strings.Cut(line, " ")
	return (unicode.IsLetter(c) || unicode.IsDigit(c) || c == '(') && keyEnd(line) == 0 && !strings.Contains(word, ":")
}

// keyEnd is where in a field its key ends, the colon included; 0 when it is none.
func keyEnd(text string) int { return len(strings.TrimRight(fieldKey.FindString(text), " \t\r\n")) }

// isYAML reports whether a field is YAML by itself, given the anchors of the
// block.
func isYAML(entry string, src []byte) bool {
	_, err := oneDocument([]byte(entry))
	if err == nil {
		return true
	}
	_, anchor, ok := strings.Cut(err.Error(), "unknown anchor '")
	anchor, _, _ = strings.Cut(anchor, "'")
	return ok && strings.Contains(string(src), "&"+anchor)
}

// reason says what keeps a value from being YAML as it stands.
func reason(value string) string {
	switch {
	case strings.IndexByte("\"'[{", value[0]) >= 0:
		return "has text behind what it begins with"
	case strings.IndexByte("-?&!*@`%,]}|>", value[0]) >= 0:
		return fmt.Sprintf("begins with %c", value[0])
	case strings.Contains(value, ": "), strings.Contains(value, ":\t"):
		return "holds a colon and a space"
	}
	return "has a colon or a line in a wrong place"
}

// notYAML is the diagnostic of a block that is beyond repair. The parser's own
// line is of where it was when it noticed, often one off or none; so the first
// field that is no YAML by itself is named. first is the line of the block's first
// line in its file.
func notYAML(src []byte, err error, first int) *Diagnostic {
	line, _ := lineOf(err)
	for _, b := range blocks(src) {
		if _, alone := oneDocument([]byte(b.text)); alone != nil && !isYAML(b.text, src) {
			line, err = b.line+1, alone
			if within, ok := lineOf(alone); ok && within <= strings.Count(b.text, "\n") {
				line = b.line + within
			}
			break
		}
	}
	lines := strings.Split(string(src), "\n")
	text := lines[min(max(line, 1), len(lines))-1]
	column := 1 + len(text) - len(strings.TrimLeft(text, " \t"))
	if end := keyEnd(text); end > 0 && strings.TrimSpace(text[end:]) != "" {
		column = 1 + utf8.RuneCountInString(text[:len(text)-len(strings.TrimLeft(text[end:], " \t"))])
	}
	return Wrong("yaml", first+max(line, 1)-1, column, "the frontmatter is no YAML: "+Visible(parserPlace.ReplaceAllString(err.Error(), "")),
		"Write each field as name: value on a line of its own, with the value in quotes when it holds a colon, quotes or brackets.")
}

// lineOf is the line that an error of the parser names.
func lineOf(err error) (int, bool) {
	_, rest, _ := strings.Cut(err.Error(), "line ")
	digits, _, _ := strings.Cut(rest, ":")
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0
}
