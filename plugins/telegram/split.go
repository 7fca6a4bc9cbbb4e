package main

import (
	"math"
	"strings"
	"unicode/utf8"
)

const (
	mostUnits    = 4096 // of a message, as Telegram counts
	mostEntities = 100  // of a message: those behind are not shown
	mostMessages = 4    // of an answer: a longer one is a document
	mostCaption  = 1024 // units, of a document

	// mostMarkdown is how long a text may be that is read as Markdown, in bytes: hostile ones take a time that grows with
	// the square of that. Whatever is longer takes more than mostMessages.
	mostMarkdown = 64 << 10
)

// messages are the messages in which Telegram takes a Markdown text: split between blocks, and within one only where it
// is longer than a message.
func messages(markdown string) (all []styled) {
	if len(markdown) > mostMarkdown {
		return plain(markdown)
	}
	markdown = valid(markdown)
	var m styled
	for _, b := range blocks(markdown) {
		for _, piece := range b.cut(mostUnits) {
			joined := m.add(piece)
			if m.Text != "" && (units(joined.Text) > mostUnits || len(joined.Entities) > mostEntities) {
				all = append(all, m)
				joined = piece
			}
			m = joined
		}
	}
	if m.Text != "" {
		all = append(all, m)
	}
	if len(all) == 0 && strings.TrimSpace(markdown) != "" { // nothing but what Markdown does not show
		all = plain(markdown)
	}
	return all
}

// plain are the messages of a text as it is.
func plain(text string) []styled { return trimmed(styled{Text: valid(text)}).cut(mostUnits) }

// valid is a text without bytes that are none. It comes before anything is counted.
func valid(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }

// add is the text with another block below it.
func (s styled) add(b styled) styled {
	if s.Text == "" {
		return b
	}
	at := units(s.Text) + 2
	sum := styled{Text: s.Text + "\n\n" + b.Text, Entities: append([]entity{}, s.Entities...)}
	for _, e := range b.Entities {
		e.Offset += at
		sum.Entities = append(sum.Entities, e)
	}
	return sum
}

// cut divides a text into pieces of at most so many units: at the end of a line where there is one in the second half,
// else between words, else between characters.
func (s styled) cut(most int) (pieces []styled) {
	for {
		end := fits(s.Text, most)
		if end == len(s.Text) {
			break
		}
		for _, border := range []string{"\n", " "} {
			if i := strings.LastIndex(s.Text[:end], border); i > end/2 {
				end = i + 1
				break
			}
		}
		if p := trimmed(s.slice(0, end)); p.Text != "" {
			pieces = append(pieces, p)
		}
		s = s.slice(end, len(s.Text))
	}
	if s = trimmed(s); s.Text != "" {
		pieces = append(pieces, s)
	}
	return pieces
}

// fits is how many bytes of a text are at most so many units.
func fits(text string, most int) int {
	n := 0
	for i, r := range text {
		if n += units(string(r)); n > most {
			return i
		}
	}
	return len(text)
}

// slice is a part of the text, by bytes, with what is left of its entities.
func (s styled) slice(from, to int) styled {
	begin := units(s.Text[:from])
	end := math.MaxInt // what is behind is not looked at
	if to < len(s.Text) {
		end = begin + units(s.Text[from:to])
	}
	part := styled{Text: s.Text[from:to]}
	for _, e := range s.Entities {
		first, last := max(e.Offset, begin), min(e.Offset+e.Length, end)
		if first < last {
			e.Offset, e.Length = first-begin, last-first
			part.Entities = append(part.Entities, e)
		}
	}
	return part
}

// trimmed is the text without blank lines before it and blank space behind it, of which Telegram keeps nothing either.
// The first line keeps its indent.
func trimmed(s styled) styled {
	to := len(strings.TrimRight(s.Text, " \t\r\n"))
	from := 0
	for {
		line := strings.IndexByte(s.Text[from:to], '\n')
		if line < 0 || strings.TrimSpace(s.Text[from:from+line]) != "" {
			return s.slice(from, to)
		}
		from += line + 1
	}
}
