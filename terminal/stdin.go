package main

import (
	"bytes"
	"os"
	"time"
)

// stdin is the terminal as keys and its own answers are read from it. An answer, such as that of
// its background, is given to Bubble Tea whole: where a read ends within one, Bubble Tea takes what
// it has for all of it, and the rest for keys.
type stdin struct {
	*os.File
	now   func() time.Time
	begun []byte    // of an answer whose end was not read yet
	tail  []byte    // ESC, or the two bytes that an answer or a key begins by, where the last read ended with that
	at    time.Time // of the last read
}

// longestAnswer is what an answer may have that is waited for, in bytes. One whose end never comes
// holds so many keys back at most, and none beyond Enter or Esc.
const longestAnswer = 64

// escTime is how long Bubble Tea waits for what is behind an ESC before it is a key.
const escTime = 50 * time.Millisecond

// Read implements io.Reader. It may return no byte, and no error, where all that came begins an
// answer. B has to be longer than twice longestAnswer.
func (s *stdin) Read(b []byte) (int, error) {
	n, err := s.File.Read(b[copy(b, s.begun):])
	n += len(s.begun)
	now := s.now()
	if now.Sub(s.at) >= escTime && len(s.begun) == 0 {
		s.tail = nil
	}
	s.at = now
	if err != nil {
		s.begun = nil
		return n, err
	}
	all := append(s.tail, b[:n]...)
	whole := max(len(s.tail), wholeAnswers(all))
	s.tail, n = mayBegin(all[:whole]), whole-len(s.tail)
	s.begun = all[whole:]
	return n, nil
}

// mayBegin is what may begin an answer at the end of what was read.
func mayBegin(b []byte) []byte {
	i := bytes.LastIndexByte(b, '\x1b')
	if i < 0 || len(b)-i > 2 || len(b)-i == 2 && b[i+1] != ']' && b[i+1] != 'P' {
		return nil
	}
	return bytes.Clone(b[i:])
}

// wholeAnswers is how many bytes stand before an answer that is begun and has no end yet. Answers
// are control strings (ECMA-48 5.6) that begin by ESC ] and a digit, or by ESC P and what no key
// sends behind that; they end by ESC \ or BEL.
func wholeAnswers(b []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '\x1b')
		if i < 0 {
			return len(b)
		}
		at += i
		if !beginsAnswer(b[at:]) {
			at++
			continue
		}
		end := bytes.IndexFunc(b[at+2:], func(r rune) bool { return r < ' ' })
		if end >= 0 && (b[at+2+end] != '\x1b' || at+2+end < len(b)-1) {
			at += 2 + end
			continue
		}
		if len(b)-at > longestAnswer {
			return len(b)
		}
		return at
	}
}

func beginsAnswer(b []byte) bool {
	if len(b) < 3 {
		return false
	}
	digit := b[2] >= '0' && b[2] <= '9'
	return b[1] == ']' && digit || b[1] == 'P' && (digit || bytes.IndexByte([]byte("!>+$"), b[2]) >= 0)
}
