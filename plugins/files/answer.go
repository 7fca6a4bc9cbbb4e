package main

import (
	"fmt"
	"strings"
)

// answer is what an operation found or did: text for the model, and the same
// as data.
type answer struct {
	text      string
	data      any
	truncated bool // there is more than was asked to be shown
}

// withNote puts a note on a line of its own behind a text.
func withNote(text, note string) string {
	if note != "" && text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + note
}

// shownBytes bounds the text of a list of results, however long each is, so that
// one answer fits a message. The rest is counted like what is beyond the limit.
const shownBytes = 1 << 20

// plural writes "1 line" or "3 lines".
func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// sized writes a number of bytes as people read it, decimal as in the
// configuration.
func sized(n int64) string {
	switch {
	case n < 1000:
		return plural(int(n), "byte")
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// limit is how many results a call asked for, within bounds.
func limit(asked *int, usual, most int) int {
	if asked == nil {
		return usual
	}
	return max(1, min(*asked, most))
}
