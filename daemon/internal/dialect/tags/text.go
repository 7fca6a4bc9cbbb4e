package tags

import "strings"

// text is an answer as far as it has come. Whatever looks at its bytes does so by these methods, so that what would need
// bytes that have not come yet is known for that, and what was looked at is counted.
type text struct {
	s     string
	whole bool // nothing comes any more
	short bool // bytes were asked for that have not come
	steps int  // bytes that were looked at

	absent [256]int // for each byte 1 and the place from which on there is none of it
}

// ends reports whether nothing stands at i.
func (t *text) ends(i int) bool {
	if i < len(t.s) {
		return false
	}
	t.short = t.short || !t.whole
	return true
}

// at is the byte at i, and 0 behind the end.
func (t *text) at(i int) byte {
	t.steps++
	if t.ends(i) {
		return 0
	}
	return t.s[i]
}

// has reports whether a word stands at i.
func (t *text) has(i int, word string) bool {
	t.steps += len(word)
	rest := t.s[min(i, len(t.s)):]
	if len(rest) >= len(word) {
		return rest[:len(word)] == word
	}
	if strings.HasPrefix(word, rest) {
		t.ends(len(t.s))
	}
	return false
}

// find is the place of the next c from i on; -1 when there is none.
func (t *text) find(c byte, i int) int {
	if t.absent[c] > 0 && i >= t.absent[c]-1 {
		t.ends(len(t.s))
		return -1
	}
	if i < len(t.s) {
		if n := strings.IndexByte(t.s[i:], c); n >= 0 {
			t.steps += n + 1
			return i + n
		}
		t.steps += len(t.s) - i
	}
	if t.whole {
		t.absent[c] = i + 1
	}
	t.ends(len(t.s))
	return -1
}

// findWord is find for a word, which is looked for anew each time.
func (t *text) findWord(word string, i int) int {
	if i <= len(t.s) {
		if n := strings.Index(t.s[i:], word); n >= 0 {
			t.steps += n + len(word)
			return i + n
		}
		t.steps += len(t.s) - i
	}
	t.ends(len(t.s))
	return -1
}

// spaces is the first place from i on that is no white space.
func (t *text) spaces(i int) int {
	for i < len(t.s) && space(t.s[i]) {
		t.steps++
		i++
	}
	t.ends(i)
	return i
}

// name is the end of the name at i, of a tool or an argument.
func (t *text) name(i int) int {
	from := i
	for i < len(t.s) && named(t.s[i]) && i-from <= longestName {
		t.steps++
		i++
	}
	t.ends(i)
	return i
}

// longestName is more than any tool's name has.
const longestName = 64

func space(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'
}

func named(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// blank reports whether a text has only white space.
func blank(s string) bool {
	for i := range len(s) {
		if !space(s[i]) {
			return false
		}
	}
	return true
}
