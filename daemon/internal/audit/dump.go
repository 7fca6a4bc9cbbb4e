package audit

import (
	"encoding/hex"
	"strings"
)

// Programs that show a file byte by byte (xxd, hexdump, od) write a secret apart:
// in words of hex or of single characters, in rows that begin with a position and
// may end with the text. What they begin with is among the patterns; from there a
// dump compares word by word, and passes over what is no byte of the secret.

// The kinds of words in a dump.
const (
	inHex     = iota // 73 65, or 7365: xxd, hexdump -C, od -tx1
	inSwapped        // 6573, two bytes the other way round: hexdump, od -x
	inChars          // s   e: od -c
)

// Limits of a dump.
const (
	longestWord = 4   // what is longer is no byte: a position, or the text
	longestGap  = 160 // bytes between two words of a secret: the text, a line break, a position
	longestRow  = 96  // bytes behind the last word of a secret, up to the end of its row
	mostDumps   = 64  // that are read at the same time
	dumpStarts  = 4   // bytes of a secret from which one may begin, for a row ends anywhere
)

// dumpStart is how the words begin of a secret that is shown apart.
type dumpStart struct {
	kind    int
	secret  string
	next    int    // the byte that the pending word begins with
	pending string // the word that the pattern ends in
}

// dump is a secret that may have begun.
type dump struct {
	dumpStart
	begin   int // in the text
	reach   int // behind the last byte that was the secret's
	word    [longestWord]byte
	size    int  // of the word; one more than longestWord is any longer one
	blanks  int  // in front of it; a row may end with two
	apart   bool // something else than blanks stands between it and the last byte
	escaped bool // behind a backslash
	wrong   bool // it is not the secret
}

// dumpForms are the beginnings of a secret in dumps.
func dumpForms(secret string) []form {
	var forms []form
	add := func(text string, s dumpStart) {
		s.secret = secret
		for _, written := range []string{text, strings.ToUpper(text)} {
			if s.kind == inChars {
				written = text
			}
			forms = append(forms, form{text: written, dump: &s})
		}
	}
	for at := range min(dumpStarts, len(secret)-3) {
		b := [4]string{}
		for i := range b {
			b[i] = hex.EncodeToString([]byte(secret[at+i : at+i+1]))
		}
		add(b[0]+" "+b[1], dumpStart{kind: inHex, next: at + 1, pending: b[1]})
		add(b[0]+b[1]+" "+b[2], dumpStart{kind: inHex, next: at + 2, pending: b[2]})
		add(b[1]+b[0]+" "+b[3]+b[2], dumpStart{kind: inSwapped, next: at + 2, pending: b[3] + b[2]})
		if c := secret[at : at+2]; !strings.ContainsAny(c, " \\") {
			add(c[:1]+"   "+c[1:], dumpStart{kind: inChars, next: at + 1, pending: c[1:]})
		}
	}
	return forms
}

// follows reports whether a dump is where another one of its secret would begin.
func (d *dump) follows(s *dumpStart) bool {
	return d.secret == s.secret && d.kind == s.kind && d.next == s.next && string(d.word[:min(d.size, longestWord)]) == s.pending
}

// begins is a dump whose first words were read, up to end.
func (s *dumpStart) begins(begin, end int) dump {
	d := dump{dumpStart: *s, begin: begin, reach: end, size: len(s.pending)}
	copy(d.word[:], s.pending)
	return d
}

func (d *dump) whole() bool { return d.next >= len(d.secret) }

// read takes the byte that follows. over says that the dump ends there: its secret
// stands before end, or nowhere when end is 0.
func (d *dump) read(c char) (end int, over bool) {
	lineEnd := c.b == '\n' || d.escaped && c.b == 'n'
	switch {
	case d.escaped:
		d.escaped, d.size = c.b == '\\', 0 // which may be escaped itself
	case c.b == ' ' || c.b == '\t' || c.b == '\n' || c.b == '\r' || c.b == '\\':
		if d.take(c.start); d.wrong {
			return 0, true
		}
		d.blanks++
		d.escaped = c.b == '\\'
		d.apart = d.apart || c.b != ' '
	case d.size < longestWord:
		d.word[d.size] = c.b
		d.size++
	default:
		d.size = longestWord + 1
	}
	switch {
	case d.whole() && lineEnd:
		return c.start, true // with the text beside the row
	case d.whole() && c.end-d.reach > longestRow:
		return d.reach, true
	case !d.whole() && c.end-d.reach > longestGap:
		return 0, true
	}
	return 0, false
}

// end takes the end of the text, at a place.
func (d *dump) end(at int) (end int) {
	d.take(at)
	if d.whole() {
		return at
	}
	return 0
}

// take ends a word, which counts when it is what comes next in the secret.
func (d *dump) take(end int) {
	word := d.word[:min(d.size, longestWord)]
	size, next := d.size, !d.apart && (d.kind == inChars || d.blanks < 2)
	if size == 0 {
		return
	}
	d.size, d.blanks, d.apart = 0, 0, true
	if d.whole() || size > longestWord {
		return
	}
	var raw [2]byte
	bytes, ok := d.bytes(word, raw[:0])
	if !ok || len(bytes) == 0 {
		return
	}
	for d.kind == inChars && !d.whole() && d.secret[d.next] == ' ' {
		d.next++ // it is shown as what stands between the words
	}
	left := d.secret[d.next:]
	n := min(len(left), len(bytes))
	if string(bytes[:n]) == left[:n] {
		d.next, d.reach, d.apart = d.next+n, end, false
		return
	}
	d.wrong = next // in the same row another byte follows
}

// bytes are those that a word stands for.
func (d *dump) bytes(word, to []byte) ([]byte, bool) {
	switch {
	case d.kind == inChars && len(word) == 3:
		return octal(word)
	case d.kind == inChars && len(word) != 1:
		return nil, false
	case d.kind == inChars:
		return append(to, word[0]), true
	}
	if len(word) != 2 && len(word) != 4 {
		return nil, false
	}
	for i := 0; i < len(word); i += 2 {
		high, low := nibble(word[i]), nibble(word[i+1])
		if high < 0 || low < 0 {
			return nil, false
		}
		to = append(to, byte(high<<4|low))
	}
	if d.kind == inSwapped && len(to) == 2 {
		to[0], to[1] = to[1], to[0]
	}
	return to, true
}

func nibble(b byte) int {
	switch {
	case '0' <= b && b <= '9':
		return int(b - '0')
	case 'a' <= b && b <= 'f':
		return int(b-'a') + 10
	case 'A' <= b && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}
