package sdk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SearchTool is the name of the tool of a plugin that searches the web, whose structured result is
// SearchResults: an address in there is one that no model made.
const SearchTool = "web_search"

// PrefetchTool is the name of the unlisted tool of that plugin which the result of a search asks for, to fetch the
// first pages that were found. It reads none itself: each page is a call of its own.
const PrefetchTool = "web_prefetch"

// SearchResults is what a search of the web found, the best first.
type SearchResults struct {
	Engine  string         `json:"engine"` // that was asked
	Results []SearchResult `json:"results"`
}

// SearchResult is one page that a search found. All of it is somebody else's text.
type SearchResult struct {
	Title   string `json:"title"`
	Address string `json:"address"`
	Date    string `json:"date,omitempty"` // as the engine has it
	Excerpt string `json:"excerpt,omitempty"`
}

// AddressStands reports whether an address stands in a text byte for byte and as a whole: not as the
// beginning or the middle of a longer one. What people write behind an address is no part of it.
func AddressStands(text, address string) bool {
	if address == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], address)
		if i < 0 {
			return false
		}
		begin := from + i
		before, _ := utf8.DecodeLastRuneInString(text[:begin])
		if (begin == 0 || !ofAddress(before)) && endsHere(text[begin+len(address):]) {
			return true
		}
		from = begin + 1
	}
}

// endsHere reports whether an address is over where the rest of a text begins: at what is never part of one, such as the quote
// behind it in JSON, or at a mark of a sentence that something of that kind follows.
func endsHere(rest string) bool {
	rest = strings.TrimLeft(rest, `.,;:!?')]}*_`)
	next, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !ofAddress(next)
}

// ofAddress reports whether an address may go on with a rune. Brackets around it are none of it.
func ofAddress(r rune) bool {
	return !unicode.IsSpace(r) && !strings.ContainsRune("<>\"'`()[]{}|", r)
}
