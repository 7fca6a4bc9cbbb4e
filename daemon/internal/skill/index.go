package skill

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// How much a word counts by where it stands.
const (
	weightName        = 4
	weightTags        = 2
	weightDescription = 1 // and of when_to_use, which other agents read beside it
)

// The constants of BM25, at their usual values: how soon more of a word counts
// no more, and how much a long text is held against it.
const (
	saturation = 1.2
	lengthBias = 0.75
)

// index finds documents by terms. It never changes.
type index struct {
	documents []*Document      // by name
	terms     map[string]int32 // by stem, the place in postings
	postings  [][]posting      // each by document
	names     []indexedName    // by plain name
	scratch   sync.Pool        // of *tally
}

// posting is one term in one document: what it adds to the document's score.
type posting struct {
	document int32
	impact   float32
}

type indexedName struct {
	plain    string // see plainName
	document int32
}

func newIndex(documents []*Document) *index {
	x := &index{documents: documents, terms: map[string]int32{}}
	x.scratch.New = func() any {
		return &tally{scores: make([]float64, len(documents)), found: make([]uint64, len(documents))}
	}
	var split splitter
	lengths := make([]float64, len(documents))
	total := 0.0
	for i, d := range documents {
		add := func(text string, weight float32) {
			split.each(text, func(term, _ []byte) {
				x.count(term, int32(i), weight)
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
		x.names = append(x.names, indexedName{plainName(d.Name), int32(i)})
	}
	x.weigh(lengths, total/float64(max(len(documents), 1)))
	slices.SortFunc(x.names, func(a, b indexedName) int {
		if c := strings.Compare(a.plain, b.plain); c != 0 {
			return c
		}
		return int(a.document - b.document)
	})
	return x
}

// count notes a term of the document that is being read.
func (x *index) count(term []byte, document int32, weight float32) {
	at, known := x.terms[string(term)]
	if !known {
		at = int32(len(x.postings))
		x.terms[string(term)] = at
		x.postings = append(x.postings, nil)
	}
	list := x.postings[at]
	if n := len(list); n > 0 && list[n-1].document == document {
		list[n-1].impact += weight
		return
	}
	x.postings[at] = append(list, posting{document, weight})
}

// weigh turns counts into what they add to a score.
func (x *index) weigh(lengths []float64, average float64) {
	n := float64(len(x.documents))
	for _, list := range x.postings {
		df := float64(len(list))
		rarity := math.Log(1 + (n-df+0.5)/(df+0.5))
		for i := range list {
			p := &list[i]
			tf := float64(p.impact)
			p.impact = float32(rarity * tf * (saturation + 1) / (tf + saturation*(1-lengthBias+lengthBias*lengths[p.document]/average)))
		}
	}
}

// plainName is a name, or a query, as names are compared: its words in lower
// case with hyphens between them.
func plainName(text string) string {
	var b strings.Builder
	apart := false
	for _, r := range norm.NFKC.String(text) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			apart = b.Len() > 0
			continue
		}
		if apart {
			b.WriteByte('-')
			apart = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
