package edit

import "strings"

// A marker is `<<IDENT`, which opens a region that a bare IDENT closes. Of the same
// kind is `<<:::PATH`, which the packet shows entries in: closed by `:::PATH`, it is
// no edit, and nothing in it is a marker.
const (
	opens  = "<<"
	packet = ":::"
)

// identAt is the word of the marker that may open at an offset, and the offset behind
// it; an empty word where none does. What stands before it is not looked at.
func identAt(text string, at int) (ident string, end int) {
	if !strings.HasPrefix(text[at:], opens) {
		return "", at
	}
	from := at + len(opens)
	end = wordEnd(text, from)
	return text[from:end], end
}

// wordEnd is the offset behind the word of a marker that begins at from, which is from
// where there is none.
func wordEnd(text string, from int) int {
	if strings.HasPrefix(text[from:], packet) {
		end := from + len(packet)
		for end < len(text) && !isSpace(text[end]) && text[end] != '<' && text[end] != '>' {
			end++
		}
		if end > from+len(packet) {
			return end
		}
		return from
	}
	if from == len(text) || text[from] < 'A' || text[from] > 'Z' {
		return from
	}
	end := from
	for end < len(text) && isWord(text[end]) {
		end++
	}
	return end
}

// Opening is what a marker in the body of a `set` opens.
type Opening int

// What a marker may open.
const (
	Nothing   Opening = iota // it is none
	Operation                // a region of the edit; if nothing closes it the edit is refused
	Shown                    // what the packet shows of an entry: text, with all that is in it
	Document                 // text, as a script has here-documents
)

// Opens says what opens at an offset of a body, and where to go on when that is nothing or
// stands alone. A marker opens at the begin, behind white space or a tag, and where the
// last region ends, which is last, or the begin of the body. A word that no keyword begins
// is that of an operation where no text stands before it, which is up to text.
func Opens(body string, at, last, text int) (o Opening, end int) {
	ident, end := identAt(body, at)
	_, named := keywordOf(ident)
	switch {
	case ident == "":
		return Nothing, at + 1
	case at != last && !mayOpen(body, at):
		return Nothing, end
	case strings.HasPrefix(ident, packet):
		return Shown, end
	case named || at == text:
		return Operation, end
	default:
		return Document, end
	}
}

// mayOpen reports whether a marker at an offset is one by what stands before it.
func mayOpen(text string, at int) bool {
	return at == 0 || isSpace(text[at-1]) || text[at-1] == '>'
}

// mayClose reports whether a word that ends at an offset closes a region by what
// stands behind it: white space, the next marker, or a tag that ends.
func mayClose(text string, end int) bool {
	return end == len(text) || isSpace(text[end]) || goesOn(text, end)
}

// goesOn reports whether the next marker or a tag's end stands at an offset.
func goesOn(text string, at int) bool {
	if strings.HasPrefix(text[at:], "</") {
		return true
	}
	ident, _ := identAt(text, at)
	return ident != ""
}

func isSpace(b byte) bool {
	return b == ' ' || b == '\t' || b == '\n' || b == '\r' || b == '\f' || b == '\v'
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}
