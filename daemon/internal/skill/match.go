package skill

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/sdk"
)

// Match is one document that fits a query.
type Match struct {
	Document *Document
	Score    float64  // BM25, and more for a name that was meant; comparable within one answer only
	Terms    []string // words of the query that were found, in its order
}

const (
	maxQuery = 16 << 10 // bytes of a query that are read: a prompt may be a whole file
	maxTerms = 64       // words of it that count, the rarest, which tell most

	weightName        = 4 // of a word that stands there
	weightTags        = 2
	weightDescription = 1 // and of when_to_use, which other agents read beside it

	// Of BM25, at their usual values: how soon more of a word counts no more, and how
	// much a long text is held against it.
	saturation = 1.2
	lengthBias = 0.75
)

// search finds documents by words. It never changes.
type search struct {
	documents []*Document      // by name
	names     []string         // of them, see plainName
	words     map[string]int32 // places in found
	found     [][]posting      // each by document
	tallies   sync.Pool        // of *tally: a query of ten thousand documents would make each of its size
}

// posting is one word in one document: what it adds to the document's score.
type posting struct {
	document int32
	score    float32
}

func newSearch(documents []*Document) *search {
	s := &search{documents: documents, names: make([]string, len(documents)), words: map[string]int32{}}
	s.tallies.New = func() any { return &tally{make([]float64, len(documents)), make([]uint64, len(documents))} }
	lengths, total := make([]float64, len(documents)), 0.0
	for i, d := range documents {
		if s.names[i] = d.Name; strings.Trim(d.Name, nameLetters) != "" {
			s.names[i] = plainName(d.Name)
		}
		add := func(text string, weight float32) {
			eachWord(text, func(word []byte) {
				s.count(singular(word), int32(i), weight)
				lengths[i] += float64(weight)
			})
		}
		add(d.Name, weightName)
		add(d.Description, weightDescription)
		for _, tag := range d.Tags {
			add(tag, weightTags)
		}
		if when, ok := d.Extensions["when_to_use"].(string); ok {
			add(when, weightDescription)
		}
		total += lengths[i]
	}
	n, average := float64(len(documents)), total/float64(max(len(documents), 1))
	for _, list := range s.found {
		df := float64(len(list))
		rarity := math.Log(1 + (n-df+0.5)/(df+0.5))
		for i, p := range list {
			tf := float64(p.score)
			list[i].score = float32(rarity * tf * (saturation + 1) / (tf + saturation*(1-lengthBias+lengthBias*lengths[p.document]/average)))
		}
	}
	return s
}

// count notes a word of the document that is being read.
func (s *search) count(word []byte, document int32, weight float32) {
	at, known := s.words[string(word)]
	if !known {
		at = int32(len(s.found))
		s.words[string(word)] = at
		s.found = append(s.found, nil)
	}
	if last := len(s.found[at]) - 1; last >= 0 && s.found[at][last].document == document {
		s.found[at][last].score += weight
	} else {
		s.found[at] = append(s.found[at], posting{document, weight})
	}
}

// term is a word of a query that some document has.
type term struct {
	word  string
	place int // in the query
	in    []posting
}

// terms are the rarest words of a query, in its order.
func (s *search) terms(query string) (terms []term) {
	asked := map[int32]bool{}
	var whole []byte // of a word that becomes its singular
	eachWord(start(query, maxQuery), func(word []byte) {
		whole = append(whole[:0], word...)
		if at, ok := s.words[string(singular(word))]; ok && !asked[at] {
			asked[at] = true
			terms = append(terms, term{string(whole), len(terms), s.found[at]})
		}
	})
	if len(terms) > maxTerms {
		slices.SortStableFunc(terms, func(a, b term) int { return len(a.in) - len(b.in) })
		terms = terms[:maxTerms]
		slices.SortFunc(terms, func(a, b term) int { return a.place - b.place })
	}
	return terms
}

// tally is of a query, by document.
type tally struct {
	scores []float64
	has    []uint64 // a bit for each of its terms
}

// tally adds up what each document scores, and promotes the names that a query names
// before all that merely has its words: first what equals it, then what begins with it
// or begins it. The caller gives the tally back to s.tallies.
func (s *search) tally(query string, terms []term) *tally {
	t := s.tallies.Get().(*tally)
	clear(t.scores)
	clear(t.has)
	step := 1.0 // above what any document scores
	for i, term := range terms {
		for _, p := range term.in {
			t.has[p.document] |= 1 << i
			score := t.scores[p.document] + float64(p.score)
			if t.scores[p.document] = score; score+1 > step {
				step = score + 1
			}
		}
	}
	query = plainName(start(query, 512))
	for i, name := range s.names {
		switch {
		case name == "" || query == "" || name[0] != query[0]:
		case name == query:
			t.scores[i] += 2 * step
		case len(query) > 1 && strings.HasPrefix(name, query), strings.HasPrefix(query, name) && query[len(name)] == '-':
			t.scores[i] += step
		}
	}
	return t
}

