package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// listLines are the skills that a prompt may list, by name.
type listLines struct {
	all                 []listLine
	names, least, whole int // characters of all without, with the least and with the longest descriptions
}

// listLine is one of them.
type listLine struct {
	document    *Document
	place       int    // among the usable ones
	name        string // escaped
	description string // on one line and clean; escaped when it is written
	bare        int    // characters of the line without a description
}

// list makes the lines. Skills that only people may use are not among them.
func (c *Catalogue) list() (lines listLines) {
	for place, d := range c.Usable() {
		if d.PeopleOnly {
			continue
		}
		l := listLine{document: d, place: place, name: xmlEscapes.Replace(oneLine(d.Name)), description: oneLine(d.Description)}
		l.bare = l.size(0)
		lines.all = append(lines.all, l)
	}
	lines.names, lines.least, lines.whole = lines.size(0), lines.size(leastDescription), lines.size(maxDescription)
	return lines
}

// size is how many characters all lines have with descriptions of at most limit each.
func (lines listLines) size(limit int) (n int) {
	for _, l := range lines.all {
		n += l.size(limit)
	}
	return n
}

// write writes the line with a description of at most limit characters, none when limit is 0.
func (l listLine) write(b *strings.Builder, limit int) {
	b.WriteString("<skill><name>" + l.name + "</name>")
	if text := cut(l.description, limit); text != "" {
		b.WriteString("<description>" + xmlEscapes.Replace(text) + "</description>")
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
	text = strings.Map(func(r rune) rune {
		if hidden(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// hidden is sdk.Hidden without mercy: joiners go too, and what only has a meaning that two sides agreed on.
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
