package skill

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// listLine is one skill as a prompt may list it.
type listLine struct {
	document    *Document
	place       int    // among the usable ones
	name        string // escaped
	description string // on one line and clean; escaped when it is written

	bare, least, whole int // characters of the line without, with the least and with the longest description
}

// ellipsis marks a description that goes on.
const ellipsis = "…"

func newLine(d *Document, place int) listLine {
	l := listLine{document: d, place: place, name: escapeXML(oneLine(d.Name)), description: oneLine(d.Description)}
	l.bare, l.least, l.whole = l.size(0), l.size(leastDescription), l.size(maxDescription)
	return l
}

// write writes the line with a description of at most limit characters, none
// when limit is 0.
func (l listLine) write(b *strings.Builder, limit int) {
	b.WriteString("<skill><name>" + l.name + "</name>")
	if text := cut(l.description, limit); text != "" {
		b.WriteString("<description>" + escapeXML(text) + "</description>")
	}
	b.WriteString("</skill>\n")
}

// size is how many characters write writes.
func (l listLine) size(limit int) int {
	var b strings.Builder
	l.write(&b, limit)
	return utf8.RuneCountInString(b.String())
}

// oneLine makes one line of a text, each run of blanks a space, without the
// characters that a reader does not see: controls, bidirectional marks, joiners,
// tags, variation selectors. What hides in a text must not reach a prompt.
func oneLine(text string) string {
	plain := text == strings.TrimSpace(text) && !strings.Contains(text, "  ")
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= ' ' && text[i] < 0x7f
	}
	if plain { // as most are
		return text
	}
	if strings.ContainsFunc(text, hidden) || !utf8.ValidString(text) {
		text = strings.Map(func(r rune) rune {
			if hidden(r) && !unicode.IsSpace(r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(text, "\uFFFD"))
	}
	return strings.Join(strings.Fields(text), " ")
}

// hidden is sdk.Hidden without mercy: joiners go too, and what only has a meaning
// that two sides agreed on.
func hidden(r rune) bool { return sdk.Hidden(r) || unicode.In(r, unicode.Co, unicode.Cs) }

// cut shortens a text to at most limit characters, the mark of the cut among
// them: behind a word where one ends in the second half.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	if limit <= 0 {
		return ""
	}
	runes := []rune(text[:min(len(text), (limit+1)*utf8.UTFMax)])
	if len(runes) <= limit {
		return text
	}
	at := limit - 1
	for i := at; i > 0 && i >= limit/2; i-- {
		if runes[i] == ' ' {
			at = i
			break
		}
	}
	for at > 0 && unicode.IsMark(runes[at]) { // it belongs to the character before
		at--
	}
	kept := strings.TrimRight(string(runes[:at]), " ,;:.-–—(")
	return kept + ellipsis
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escapeXML(text string) string { return xmlEscapes.Replace(text) }

// list makes the lines of the skills that a prompt may list, by name. Those that
// only people may use are not among them.
func (c *Catalogue) list() (lines []listLine) {
	for place, d := range c.Usable() {
		if !d.PeopleOnly {
			lines = append(lines, newLine(d, place))
		}
	}
	return lines
}

// findLine returns where the line of a name stands.
func findLine(lines []listLine, name string) (int, bool) {
	return slices.BinarySearchFunc(lines, name, func(l listLine, name string) int { return strings.Compare(l.document.Name, name) })
}
