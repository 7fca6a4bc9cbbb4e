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
