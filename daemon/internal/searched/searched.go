// Package searched says what a search vouches for: an address that it found, unless that repeats what the model searched
// for (decision 113). It is pure.
package searched

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// The words of a search are the model's, and an engine may answer with an address that is made of them: that of a search
// elsewhere, say. Whoever fetches it tells its host what the model wrote, so that it counts as the model's own (decision 113).

// What of a query may stand in an address that a search vouches for.
const (
	longestWord = 24 // characters of a word of some language
	mostDigits  = 4  // of a word: a year, a part of a version
	mostTurns   = 2  // of a word, from letters to digits or back: mp3, k8s
	mostInARow  = 3  // words of a query that stand in a path one behind the other, as titles do
	shortest    = 3  // bytes of a word that says something by itself
	within      = 4  // bytes of one that is looked for within others

	shortestEncoded = 6 // bytes of what may be such a one in base64
)

// Found is the action of an entry, if it is a search of one of the plugins that found an address.
func Found(plugins []string, entry sdk.Entry, address string) (sdk.Action, bool) {
	done, err := sdk.ActionOf(entry)
	if err != nil || done.State != sdk.StateResolved || cmp.Or(done.Declared, done.Tool) != sdk.SearchTool {
		return done, false
	}
	var results sdk.SearchResults
	return done, slices.Contains(plugins, done.Plugin) && json.Unmarshal(done.Structured, &results) == nil &&
		slices.ContainsFunc(results.Results, func(r sdk.SearchResult) bool { return r.Address == address })
}

// Repeats reports whether an address is made of what a search was for, as far as the person did not say that.
func Repeats(search sdk.Action, said, address string) bool {
	var arguments map[string]any
	if json.Unmarshal(search.ExactArguments(), &arguments) != nil {
		return true
	}
	for _, value := range arguments {
		if text, is := value.(string); is && searchedFor(text, said).in(address) {
			return true
		}
	}
	return false
}

// narrowing are the operators of engines by which a query says where to look, and not for what.
var narrowing = []string{"site", "filetype", "ext", "lang", "language", "loc", "before", "after"}

// searched is what a model searched for.
type searched struct {
	own    map[string]bool // its words that no prompt of the person has
	phrase []string        // what is looked for, word by word
}

// searchedFor reads a query. What stands in the prompts of the person is none of the model's.
func searchedFor(query, said string) searched {
	s := searched{own: map[string]bool{}}
	theirs := wordsOf(said)
	for field := range strings.FieldsSeq(query) {
		name, value, operates := strings.Cut(strings.ToLower(strings.TrimLeft(field, `-+("`)), ":")
		if operates = operates && value != "" && !strings.HasPrefix(value, "//") && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == ""; operates {
			field = value
		}
		words := wordsOf(field)
		for _, w := range words {
			if !slices.Contains(theirs, w) {
				s.own[w] = true
			}
		}
		if !operates || !slices.Contains(narrowing, name) {
			s.phrase = append(s.phrase, words...)
		}
	}
	return s
}

// in reports whether an address repeats what was searched for: a word that is none of a language, wherever it stands; a word of
// the model's in its query; in its path all that was searched for, or more of it in a row than a title has.
func (s searched) in(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return true
	}
	for _, whole := range unescaped(address) {
		if s.anyIn(whole, func(w string) bool { return !ordinary(w) }) {
			return true
		}
		if slices.ContainsFunc(encodedIn(whole), func(text string) bool { return s.anyIn(text, func(string) bool { return true }) }) {
			return true
		}
	}
	for _, query := range unescaped(u.RawQuery) {
		if s.anyIn(query, func(string) bool { return true }) {
			return true
		}
	}
	for _, path := range unescaped(u.EscapedPath()) {
		if s.runsThrough(wordsOf(path)) {
			return true
		}
	}
	return false
}

// anyIn reports whether one of the model's words stands in a text, a longer one also within another word or in parts.
func (s searched) anyIn(text string, counts func(word string) bool) bool {
	words := wordsOf(text)
	joined := strings.Join(words, "")
	for w := range s.own {
		if counts(w) && (len(w) >= shortest && slices.Contains(words, w) || len(w) >= within && strings.Contains(joined, w)) {
			return true
		}
	}
	return false
}

// runsThrough reports whether the words of a path have all that was searched for, one behind the other, or too much of it.
// Short words may be missing on either side.
func (s searched) runsThrough(path []string) bool {
	long := func(words []string) []string {
		return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return len(w) <= shortest })
	}
	for _, both := range [][2][]string{{path, s.phrase}, {long(path), long(s.phrase)}} {
		joined, phrase := strings.Join(both[0], ""), both[1]
		n := min(len(phrase), mostInARow+1)
		for i := 0; n > 0 && i+n <= len(phrase); i++ {
			if run := phrase[i : i+n]; slices.ContainsFunc(run, func(w string) bool { return s.own[w] }) && strings.Contains(joined, strings.Join(run, "")) {
				return true
			}
		}
	}
	return false
}

// ordinary reports whether a word may be one of a language, or a number of a few digits.
func ordinary(word string) bool {
	digits, turns, was := 0, 0, false
	for i, r := range word {
		is := unicode.IsDigit(r)
		if is {
			digits++
		}
		if i > 0 && is != was {
			turns++
		}
		was = is
	}
	return utf8.RuneCountInString(word) <= longestWord && digits <= mostDigits && turns <= mostTurns
}

// wordsOf are the words of a text, in lower case: runs of letters and digits.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// unescaped is a part of an address as it is, and with its escapes undone up to three times.
func unescaped(part string) []string {
	all := []string{part}
	for range 3 {
		text, err := url.PathUnescape(part)
		if err != nil || text == part {
			break
		}
		part = text
		all = append(all, part)
	}
	return all
}

// encodedIn are the texts that parts of an address are in hexadecimal or base64.
func encodedIn(address string) (texts []string) {
	for part := range strings.FieldsFuncSeq(address, func(r rune) bool { return strings.ContainsRune("/?&=.:;,#", r) }) {
		if len(part) < shortestEncoded {
			continue
		}
		for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
			if b, err := decode(part); err == nil && utf8.Valid(b) {
				texts = append(texts, string(b))
			}
		}
	}
	return texts
}
