package show

import (
	"strings"
	"unicode/utf8"
)

// Fold breaks a line at spaces into pieces of at most width characters. A word
// that is longer stays whole, and so does the line when width is not positive.
func Fold(line string, width int) []string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	lead := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	var pieces []string
	piece := lead
	used := utf8.RuneCountInString(lead)
	words := 0
	for _, word := range strings.Split(line[len(lead):], " ") {
		n := utf8.RuneCountInString(word)
		if words > 0 && used+1+n > width {
			pieces = append(pieces, strings.TrimRight(piece, " "))
			piece, used, words = lead, utf8.RuneCountInString(lead), 0
		}
		if words > 0 {
			piece, used = piece+" ", used+1
		}
		piece, used, words = piece+word, used+n, words+1
	}
	return append(pieces, strings.TrimRight(piece, " "))
}
