package main

import (
	"bytes"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// stdin is the terminal as keys and its own answers are read from it. Where what was read ends
// within an answer, such as that of its background, the rest is waited for: Bubble Tea takes an
// answer whose end was cut in two for whole, and the other half for a key.
type stdin struct {
	*os.File
	more func(*os.File, time.Duration) bool // waits until more can be read; false where none came
	now  func() time.Time
}

// How long more is waited for. Bubble Tea itself waits 50 ms for what is behind an ESC, and
// gives its reader 500 ms to end.
const (
	escTime    = 20 * time.Millisecond  // where an answer may begin, or a key
	answerTime = 300 * time.Millisecond // where an answer has begun; a read waits no longer in all
)

// Read implements io.Reader.
func (s *stdin) Read(b []byte) (int, error) {
	n, err := s.File.Read(b)
	for until := s.now().Add(answerTime); err == nil && n < len(b); {
		if wait := min(until.Sub(s.now()), rest(b[:n])); wait <= 0 || !s.more(s.File, wait) {
			break
		}
		var read int
		read, err = s.File.Read(b[n:])
		n += read
	}
	if n > 0 {
		return n, nil // the next read tells the error again
	}
	return n, err
}

// rest is how long the rest is waited for of what stands at the end; 0 is not at all. Answers are
// control strings (ECMA-48 5.6) that begin by ESC ] and a digit, or by ESC P and what no key sends
// behind that; they end by BEL or ST, which is ESC \ or one byte.
func rest(b []byte) time.Duration {
	last := bytes.LastIndexByte(b, '\x1b')
	if last < 0 {
		return 0
	}
	if last == len(b)-1 {
		if before := bytes.LastIndexByte(b[:last], '\x1b'); before >= 0 && opens(b[before:last]) {
			return answerTime // it begins the end
		}
		return escTime
	}
	switch s := b[last:]; {
	case len(s) == 2 && (s[1] == ']' || s[1] == 'P'):
		return escTime
	case opens(s):
		return answerTime
	}
	return 0
}

// opens reports whether a text that begins by ESC is the begin of an answer, without an end.
func opens(b []byte) bool {
	if len(b) < 3 {
		return false
	}
	digit := b[2] >= '0' && b[2] <= '9'
	if (b[1] != ']' || !digit) && (b[1] != 'P' || !digit && bytes.IndexByte([]byte("!>+$"), b[2]) < 0) {
		return false
	}
	for _, c := range b[2:] {
		if c < ' ' || c == 0x9c {
			return false
		}
	}
	return true
}

// comes waits until more can be read of a terminal.
func comes(f *os.File, wait time.Duration) bool {
	var set unix.FdSet
	fd := int(f.Fd())
	set.Set(fd)
	timeout := unix.NsecToTimeval(wait.Nanoseconds())
	for {
		n, err := unix.Select(fd+1, &set, nil, nil, &timeout)
		if !errors.Is(err, unix.EINTR) { // a signal, as of another size
			return err == nil && n > 0
		}
		set.Zero()
		set.Set(fd)
	}
}
