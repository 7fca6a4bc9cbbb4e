package show

import "strings"

// Fold breaks a line at spaces into pieces of at most width columns. A word
// that is longer stays whole, and so does the line when width is not positive.
func Fold(line string, width int) []string {
	if width <= 0 || Width(line) <= width {
		return []string{line}
	}
	lead := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	var pieces []string
	piece := lead
	used := Width(lead)
	words := 0
	for _, word := range strings.Split(line[len(lead):], " ") {
		n := Width(word)
		if words > 0 && used+1+n > width {
			pieces = append(pieces, strings.TrimRight(piece, " "))
			piece, used, words = lead, Width(lead), 0
		}
		if words > 0 {
			piece, used = piece+" ", used+1
		}
		piece, used, words = piece+word, used+n, words+1
	}
	return append(pieces, strings.TrimRight(piece, " "))
}
