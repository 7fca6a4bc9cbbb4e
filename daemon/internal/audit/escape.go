package audit

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// beginsEscape reports whether a byte may begin the escaped form of another.
func beginsEscape(b byte) bool { return b == '\\' || b == '%' || b == '&' }

// char is a byte of a text, and where it stands in the text as it was written:
// an escape stands for its byte with all its length.
type char struct {
	b          byte
	start, end int
}

// longestEscape is the longest that is read: \U0010ffff.
const longestEscape = 10

// escapes undoes one level of escapes: those with a backslash of JSON, Go, C and
// shells, %XX of URLs, and entities of HTML. What only looks like one stays as
// it is. It reads byte by byte and so takes texts in any pieces.
type escapes struct {
	pending []char // an escape that has begun
	high    rune   // the first half of a pair of UTF-16, which stands in before
	before  char
}

func (e *escapes) idle() bool { return len(e.pending) == 0 && e.high == 0 }

// since is where what is pending begins. Only one that is not idle has it.
func (e *escapes) since() int {
	if e.high != 0 {
		return e.before.start
	}
	return e.pending[0].start
}

// read takes the next byte and passes on what is clear by then.
func (e *escapes) read(c char, emit func(char)) {
	if len(e.pending) == 0 {
		if !beginsEscape(c.b) {
			e.single(emit)
			emit(c)
			return
		}
		e.pending = append(e.pending, c)
		return
	}
	e.pending = append(e.pending, c)
	text, done := e.decode()
	switch {
	case !done && len(e.pending) < longestEscape:
	case done && text != nil:
		e.write(text, emit)
	default:
		e.giveUp(emit)
	}
}

// decode looks at what is pending: done says that it is clear, nil that it is no
// escape after all.
func (e *escapes) decode() (text []byte, done bool) {
	var raw [longestEscape]byte
	s := raw[:0]
	for _, c := range e.pending {
		s = append(s, c.b)
	}
	switch s[0] {
	case '%':
		return hexByte(s[1:], 2)
	case '&':
		return entity(string(s))
	}
	switch c := s[1]; c {
	case 'x':
		return hexByte(s[2:], 2)
	case 'u':
		return hexRune(s[2:], 4)
	case 'U':
		return hexRune(s[2:], 8)
	case '0', '1', '2', '3':
		return octal(s[1:])
	case '\n':
		return []byte{}, true // a line that goes on
	default:
		if i := strings.IndexByte("abtnvfr", c); i >= 0 {
			return []byte{byte('\a' + i)}, true
		}
		return []byte{c}, true
	}
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}

func digits(s []byte, size int) (n uint64, whole, wrong bool) {
	for _, b := range s {
		if !isHex(b) {
			return 0, false, true
		}
	}
	if len(s) < size {
		return 0, false, false
	}
	n, err := strconv.ParseUint(string(s), 16, 32)
	return n, true, err != nil
}

func hexByte(s []byte, size int) ([]byte, bool) {
	n, whole, wrong := digits(s, size)
	switch {
	case wrong:
		return nil, true
	case !whole:
		return nil, false
	}
	return []byte{byte(n)}, true
}

func hexRune(s []byte, size int) ([]byte, bool) {
	n, whole, wrong := digits(s, size)
	switch {
	case wrong || n > utf8.MaxRune:
		return nil, true
	case !whole:
		return nil, false
	case utf16.IsSurrogate(rune(n)):
		return []byte{0xff, byte(n >> 8), byte(n)}, true // for write: no text has 0xff
	}
	return utf8.AppendRune(nil, rune(n)), true
}

func octal(s []byte) ([]byte, bool) {
	n := 0
	for _, b := range s {
		if b < '0' || b > '7' {
			return nil, true
		}
		n = n*8 + int(b-'0')
	}
	if len(s) < 3 {
		return nil, false
	}
	return []byte{byte(n)}, true
}

var entities = map[string]string{"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": `"`, "&apos;": "'"}

func entity(s string) ([]byte, bool) {
	last := s[len(s)-1]
	if last != ';' {
		letter := 'a' <= last && last <= 'z' || '0' <= last && last <= '9' || 'A' <= last && last <= 'F' || last == 'X' || last == '#' && len(s) == 2
		return nil, !letter
	}
	if text, ok := entities[s]; ok {
		return []byte(text), true
	}
	if !strings.HasPrefix(s, "&#") {
		return nil, true
	}
	digits, base := s[2:len(s)-1], 10
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 21)
	if err != nil || n > utf8.MaxRune {
		return nil, true
	}
	return utf8.AppendRune(nil, rune(n)), true
}

// write passes on what the pending escape stands for, and puts halves of a pair
// together.
func (e *escapes) write(text []byte, emit func(char)) {
	at := char{start: e.pending[0].start, end: e.pending[len(e.pending)-1].end}
	e.pending = e.pending[:0]
	if len(text) == 3 && text[0] == 0xff {
		half := rune(text[1])<<8 | rune(text[2])
		if whole := utf16.DecodeRune(e.high, half); e.high != 0 && whole != utf8.RuneError {
			at.start, e.high = e.before.start, 0
			all(utf8.AppendRune(nil, whole), at, emit)
			return
		}
		e.single(emit)
		e.high, e.before = half, at
		return
	}
	e.single(emit)
	all(text, at, emit)
}

// single passes on half a pair that stands alone.
func (e *escapes) single(emit func(char)) {
	if e.high == 0 {
		return
	}
	e.high = 0
	all([]byte("\uFFFD"), e.before, emit)
}

func all(text []byte, at char, emit func(char)) {
	for _, b := range text {
		at.b = b
		emit(at)
	}
}

// giveUp passes on what is pending as it is. Only its first byte cannot begin an
// escape any more.
func (e *escapes) giveUp(emit func(char)) {
	e.single(emit)
	var again [longestEscape]char
	n := copy(again[:], e.pending)
	e.pending = e.pending[:0]
	emit(again[0])
	for _, c := range again[1:n] {
		e.read(c, emit)
	}
}

// end passes on what is pending when nothing follows.
func (e *escapes) end(emit func(char)) {
	for len(e.pending) > 0 {
		e.giveUp(emit)
	}
	e.single(emit)
}

// unescaped is a text with one level of escapes undone.
func unescaped(text string) string {
	var e escapes
	var out []byte
	emit := func(c char) { out = append(out, c.b) }
	for i := range len(text) {
		e.read(char{text[i], i, i + 1}, emit)
	}
	e.end(emit)
	return string(out)
}
