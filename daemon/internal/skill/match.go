package skill

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Match is one document that fits a query.
type Match struct {
	Document *Document
	Score    float64  // BM25, and more for a name that was meant; comparable within one answer only
	Terms    []string // words of the query that were found, in its order
}

// Limits on what is read of a query: a prompt may be a whole file.
const (
	maxQuery = 16 << 10 // bytes from its begin
	maxTerms = 64       // the rarest, which tell most
)

// leastPrefix is how much of a name has to be typed to be taken for it.
const leastPrefix = 2

// search is the index of a catalogue.
type search struct {
	once  sync.Once
	index *index
}

func (c *Catalogue) searched() *index {
	c.search.once.Do(func() { c.search.index = newIndex(c.Usable()) })
	return c.search.index
}

// Match returns the usable documents that fit a query, best first, at most
// limit of them; 0 is all. The name that was typed goes first, then names that
// begin with the query or that the query begins with, then what the words of
// name, description and tags say (BM25). Of equals the name decides, so that
// one catalogue gives one answer.
func (c *Catalogue) Match(query string, limit int) []Match {
	x := c.searched()
	t := x.scratch.Get().(*tally)
	defer x.scratch.Put(t)
	defer t.clear()
	asked := x.weighAgainst(query, t)
	best := t.best(limit)
	matches := make([]Match, len(best))
	for i, document := range best {
		m := Match{Document: x.documents[document], Score: t.scores[document]}
		for j, a := range asked {
			if t.found[document]&(1<<j) != 0 && !slices.Contains(m.Terms, a.word) {
				m.Terms = append(m.Terms, a.word)
			}
		}
		matches[i] = m
	}
	return matches
}

// rank returns the places of all documents that fit a query, best first.
func (x *index) rank(query string) []int32 {
	t := x.scratch.Get().(*tally)
	defer x.scratch.Put(t)
	defer t.clear()
	x.weighAgainst(query, t)
	return slices.Clone(t.best(0))
}

// weighAgainst adds up what each document scores, and returns the terms it looked for.
func (x *index) weighAgainst(query string, t *tally) []askedTerm {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	asked := x.asked(query)
	for i, a := range asked {
		for _, p := range x.postings[a.list] {
			t.add(p.document, float64(p.impact), 1<<i)
		}
	}
	x.promote(query, t)
	return asked
}

// askedTerm is a term of the query that some document has.
type askedTerm struct {
	list int32 // in index.postings
	word string
}

// asked returns the terms of a query that are in the index, in its order.
func (x *index) asked(query string) []askedTerm {
	var terms []askedTerm
	seen := map[int32]bool{}
	var split splitter
	split.each(query, func(term, word []byte) {
		if list, ok := x.terms[string(term)]; ok && !seen[list] {
			seen[list] = true
			terms = append(terms, askedTerm{list, string(word)})
		}
	})
	if len(terms) <= maxTerms {
		return terms
	}
	byRarity := slices.Clone(terms)
	slices.SortStableFunc(byRarity, func(a, b askedTerm) int { return len(x.postings[a.list]) - len(x.postings[b.list]) })
	rare := map[int32]bool{}
	for _, a := range byRarity[:maxTerms] {
		rare[a.list] = true
	}
	return slices.DeleteFunc(terms, func(a askedTerm) bool { return !rare[a.list] })
}

// promote puts the names that a query names before all that merely has its
// words: first what equals it, then what begins with it or begins it.
func (x *index) promote(query string, t *tally) {
	const longest = 512 // bytes of a query that may be a name
	plain := plainName(strings.ToValidUTF8(query[:min(len(query), longest)], ""))
	if plain == "" {
		return
	}
	step := t.highest() + 1
	for at := x.firstNamed(plain); at < len(x.names) && strings.HasPrefix(x.names[at].plain, plain); at++ {
		switch n := x.names[at]; {
		case n.plain == plain:
			t.add(n.document, 2*step, 0)
		case utf8.RuneCountInString(plain) >= leastPrefix:
			t.add(n.document, step, 0)
		}
	}
	for end := strings.LastIndexByte(plain, '-'); end > 0; end = strings.LastIndexByte(plain[:end], '-') {
		for at := x.firstNamed(plain[:end]); at < len(x.names) && x.names[at].plain == plain[:end]; at++ {
			t.add(x.names[at].document, step, 0)
		}
	}
}

func (x *index) firstNamed(plain string) int {
	at, _ := slices.BinarySearchFunc(x.names, plain, func(n indexedName, plain string) int { return strings.Compare(n.plain, plain) })
	return at
}

// tally adds up what one query finds.
type tally struct {
	scores  []float64 // by document
	found   []uint64  // by document, a bit for each term
	touched []int32
}

func (t *tally) add(document int32, score float64, bit uint64) {
	if t.scores[document] == 0 {
		t.touched = append(t.touched, document)
	}
	t.scores[document] += score
	t.found[document] |= bit
}

func (t *tally) highest() float64 {
	most := 0.0
	for _, d := range t.touched {
		most = max(most, t.scores[d])
	}
	return most
}

func (t *tally) clear() {
	for _, d := range t.touched {
		t.scores[d], t.found[d] = 0, 0
	}
	t.touched = t.touched[:0]
}

// best returns the documents that were found in their order; their places are
// in the order of their names. Where few of many are wanted, it keeps a heap of
// the best so far, its worst on top.
func (t *tally) best(limit int) []int32 {
	order := func(a, b int32) int {
		if c := cmp.Compare(t.scores[b], t.scores[a]); c != 0 {
			return c
		}
		return int(a - b)
	}
	best := t.touched
	if limit > 0 && limit < len(best) {
		heap := best[:limit]
		for i := limit/2 - 1; i >= 0; i-- {
			sink(heap, i, order)
		}
		for i := limit; i < len(best); i++ {
			if order(best[i], heap[0]) < 0 {
				heap[0], best[i] = best[i], heap[0] // all stay in touched
				sink(heap, 0, order)
			}
		}
		best = heap
	}
	slices.SortFunc(best, order)
	return best
}

// sink restores a heap whose item i may be better than those below it.
func sink(heap []int32, i int, order func(a, b int32) int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if order(heap[child], heap[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		heap[i], heap[worst] = heap[worst], heap[i]
		i = worst
	}
}
