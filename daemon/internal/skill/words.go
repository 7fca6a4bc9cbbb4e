package skill

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// splitter takes text apart into the terms by which skills are found. It keeps
// its buffers: one splitter, many texts, one goroutine.
type splitter struct {
	word  []rune // as written
	lower []byte
}

// each calls yield with every term of a text: the stem, and the word in lower
// case that it comes from. Both are buffers, gone when yield returns. A word in
// camel case is a term as a whole and in its parts; scripts that put no space
// between words are taken by pairs of characters.
func (s *splitter) each(text string, yield func(term, word []byte)) {
	if !norm.NFKC.IsNormalString(text) {
		text = norm.NFKC.String(text)
	}
	var before rune // the character before, when it belongs to a run of such a script
	alone := false  // and nothing was yielded for it
	endRun := func() {
		if alone {
			s.yield([]rune{before}, yield)
		}
		before, alone = 0, false
	}
	for i, r := range text {
		switch {
		case unspaced(r):
			s.end(yield)
			if before != 0 {
				s.yield([]rune{before, r}, yield)
			}
			alone = before == 0
			before = r
			continue
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r) && len(s.word) > 0:
			s.word = append(s.word, r)
		case (r == '\'' || r == '’') && letterFollows(text[i+utf8.RuneLen(r):]):
			// don't is one word, and skill's is skills
		default:
			s.end(yield)
		}
		endRun()
	}
	s.end(yield)
	endRun()
}

func letterFollows(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r)
}

// unspaced reports whether a character is of a script that is written without
// spaces, or whose words take endings that no rule here knows.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

// end yields the word that was collected.
func (s *splitter) end(yield func(term, word []byte)) {
	if len(s.word) == 0 {
		return
	}
	word := s.word
	s.word = s.word[:0]
	s.yield(word, yield)
	from := 0
	for i := 1; i < len(word); i++ {
		if humpAt(word, i) {
			s.yield(word[from:i], yield)
			from = i
		}
	}
	if from > 0 {
		s.yield(word[from:], yield)
	}
}

// humpAt reports whether a part of a camelCase word begins at i, as in gitHub
// and in HTTPServer.
func humpAt(word []rune, i int) bool {
	if !unicode.IsUpper(word[i]) {
		return false
	}
	return unicode.IsLower(word[i-1]) || unicode.IsUpper(word[i-1]) && i+1 < len(word) && unicode.IsLower(word[i+1])
}

func (s *splitter) yield(word []rune, yield func(term, word []byte)) {
	s.lower = s.lower[:0]
	for _, r := range word {
		s.lower = utf8.AppendRune(s.lower, unicode.ToLower(r))
	}
	yield(stem(s.lower), s.lower)
}

// stem cuts the endings off an English word that make one of it: review,
// reviews, reviewing and reviewed are one term, and so are query and queries.
// It only cuts, never rewrites, and leaves at least three letters.
func stem(w []byte) []byte {
	for _, c := range w {
		if c < 'a' || c > 'z' {
			return w
		}
	}
	w = withoutPlural(w)
	switch {
	case ends(w, "ing") && syllable(w[:len(w)-3]):
		w = undoubled(w[:len(w)-3])
	case ends(w, "ed") && !ends(w, "eed") && syllable(w[:len(w)-2]):
		w = undoubled(w[:len(w)-2])
	}
	if len(w) > 3 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	if n := len(w); n > 3 && (w[n-1] == 'y' || w[n-1] == 'i') && !vowel(w[n-2]) {
		w = w[:n-1]
	}
	return w
}

func withoutPlural(w []byte) []byte {
	n := len(w)
	switch {
	case n < 4 || w[n-1] != 's':
		return w
	case n > 5 && ends(w, "ies"):
		return w[:n-3]
	case n > 4 && (ends(w, "sses") || ends(w, "xes") || ends(w, "ches") || ends(w, "shes")):
		return w[:n-2]
	case ends(w, "ss"), ends(w, "us"), ends(w, "is"):
		return w
	default:
		return w[:n-1]
	}
}

// undoubled makes run of runn, and leaves fill and pass.
func undoubled(w []byte) []byte {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !vowel(w[n-1]) && w[n-1] != 'l' && w[n-1] != 's' && w[n-1] != 'z' {
		return w[:n-1]
	}
	return w
}

// syllable reports whether a word can be what an ending was put behind.
func syllable(w []byte) bool {
	if len(w) < 3 {
		return false
	}
	for _, c := range w {
		if vowel(c) || c == 'y' {
			return true
		}
	}
	return false
}

func ends(w []byte, with string) bool {
	return len(w) >= len(with) && string(w[len(w)-len(with):]) == with
}

func vowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	}
	return false
}