// best returns the places of the scores above 0, best first, at most limit of them;
// 0 is all. Of equals the first is better.
func best(scores []float64, limit int) []int {
	var places []int
	for i, score := range scores {
		if score <= 0 || limit > 0 && len(places) == limit && score <= scores[places[limit-1]] {
			continue
		}
		if places = append(places, i); limit > 0 {
			for at := len(places) - 1; at > 0 && scores[places[at]] > scores[places[at-1]]; at-- {
				places[at], places[at-1] = places[at-1], places[at]
			}
			places = places[:min(limit, len(places))]
		}
	}
	if limit == 0 {
		slices.SortFunc(places, func(x, y int) int { return cmp.Or(cmp.Compare(scores[y], scores[x]), x-y) })
	}
	return places
}

// Match returns the usable documents that fit a query, best first, at most limit of them; 0 is all. The name
// that was typed goes first, then names that begin with the query or that the query begins with, then what the
// words of name, description and tags say (BM25). Of equals the name decides, so that one catalogue gives one answer.
func (c *Catalogue) Match(query string, limit int) []Match {
	s := c.search()
	terms := s.terms(query)
	t := s.tally(query, terms)
	defer s.tallies.Put(t)
	places := best(t.scores, limit)
	matches := make([]Match, len(places))
	for i, at := range places {
		matches[i] = Match{Document: s.documents[at], Score: t.scores[at], Terms: make([]string, 0, bits.OnesCount64(t.has[at]))}
		for has := t.has[at]; has != 0; has &= has - 1 {
			matches[i].Terms = append(matches[i].Terms, terms[bits.TrailingZeros64(has)].word)
		}
	}
	return matches
}

// start is the beginning of a text, of at most n bytes.
func start(text string, n int) string { return strings.ToValidUTF8(text[:min(len(text), n)], "") }

// eachWord calls yield with the words of a text in lower case, each in a buffer
// that is gone then. An apostrophe is no part of a word and ends none. Scripts that put no
// space between words are taken by pairs of characters.
func eachWord(text string, yield func(word []byte)) {
	if !norm.NFKC.IsNormalString(text) {
		text = norm.NFKC.String(text)
	}
	word := make([]byte, 0, 64)
	last, pairs := 0, 0 // of a run without spaces: bytes of the character before, and pairs so far
	end := func() {
		if len(word) > 0 && (last == 0 || pairs == 0) {
			yield(word)
		}
		word, last, pairs = word[:0], 0, 0
	}
	for _, r := range text {
		switch {
		case unspaced(r):
			if last == 0 {
				end()
			}
			word = utf8.AppendRune(word, r)
			if last > 0 {
				yield(word)
				word = append(word[:0], word[last:]...)
				pairs++
			}
			last = utf8.RuneLen(r)
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r) && len(word) > 0:
			if last > 0 {
				end()
			}
			word = utf8.AppendRune(word, unicode.ToLower(r))
		case r != '\'' && r != '’':
			end()
		}
	}
	end()
}

// plainName is a name, or a query, as names are compared: its words in lower case
// with hyphens between them.
func plainName(text string) string {
	words := strings.FieldsFunc(strings.ToLower(norm.NFKC.String(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	return strings.Join(words, "-")
}

// unspaced reports whether a character is of a script that is written without
// spaces, or whose words take endings that no rule here knows.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

// singular cuts off what makes an English word the plural of another, in its
// buffer: review and reviews are one word, and so are query and queries.
func singular(w []byte) []byte {
	switch n := len(w); {
	case n > 4 && string(w[n-3:]) == "ies":
		w[n-3] = 'y'
		return w[:n-2]
	case n > 3 && w[n-1] == 's' && w[n-2] != 's':
		return w[:n-1]
	}
	return w
}

// Similar are at most three names, of all skills whatever their status, that may
// have been meant by one that is not there.
func (c *Catalogue) Similar(name string) []string {
	name = plainName(start(name, 200))
	far := map[string]int{}
	for _, d := range c.all {
		other := plainName(d.Name)
		edits := sdk.EditDistance(name, other)
		if len(name) > 2 && (strings.Contains(other, name) || strings.Contains(name, other)) {
			edits = min(edits, 1)
		}
		if edits <= max(1, len(name)/3) {
			far[d.Name] = edits
		}
	}
	names := slices.SortedFunc(maps.Keys(far), func(a, b string) int { return cmp.Or(far[a]-far[b], strings.Compare(a, b)) })
	return names[:min(len(names), 3)]
}
